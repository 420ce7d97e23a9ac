// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events'
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { judgeHolder } from '../../src/kubelet/port-holder.ts'
import { ProcPortHolders } from '../../src/kubelet/read-port-holder.ts'
import type { PortHolder } from '../../src/ports/probes.ts'

const NOBODY = 65534
const socket = (address: string, uid: number, inode = `${address} of ${uid}`, port = 10248) => ({ address, port, uid, inode })

t.test('who holds a port', (t) => {
  const [own, stranger, anyOwn, anyStranger] = [
    socket('127.0.0.1', 0),
    socket('127.0.0.1', NOBODY),
    socket('0.0.0.0', 0),
    socket('0.0.0.0', NOBODY),
  ]
  const [both, bothStranger] = [socket('::', 0), socket('::', NOBODY)]
  const cases: [sockets: ReturnType<typeof socket>[], holder: Partial<PortHolder>, host?: string][] = [
    [[], { kind: 'unseen' }],
    [[socket('127.0.0.1', 0, '1', 10249), socket('10.0.0.1', 0)], { kind: 'unseen' }],
    [[own], { kind: 'own', inodes: [own.inode] }],
    [[stranger], { kind: 'stranger', uid: NOBODY, inodes: [stranger.inode] }],
    [[anyOwn], { kind: 'own' }],
    [[anyStranger], { kind: 'stranger' }],
    [[both], { kind: 'own' }],
    [[bothStranger], { kind: 'stranger' }],
    [[own, bothStranger], { kind: 'own' }],
    [[stranger, both], { kind: 'stranger' }],
    [[anyOwn, bothStranger], { kind: 'own' }],
    [[own, socket('127.0.0.1', NOBODY, 'other')], { kind: 'stranger' }],
    [[socket('127.0.0.1', 1000)], { kind: 'own' }],
    [[socket('::1', 0)], { kind: 'own' }, '::1'],
    [[socket('::1', NOBODY)], { kind: 'stranger' }, '0:0:0:0:0:0:0:1'],
    [[anyOwn], { kind: 'unseen' }, '::1'],
    [[both], { kind: 'own' }, 'fd00::5'],
    [[own], { kind: 'own' }, '::ffff:127.0.0.1'],
    [[own], { kind: 'untold' }, 'localhost'],
    [[own], { kind: 'own' }, '0.0.0.0'],
    [[both, socket('127.0.0.2', NOBODY)], { kind: 'own' }, '0.0.0.0'],
    [[socket('127.0.0.2', NOBODY)], { kind: 'stranger', uid: NOBODY }, '0.0.0.0'],
    [[socket('127.0.0.2', NOBODY)], { kind: 'stranger' }, '::'],
    [[socket('127.0.0.2', 0)], { kind: 'unseen' }, '0.0.0.0'],
    [[socket('127.0.0.2', NOBODY)], { kind: 'unseen' }],
    [[own], { kind: 'untold' }, 'fe80::1%eth0'],
  ]
  for (const [sockets, holder, host = '127.0.0.1'] of cases)
    t.match(judgeHolder(sockets, { host, port: 10248 }, [1000, 1000]) ?? { kind: 'unseen' }, holder, `${host}: ${JSON.stringify(sockets)}`)
  t.match(judgeHolder([stranger], { host: '127.0.0.1', port: 10248 }, undefined), { kind: 'untold' }, 'it may be that of kubelet')
  t.match(judgeHolder([own], { host: '127.0.0.1', port: 10248 }, undefined), { kind: 'own' })
  t.end()
})

t.test('this process holds its own port', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const holders = new ProcPortHolders()
  for (const host of ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1'])
    t.match(holders.holderOf({ host, port }, process.pid), { kind: 'own', inodes: [/^\d+$/] }, host)
  server.close()
  await once(server, 'close')
  t.match(holders.holderOf({ host: '127.0.0.1', port }, process.pid), { kind: 'unseen' })
  t.match(holders.holderOf({ host: '127.0.0.1', port }, 2 ** 30), { kind: 'unseen', detail: 'kubelet has ended' })
})

t.test('a port that is bound, and at which nobody listens', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.2')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const holders = new ProcPortHolders()
  const ask = (host: string, port: number) => holders.keeperOf({ host, port }, process.pid)
  t.match(await ask('127.0.0.2', port), { kind: 'own' }, 'whoever listens by now is named')
  t.match(await ask('127.0.0.1', port), { kind: 'unseen' }, 'another address')
  t.match(await ask('0.0.0.0', port), { kind: 'unseen' }, 'that of root keeps it')
  // As with a program that only binds: the kernel gives the connection a port of its own.
  const client = connect({ host: '127.0.0.2', port }).on('error', () => {})
  await once(client, 'connect')
  const kept = client.localPort ?? 0
  for (const host of ['127.0.0.1', '0.0.0.0', '::', '::ffff:127.0.0.1'])
    t.match(await ask(host, kept), { kind: 'stranger', uid: undefined }, host)
  t.match(await ask('127.0.0.2', kept), { kind: 'unseen' })
  for (const host of ['localhost', '192.0.2.1', '127.0.0.1%lo']) t.match(await ask(host, kept), { kind: 'unseen' }, host)
  for (const pid of [undefined, 2 ** 30])
    t.match(await holders.keeperOf({ host: '127.0.0.1', port: kept }, pid), { kind: 'stranger' }, 'it keeps the next kubelet from it')
  const cut = new ProcPortHolders('/proc', 0)
  t.match(await cut.keeperOf({ host: '127.0.0.1', port: kept }), { kind: 'stranger', uid: undefined }, 'however many sockets listen')
  client.resetAndDestroy()
  server.close()
  await once(server, 'close')
  t.match(await ask('127.0.0.1', kept), { kind: 'unseen' })
})

t.test('a look at who keeps a port takes it from nobody', async () => {
  const host = '127.0.0.1'
  const free = createServer().listen(0, host)
  await once(free, 'listening')
  const { port } = free.address() as AddressInfo
  free.close()
  await once(free, 'close')
  const holders = new ProcPortHolders()
  for (let turn = 0; turn < 200; turn += 1) {
    const looks = [1, 2, 3].map(() => holders.keeperOf({ host, port }, process.pid))
    // As kubelet does: both set SO_REUSEADDR.
    const server = createServer().listen({ host, port, exclusive: true })
    await once(server, 'listening')
    await Promise.all(looks)
    server.close()
    await once(server, 'close')
  }
})

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
const row = (state: string, uid: number, port: number) =>
  `   0: 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000 ${uid} 0 4242 1 0\n`

/** A /proc with a kubelet 7 in the network namespace of the agent, or in another. */
function plant(t: Test, tcp: string, { status = 'Uid:\t1000\t1000\t1000\t1000\n', isOther = false } = {}): string {
  const root = t.testdir()
  for (const each of ['self', '7']) mkdirSync(join(root, each, 'net'), { recursive: true })
  writeFileSync(join(root, '7/net/tcp'), tcp)
  if (isOther) writeFileSync(join(root, 'self/net/tcp'), tcp)
  else linkSync(join(root, '7/net/tcp'), join(root, 'self/net/tcp'))
  writeFileSync(join(root, '7/status'), status)
  return root
}

t.test('what the kernel does not tell is untold', (t) => {
  const target = { host: '127.0.0.1', port: 10248 }
  const strangers = HEAD + row('0A', NOBODY, 10248)
  const find = (tcp: string, of = {}, mostBytes?: number) => new ProcPortHolders(plant(t, tcp, of), mostBytes).holderOf(target, 7)
  t.match(find(strangers), { kind: 'stranger', uid: NOBODY }, 'a machine without IPv6')
  t.match(find(HEAD + row('0A', 1000, 10248)), { kind: 'own' }, "kubelet's own account")
  t.match(find(strangers, { isOther: true }), { kind: 'untold', detail: 'kubelet has a network namespace of its own' })
  t.match(find(strangers, { status: '' }), { kind: 'untold' })
  t.match(find(HEAD), { kind: 'unseen' })
  const many = HEAD + row('0A', 0, 1).repeat(2000)
  t.match(find(many + row('0A', NOBODY, 10248)), { kind: 'stranger' })
  const tooMany = { kind: 'untold', detail: 'too many sockets listen on this machine' }
  t.match(find(many + row('0A', 0, 10248), {}, 100_000), tooMany, 'sockets elsewhere do not make health unknown')
  t.match(find(row('0A', 0, 1).repeat(30_000)), tooMany, 'and cost only so much')
  t.match(find(row('0A', NOBODY, 10248) + many, {}, 100_000), { kind: 'stranger' }, 'what was read counts')
  const connected = HEAD + row('0A', 0, 10248) + row('01', 0, 2).repeat(200_000)
  t.match(find(connected, {}, 100_000), { kind: 'own' }, 'those that are connected are not read')
  const root = plant(t, HEAD)
  rmSync(join(root, '7/net/tcp'))
  t.match(new ProcPortHolders(root).holderOf(target, 7), { kind: 'untold', detail: /ENOENT/ })
  writeFileSync(join(root, '7/status'), 'State:\tZ (zombie)\n')
  t.match(new ProcPortHolders(root).holderOf(target, 7), { kind: 'unseen', detail: 'kubelet has ended' })
  t.end()
})
