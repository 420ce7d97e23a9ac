// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { LastingFaults } from '../../src/checkpoint/lasting-faults.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { NodeDisk } from '../../src/checkpoint/node-disk.ts'
import { FileRequests, RequestWriter } from '../../src/checkpoint/requests.ts'
import { FakeDisk } from './fake/fake-disk.ts'
import { silentLog } from './silent-log.ts'

const NONE = { hold: 'none', rollback: undefined, retry: false }
const layout = layoutOf('/dynamic')

function open(disk = new FakeDisk(() => 0)) {
  const files = new DurableFiles(disk)
  const log = silentLog()
  const clock = { monotonicUs: 0 }
  const faults = new LastingFaults({ now: () => ({ ...clock, wallMs: 0, bootId: 'boot' }) }, log)
  return { disk, log, clock, asks: new RequestWriter(files, layout), requests: new FileRequests({ files, layout, log, faults }) }
}

t.test('the agent reads the requests of the command line', (t) => {
  const { disk, asks, requests } = open()
  t.same(requests.read(), NONE)
  asks.clearHold()
  asks.requestHold('paused')
  t.same(requests.read(), { ...NONE, hold: 'paused' })
  asks.requestHold('local', true)
  t.same(requests.read(), { ...NONE, hold: 'local', force: true })
  asks.requestHold('paused', true)
  t.same(requests.read(), { ...NONE, hold: 'paused' }, 'nothing but a reset is forced')
  asks.requestHold('local')
  asks.requestRetry()
  asks.requestRollback('hash')
  asks.requestPromote('other')
  const all = { hold: 'local', rollback: { content: 'hash' }, retry: true, promote: { content: 'other' } }
  t.same(requests.read(), all)
  t.same(open(disk).requests.read(), all, 'so does an agent that starts later')
  asks.clearHold()
  requests.done('promote')
  requests.done('rollback')
  requests.done('retry')
  t.same(requests.read(), NONE)
  t.end()
})

t.test('a retry cancels a rollback that the agent has not read', (t) => {
  const { asks, requests } = open()
  asks.requestRollback('hash')
  asks.requestRetry()
  t.same(requests.read(), { ...NONE, retry: true })
  asks.requestRollback('hash')
  t.same(requests.read(), { ...NONE, retry: true, rollback: { content: 'hash' } }, 'and one that follows it is carried out after it')
  t.end()
})

t.test('done removes only the request that was read', (t) => {
  const { asks, requests } = open()
  asks.requestRollback('one')
  requests.read()
  asks.requestRollback('two')
  requests.done('rollback')
  t.same(requests.read().rollback, { content: 'two' })
  requests.done('rollback')
  t.equal(requests.read().rollback, undefined)
  t.end()
})

t.test('garbage is logged once; as a hold it counts as a pause, and otherwise it is ignored', (t) => {
  const garbage = [
    '',
    'garbage',
    'null',
    '[]',
    '"paused"',
    '{"hold":"everything"}',
    '{"hold":null,"content":3,"retry":true}',
    'x'.repeat(5000),
  ]
  for (const text of garbage) {
    const { disk, log, asks, requests } = open()
    for (const name of ['hold', 'rollback', 'retry', 'promote', 'unheard-of']) disk.plant(`/dynamic/requests/${name}`, text)
    t.same(requests.read(), { ...NONE, hold: 'paused' }, text.slice(0, 40))
    t.same(requests.read(), { ...NONE, hold: 'paused' })
    t.equal(log.said.length, 4)
    asks.clearHold()
    t.same(requests.read(), NONE)
  }
  t.end()
})

t.test('a directory, a link or a pipe is not a request, and is not read', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'requests-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  const made = spawnSync('sh', ['-c', 'mkdir -p requests/rollback && mkfifo requests/hold && ln -s /dev/zero requests/retry'], {
    cwd: root,
  })
  t.equal(made.status, 0)
  const log = silentLog()
  const faults = new LastingFaults({ now: () => ({ monotonicUs: 0, wallMs: 0, bootId: 'boot' }) }, log)
  const requests = new FileRequests({ files: new DurableFiles(new NodeDisk()), layout: layoutOf(root), log, faults })
  t.same(requests.read(), { ...NONE, hold: 'paused' })
  t.equal(log.said.length, 3)
  t.end()
})

t.test('if `requests` is a file, there are no requests', (t) => {
  const { disk, log, requests } = open()
  disk.plant('/dynamic/requests', '')
  t.same(requests.read(), NONE)
  t.same(requests.read(), NONE)
  t.equal(log.said.length, 4)
  t.end()
})

t.test('a hold that exists counts as a pause while it cannot be read, and as what it was once it has been read', (t) => {
  const { disk, asks } = open()
  asks.requestHold('local')
  const early = open(disk)
  early.requests.read()
  disk.readFaultOf = (_path, kind) => (kind === 'read' ? 'EIO' : undefined)
  const late = open(disk)
  t.equal(early.requests.read().hold, 'local')
  t.equal(late.requests.read().hold, 'paused')
  t.match(late.log.said, [/cannot read .*hold.*counts as paused.*kubelet-cfg-agent resume$/])
  disk.readFaultOf = undefined
  t.equal(late.requests.read().hold, 'local')
  t.end()
})

t.test('while it is not known whether there is a hold, nothing is, unless that lasts', (t) => {
  for (const code of ['EIO', 'EUCLEAN', 'EBADMSG', 'EACCES'] as const) {
    const disk = new FakeDisk(() => 0)
    const { asks, requests, clock, log } = open(disk)
    asks.requestHold('paused')
    disk.readFaultOf = () => code
    t.throws(() => requests.read(), { name: 'FileError', code })
    clock.monotonicUs += 31e6
    t.equal(requests.read().hold, 'none')
    t.match(log.said.join('\n'), /^whether this node is paused is not known; it counts as not paused: /m)
    disk.readFaultOf = undefined
    t.equal(requests.read().hold, 'paused')
  }
  t.end()
})

t.test('on a full disk a request fails with an error, and one that was carried out is still removed', (t) => {
  const { disk, asks, requests } = open()
  asks.requestRetry()
  disk.full = true
  t.throws(() => asks.requestHold('paused'), { name: 'FileError', code: 'ENOSPC', message: /free up space/ })
  t.ok(requests.read().retry)
  requests.done('retry')
  t.notOk(requests.read().retry)
  t.end()
})

t.test('a hold whose removal could not be made durable is gone for good once the command succeeds', (t) => {
  const { disk, asks, requests } = open()
  asks.requestHold('paused')
  disk.faultOf = ({ kind }) => (kind === 'fsync' ? 'EIO' : undefined)
  t.throws(() => asks.clearHold(), { name: 'FileError', code: 'EIO' })
  t.throws(() => open(disk).asks.clearHold(), { name: 'FileError', code: 'EIO' }, 'each command is another process')
  disk.faultOf = undefined
  open(disk).asks.clearHold()
  disk.powerLoss(() => 0)
  t.same(requests.read(), NONE)
  t.end()
})
