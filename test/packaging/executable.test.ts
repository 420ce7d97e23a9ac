// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import t from 'tap'
import { platformOf } from '../../scripts/package/executable.ts'

/** The first bytes of the programs in Node.js 22. */
const HEADS = {
  'linux/amd64': '7f454c4602010103000000000000000002003e00',
  'linux/arm64': '7f454c460201010300000000000000000200b700',
  'darwin/amd64': 'cffaedfe07000001030000000200000014000000',
  'darwin/arm64': 'cffaedfe0c000001000000000200000014000000',
}

t.test('tells for which platform a program is', async (t) => {
  for (const [platform, head] of Object.entries(HEADS)) t.equal(platformOf(Buffer.from(head, 'hex')), platform)
  const own = readFileSync(process.execPath).subarray(0, 20)
  t.equal(platformOf(own), `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`)
})

t.test('does not guess', async (t) => {
  const unknown = ['', '7f45', '7f454c4601010100000000000000000002000300', '7f454c460202010000000000000000000200003e']
  for (const head of [...unknown, 'cafebabe00000002010000070000000300004000', 'cffaedfe0700000003000000020000001800000a'])
    t.equal(platformOf(Buffer.from(head, 'hex')), undefined, head)
  t.equal(platformOf(Buffer.from('#!/bin/sh\nexec node "$@"\n')), undefined)
})
