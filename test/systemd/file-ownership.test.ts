// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { SystemFileOwnership } from '../../src/systemd/file-ownership.ts'

const OWNER = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }

/** A host with SELinux, and a chcon that is a shell script. */
function world(t: Test, script: string) {
  const directory = t.testdir({ enforce: '1', file: '' })
  const chcon = join(directory, 'chcon')
  writeFileSync(chcon, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { ownership: new SystemFileOwnership(chcon, directory), file: join(directory, 'file'), chcon, directory }
}

t.test('a context that cannot be copied is an error that says why', async (t) => {
  const { ownership, file } = world(t, 'echo "chcon: failed to change context" >&2; exit 1')
  t.throws(() => ownership.give(file, OWNER, '/like'), {
    code: 'selinux-context',
    message: `cannot copy the SELinux context of /like to ${file}: chcon: failed to change context`,
  })
})

t.test('a chcon that does not exist', async (t) => {
  const { directory, file } = world(t, '')
  t.throws(() => new SystemFileOwnership('/no/chcon', directory).give(file, OWNER, '/like'), {
    code: 'selinux-context',
    message: /cannot start \/no\/chcon: ENOENT$/,
  })
})
