// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import t from 'tap'
import { adoptKubeletStore, findKubeletStore, openAdoption } from '../../src/checkpoint/adopt.ts'
import { FileCheckpoints } from '../../src/checkpoint/checkpoints.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { FileRecords } from '../../src/checkpoint/records.ts'
import { serializeSource } from '../../src/checkpoint/serialize.ts'
import type { UnitState } from '../../src/subject/unit-state.ts'
import { MemoryRecords } from '../agent/memory-runtime.ts'
import { unit } from '../report/build.ts'
import { crashEverywhere, ROOT } from './crash.ts'
import { FakeDisk, type FakeFault, type FakeStep } from './fake/fake-disk.ts'
import { faultsOver } from './faults.ts'
import { silentLog } from './silent-log.ts'

const layout = layoutOf(ROOT)
const ASSIGNED = { namespace: 'kube-system', name: 'n', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '213' }
const GOOD = { ...ASSIGNED, resourceVersion: '212' }

function plantStore(disk: FakeDisk): void {
  disk.plant(`${ROOT}/store/meta/assigned`, serializeSource(ASSIGNED))
  disk.plant(`${ROOT}/store/meta/last-known-good`, serializeSource(GOOD))
  disk.plant(`${ROOT}/store/checkpoints/u/212/kubelet`, 'good')
  disk.plant(`${ROOT}/store/checkpoints/u/213/kubelet`, 'new')
  disk.plant(`${ROOT}/store/checkpoints/u/213/other`, 'more')
  disk.plant(`${ROOT}/store/checkpoints/u/tmp_213482/kubelet`, 'unfinished')
}

function open(disk = new FakeDisk(() => 0), files = new DurableFiles(disk)) {
  const checkpoints = new FileCheckpoints(files, layout, () => undefined, faultsOver())
  const records = new FileRecords({
    files,
    layout,
    log: silentLog(),
    onSetAside: () => undefined,
    faults: faultsOver(),
    run: new MemoryRecords(),
  })
  return { disk, files, checkpoints, records, adopt: () => adoptKubeletStore(files, checkpoints, layout) }
}

t.test('nothing to adopt', (t) => {
  const { disk, files, adopt } = open()
  t.equal(findKubeletStore(files, layout), undefined)
  t.same(adopt(), { checkpoints: 0, remarks: [] })
  disk.plant(`${ROOT}/store`, 'a file of that name')
  t.throws(adopt, { code: 'ENOTDIR' })
  t.end()
})

t.test("kubelet's records and checkpoints become the agent's, and kubelet's store is renamed", (t) => {
  const { disk, files, checkpoints, records, adopt } = open()
  plantStore(disk)
  t.equal(findKubeletStore(files, layout), `${ROOT}/store`)
  t.same(adopt(), { checkpoints: 2, remarks: [] })
  t.same(records.read('assigned'), { kind: 'source', source: ASSIGNED })
  t.same(records.read('last-known-good'), { kind: 'source', source: GOOD })
  t.same(checkpoints.data('u', '213'), { kubelet: 'new', other: 'more' })
  t.equal(checkpoints.list().length, 2)
  t.equal(findKubeletStore(files, layout), undefined)
  t.equal(files.read(`${ROOT}/store.adopted-1/checkpoints/u/tmp_213482/kubelet`)?.toString(), 'unfinished')
  t.same(adopt(), { checkpoints: 0, remarks: [] })
  t.end()
})

t.test('an agent that first ran without --adopt, and so opened its records, adopts as one that did not', (t) => {
  const { disk, records, adopt } = open()
  plantStore(disk)
  for (const name of ['assigned', 'last-known-good'] as const) records.put(name, 'local')
  t.same(adopt(), { checkpoints: 2, remarks: [] })
  t.same(records.read('assigned'), { kind: 'source', source: ASSIGNED })
  t.same(records.read('last-known-good'), { kind: 'source', source: GOOD })
  t.end()
})

t.test("an empty record of kubelet's own means local, and is marked", (t) => {
  const { disk, records, adopt } = open()
  plantStore(disk)
  disk.plant(`${ROOT}/store/meta/last-known-good`, '')
  adopt()
  t.same(records.read('last-known-good'), { kind: 'source', source: 'local' })
  t.same(records.read('assigned'), { kind: 'source', source: ASSIGNED })
  disk.plant(`${ROOT}/meta/assigned`, '')
  t.match(records.read('assigned'), { unconfirmed: true })
  t.end()
})

t.test('an empty record beside one of its own is no leftover: it means local', (t) => {
  const { disk, records, adopt } = open()
  plantStore(disk)
  const own = { ...ASSIGNED, name: 'own' }
  records.put('assigned', own)
  records.put('last-known-good', 'local')
  t.match(adopt(), { remarks: [/already has a record/, /already has a record/] })
  t.same(records.read('assigned'), { kind: 'source', source: own })
  t.same(records.read('last-known-good'), { kind: 'source', source: 'local' })
  t.end()
})

t.test("does not overwrite the agent's own files", (t) => {
  const { disk, checkpoints, records, adopt } = open()
  plantStore(disk)
  const own = { ...ASSIGNED, name: 'own' }
  records.put('assigned', own)
  checkpoints.save('u', '213', { kubelet: 'ours' })
  t.match(adopt(), { remarks: [/^the agent already has a record assigned/] })
  t.same(records.read('assigned'), { kind: 'source', source: own })
  t.same(checkpoints.data('u', '213'), { kubelet: 'ours' })
  t.same(records.read('last-known-good'), { kind: 'source', source: GOOD })
  t.end()
})

t.test('a damaged assigned stays damaged and never becomes local; unknown files are not adopted', (t) => {
  const { disk, checkpoints, records, adopt } = open()
  plantStore(disk)
  disk.plant(`${ROOT}/store/meta/assigned`, 'garbage')
  disk.plant(`${ROOT}/store/checkpoints/stray`, '')
  disk.plant(`${ROOT}/store/checkpoints/u/stray`, '')
  disk.plant(`${ROOT}/store/checkpoints/a b/1/kubelet`, '')
  disk.plant(`${ROOT}/store/checkpoints/u/214/deep/er`, '')
  t.match(adopt(), {
    checkpoints: 2,
    remarks: [/a b\/1 is not a checkpoint/, /u\/214 is not a checkpoint/, /u\/stray is not a checkpoint/],
  })
  t.equal(records.read('assigned').kind, 'damaged')
  t.equal(checkpoints.list().length, 2)
  t.end()
})

t.test('after a crash at any point, adoption starts again', (t) => {
  const crashes = crashEverywhere({
    prepare: (_files, disk) => plantStore(disk),
    act: (files) => void open(undefined, files).adopt(),
    check: (files, where) => {
      const { records, checkpoints, adopt } = open(undefined, files)
      adopt()
      assert.deepEqual(records.read('assigned'), { kind: 'source', source: ASSIGNED }, where)
      assert.deepEqual(records.read('last-known-good'), { kind: 'source', source: GOOD }, where)
      assert.deepEqual(checkpoints.data('u', '212'), { kubelet: 'good' }, where)
      assert.deepEqual(checkpoints.data('u', '213'), { kubelet: 'new', other: 'more' }, where)
    },
  })
  t.ok(crashes > 100)
  t.end()
})

/** A clock that stands still until it is set. */
function stopClock() {
  const at = { us: 5e6 }
  return { at, clock: { now: () => ({ bootId: 'b1', monotonicUs: at.us, wallMs: 0 }) } }
}

t.test('a store that cannot be taken over is tried again less and less often, as each try is a new life', async (t) => {
  for (const [uptime, wait] of [
    [0, 60e6],
    [600e6, 600e6],
    [86_400e6, 3600e6],
  ] as const) {
    const { disk, files, checkpoints } = open()
    plantStore(disk)
    const { at, clock } = stopClock()
    disk.faultOf = () => 'EROFS'
    const stores = { files, layout, checkpoints, unit: { observe: async () => unit() } }
    const options = { adopt: true, stores, clock, uptimeUs: () => uptime, log: silentLog() }
    const adoption = await openAdoption(options)
    at.us += wait - 1
    t.equal(adoption.findOccasion(unit()), undefined)
    at.us += 1
    t.match(adoption.findOccasion(unit()), /^trying again to take over/)
  }
})

t.test('a store that cannot be taken over keeps no agent from starting, and is tried again', async (t) => {
  for (const [what, faultOf] of [
    ['nothing can be written', (): FakeFault => 'EROFS'],
    ['the disk is full before the last record', ({ path }: FakeStep) => (/meta\/.*assigned/.test(path) ? 'ENOSPC' : undefined)],
  ] as const) {
    const { disk, files, checkpoints, records, adopt } = open()
    plantStore(disk)
    const { at, clock } = stopClock()
    const log = silentLog()
    const stores = { files, layout, checkpoints, unit: { observe: async () => unit() } }
    disk.faultOf = faultOf
    const adoption = await openAdoption({ adopt: true, stores, clock, uptimeUs: () => 0, log })
    disk.faultOf = undefined
    t.match(log.said, [/^cannot take over .*store; trying again later/], what)
    t.equal(adoption.findOccasion(unit()), undefined, 'not with each pass')
    at.us += 60e6
    t.match(adoption.findOccasion(unit()), /^trying again to take over/, what)
    t.equal(adoption.findOccasion({ kind: 'unknown', detail: '' }), undefined, 'kubelet may use it by now')
    for (const name of ['last-known-good', 'assigned'] as const) records.put(name, 'local')
    t.match(adoption.findOccasion(unit()), /^trying again to take over/, 'an empty record is no config')
    disk.readFaultOf = () => 'EIO'
    t.equal(adoption.findOccasion(unit()), undefined, 'a disk that cannot be read')
    disk.readFaultOf = undefined
    records.put('assigned', { ...ASSIGNED, name: 'own' })
    t.equal(adoption.findOccasion(unit()), undefined, 'the agent has a config of its own')
    records.put('assigned', 'local')
    adopt()
    t.equal(adoption.findOccasion(unit()), undefined, 'there is no store any more')
  }
})

t.test('kubelet keeps a store that it uses, or may use', async (t) => {
  const flagged = { kind: 'broken', reason: 'dynamic-config-dir', detail: 'remove the flag' } as const
  const units: readonly (readonly [what: string, unit: UnitState, obstacle: string | undefined])[] = [
    ['unknown', { kind: 'unknown', detail: 'no answer' }, 'is not known: no answer'],
    ['with the flag', unit({ wiring: flagged }), 'remove the flag'],
    ['a process that is not known', unit({ process: { kind: 'unknown', detail: 'it starts' } }), 'is not known: it starts'],
    ['without the flag', unit(), undefined],
    ['wired otherwise', unit({ wiring: { ...flagged, reason: 'drop-in-missing' } }), undefined],
  ]
  for (const [what, seen, obstacle] of units) {
    const { disk, files, checkpoints } = open()
    plantStore(disk)
    const log = silentLog()
    const { clock } = stopClock()
    const stores = { files, layout, checkpoints, unit: { observe: async () => seen } }
    const adoption = await openAdoption({ adopt: true, stores, clock, uptimeUs: () => 0, log })
    t.equal(findKubeletStore(files, layout) !== undefined, obstacle !== undefined, what)
    t.match(log.said.join(), obstacle ?? /^$/, what)
    for (const [, later, stillThen] of units) {
      const isDue = obstacle !== undefined && stillThen === undefined
      t.match(adoption.findOccasion(later) ?? '', isDue ? /^kubelet no longer uses/ : /^$/, what)
    }
  }
})
