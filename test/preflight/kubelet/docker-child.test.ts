import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runCommand } from '../../../src/process/run-command.ts'

const CHILD = join(import.meta.dirname, '../../../src/preflight/kubelet/docker-child.ts')
const OPTIONS = { timeoutMs: 60_000, maxOutputBytes: 1 << 20 }

/** A kubelet that asks the Docker of its last argument, prints the answers, and exits. */
const KUBELET = `#!${process.execPath}
const docker = process.argv.at(-1).replace('--docker=tcp:', 'http:')
const answers = await Promise.all(['/_ping', '/v1.24/info', '/v1.24/version'].map(async (path) => (await fetch(docker + path)).json()))
process.stdout.write(JSON.stringify({ given: process.argv.slice(2, -1), answers }))
process.stderr.write('F1121 the end')
process.exitCode = 255
`

const run = async (t: Test, text: string) => {
  const kubelet = join(t.testdir(), 'kubelet.mjs')
  writeFileSync(kubelet, text)
  chmodSync(kubelet, 0o755)
  return runCommand(process.execPath, [...process.execArgv, CHILD, kubelet, '--config=/c'], OPTIONS)
}

t.test('answers as Docker does where its files are, and passes on what kubelet says', async (t) => {
  const { end, stdout, stderr } = await run(t, KUBELET)
  t.same(end, { kind: 'exited', code: 255 })
  t.match(JSON.parse(stdout), { given: ['--config=/c'], answers: [{}, { DockerRootDir: '/var/lib/docker' }, { Version: /^\d/ }] })
  t.match(stderr, /F1121 the end/)
})

t.test('says so when kubelet does not end by itself', async (t) => {
  const { end, stderr } = await run(t, '#!/bin/sh\nkill -KILL $$\n')
  t.same(end, { kind: 'exited', code: 1 })
  t.match(stderr, /kubelet: killed by SIGKILL/)
})
