// SPDX-License-Identifier: Apache-2.0
import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { findRuntimeDoubt } from '../../src/agent/config-files.ts'
import { openRuntime } from '../../src/compose/node.ts'
import { lookAtSocket } from '../../src/directory/owned-files.ts'
import { BootClock } from '../../src/systemd/boot-clock.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { unit } from '../decision/snapshots.ts'
import { answerWith, FakeRuntime } from '../runtime/fake-runtime.ts'
import { READY_STATUS } from '../runtime/wire.ts'
import { defaults } from '../settings/settled-settings.ts'
import { until } from '../until.ts'

const directory = mkdtempSync(join(tmpdir(), 'cri-'))
t.teardown(() => rmSync(directory, { recursive: true, force: true }))

function open(waitMs: number) {
  const log = silentLog()
  let changes = 0
  const onChange = () => {
    changes++
  }
  const settings = { ...defaults, toleranceUs: waitMs * 4000 }
  return { ...openRuntime(settings, { clock: new BootClock(), log, onChange }), log, changes: () => changes }
}

t.test('whether the container runtime answers, over its socket', async (t) => {
  const fake = new FakeRuntime(join(directory, 'up'), (stream, path) => {
    answerWith(stream, path.endsWith('/Status') ? READY_STATUS : Buffer.alloc(0))
  })
  await fake.listen()
  const { runtimeProbe, runtime, changes } = open(2000)
  await until(async () => (await runtimeProbe.isUp(fake.socket)) === true, 'it answers')
  t.equal(changes(), 1)
  t.match(await runtime.listPods(fake.socket), { ok: true, value: { sandboxes: [], containers: [] } })
  await until(() => fake.sessions.size === 0, 'no connection is left open')
  await fake.close()
})

t.test('a socket that is not there', async (t) => {
  const { runtimeProbe, log } = open(2000)
  t.equal(await runtimeProbe.isUp(join(directory, 'none')), false)
  await until(() => log.said.length > 0, 'it is logged')
  t.same(log.said, ['the container runtime does not answer'])
})

t.test('a runtime that accepts connections and never answers does not hold a pass', async (t) => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})))
  const path = join(directory, 'hangs')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const { runtimeProbe } = open(50)
  t.equal(await runtimeProbe.isUp(path), false)
  t.equal(await runtimeProbe.isUp(path), false)
  await until(() => sockets.size > 0, 'it was asked')
  for (const socket of sockets) socket.destroy()
  await new Promise<void>((resolve) => server.close(() => resolve()))
})

t.test('a socket that others than root may have put there says nothing of the runtime', async (t) => {
  const place = join(directory, 'shared')
  mkdirSync(place)
  const fake = new FakeRuntime(join(place, 'socket'), (stream, path) => {
    answerWith(stream, path.endsWith('/Status') ? READY_STATUS : Buffer.alloc(0))
  })
  await fake.listen()
  t.teardown(() => fake.close())
  const { runtime } = open(2000)
  const probe = () => runtime.probe(fake.socket)
  t.match(await probe(), { ok: true })
  chmodSync(place, 0o777)
  t.match(await probe(), { ok: false, why: 'not-trusted', detail: /everybody may write to .*shared$/ })
  chmodSync(place, 0o1777)
  t.match(await probe(), { ok: true }, 'nobody else can replace it there')
  const findDoubt = (socket: string) =>
    findRuntimeDoubt(
      { configFacts: { of: async () => ({ healthz: 'none', runtimeEndpoint: `unix://${socket}` }) }, checkpoints, defaultRuntimeSocket },
      unit({ runtimeEndpoint: undefined }),
      lookAtSocket,
    )
  const [checkpoints, defaultRuntimeSocket] = [{ path: () => '' }, () => undefined]
  chmodSync(fake.socket, 0o600)
  t.equal(await findDoubt(fake.socket), undefined)
  chmodSync(fake.socket, 0o666)
  t.match(await findDoubt(fake.socket), /^everybody may write to .*shared\/socket: each account can act as root/)
  t.match(await probe(), { ok: true }, 'root itself answers there')
  chmodSync(fake.socket, 0o600)
  t.equal(await findDoubt(join(directory, 'none')), undefined)
  t.match(
    await findDoubt(join(place, 'none')),
    /shared\/none is not asked .*, since it is not there, and everybody may write to .*shared:/,
    'anybody can put one there',
  )
  t.equal(await findDoubt('/run/dockershim.sock'), undefined)
  const link = join(directory, 'link')
  symlinkSync('shared/socket', link)
  t.match(await runtime.probe(link), { ok: true })
  if (process.getuid?.() !== 0) return
  lchownSync(link, 65534, 65534)
  t.match(await runtime.probe(link), { ok: false, why: 'not-trusted', detail: /link belongs to uid 65534$/ }, 'they can turn it')
  chownSync(fake.socket, 65534, 65534)
  t.match(await probe(), { ok: false, why: 'not-trusted', detail: /socket belongs to uid 65534$/ })
  t.match(await findDoubt(fake.socket), /shared\/socket is not asked about the container runtime, since .*socket belongs to uid 65534/)
  chownSync(fake.socket, 0, 998)
  chmodSync(fake.socket, 0o660)
  t.match(await findDoubt(fake.socket), /^group 998 may write to .*shared\/socket: its members can act as root/)
  t.match(await probe(), { ok: true }, 'whom root lets do that is trusted')
  chownSync(fake.socket, 0, 0)
  t.equal(await findDoubt(fake.socket), undefined)
  chownSync(place, 65534, 65534)
  t.match(await probe(), { ok: false, why: 'not-trusted', detail: /shared belongs to uid 65534$/ })
})
