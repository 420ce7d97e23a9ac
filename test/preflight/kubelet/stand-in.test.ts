// SPDX-License-Identifier: Apache-2.0
import { chmodSync, existsSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { WAITS_FOR_RUNTIME } from '../../../src/preflight/kubelet/judgement.ts'
import { runCommand } from '../../../src/process/run-command.ts'
import { decodeStatus } from '../../../src/runtime/cri-messages.ts'
import { GrpcChannel } from '../../../src/runtime/grpc-channel.ts'
import { message } from '../../runtime/wire.ts'
import { until } from '../../until.ts'

const CHILD = join(import.meta.dirname, '../../../src/preflight/kubelet/stand-in.ts')
const OPTIONS = { timeoutMs: 60_000, maxOutputBytes: 1 << 20 }

const OTHER_NETWORK = 'net:[1]'

/** A kubelet that asks the Docker of its last argument, prints the answers, and exits. */
const ASKS_DOCKER = `#!${process.execPath}
const docker = process.argv.at(-1).replace('--docker=tcp:', 'http:')
const answers = await Promise.all(['/_ping', '/v1.24/info', '/v1.24/version'].map(async (path) => (await fetch(docker + path)).json()))
process.stdout.write(JSON.stringify({ given: process.argv.slice(2, -1), answers }))
process.stderr.write('F1121 the end')
process.exitCode = 255
`

const run = async (t: Test, text: string, ...mode: string[]) => {
  const kubelet = join(t.testdir(), 'kubelet.mjs')
  writeFileSync(kubelet, text)
  chmodSync(kubelet, 0o755)
  return runCommand(process.execPath, [...process.execArgv, CHILD, ...mode, kubelet, '--config=/c'], OPTIONS)
}

/** Short: the path of a Unix socket has at most 107 bytes. */
function socketPath(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'stand-in-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 's')
}

t.test('answers as Docker does where its files are, and passes on what kubelet says', async (t) => {
  const { end, stdout, stderr } = await run(t, ASKS_DOCKER, 'docker')
  t.same(end, { kind: 'exited', code: 255 })
  t.match(JSON.parse(stdout), { given: ['--config=/c'], answers: [{}, { DockerRootDir: '/var/lib/docker' }, { Version: /^\d/ }] })
  t.match(stderr, /F1121 the end/)
})

t.test('answers as a container runtime that is not ready, and ends a kubelet that only waits for it', async (t) => {
  const socket = socketPath(t)
  const ran = run(t, '#!/bin/sh\necho "started $1"\nexec sleep 600\n', 'runtime', socket, OTHER_NETWORK)
  await until(() => existsSync(socket), 'the stand-in listens')
  const channel = new GrpcChannel(socket)
  t.teardown(() => channel.close())
  const call = (method: string) => channel.call(`/runtime.v1.${method}`)
  t.same(await call('RuntimeService/Version'), {
    kind: 'ok',
    message: message({ 1: '0.1.0', 2: 'none', 3: '0.0.0', 4: 'v1' }),
  })
  t.match(await call('ImageService/ImageFsInfo'), { kind: 'ok' })
  t.match(await call('RuntimeService/ListPodSandbox'), { kind: 'status', code: 12 })
  const status = await call('RuntimeService/Status')
  t.same(status.kind === 'ok' && decodeStatus(status.message), { runtimeReady: false })
  t.match(await call('RuntimeService/Status'), { kind: 'ok' })
  const { end, stdout, stderr } = await ran
  t.same(end, { kind: 'exited', code: 1 })
  t.equal(stdout, 'started --config=/c\n')
  t.match(stderr, new RegExp(`^${WAITS_FOR_RUNTIME}$`, 'm'))
})

t.test('says nothing of its own when kubelet ends by itself', async (t) => {
  const { end, stderr } = await run(t, '#!/bin/sh\necho "E1121 why" >&2\nexit 3\n', 'runtime', socketPath(t), OTHER_NETWORK)
  t.same(end, { kind: 'exited', code: 3 })
  t.equal(stderr, 'E1121 why\n')
})

t.test('ends as kubelet does when something else kills that', async (t) => {
  const { end, stderr } = await run(t, '#!/bin/sh\nkill -KILL $$\n', 'runtime', socketPath(t), OTHER_NETWORK)
  t.same(end, { kind: 'signalled', signal: 'SIGKILL' })
  t.match(stderr, /kubelet: killed by SIGKILL/)
})

t.test('starts no kubelet in the network of the node', async (t) => {
  const { end, stdout } = await run(t, '#!/bin/sh\necho started\n', 'runtime', socketPath(t), readlinkSync('/proc/self/ns/net'))
  t.same(end, { kind: 'exited', code: 225 })
  t.equal(stdout, '')
})
