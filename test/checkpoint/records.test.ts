// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { ReadOnlyDisk } from '../../src/checkpoint/disk.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { FileRecords } from '../../src/checkpoint/records.ts'
import { serializeSource } from '../../src/checkpoint/serialize.ts'
import type { SetAside } from '../../src/checkpoint/set-aside.ts'
import type { SourceName } from '../../src/decision/records.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import type { ConfigMapSource, ConfigSource } from '../../src/subject/config-source.ts'
import { MemoryRecords } from '../agent/memory-runtime.ts'
import { crashEverywhere, ROOT } from './crash.ts'
import { FakeDisk } from './fake/fake-disk.ts'
import { faultsOver } from './faults.ts'
import { silentLog } from './silent-log.ts'

const NAMES: SourceName[] = ['assigned', 'last-known-good', 'previous']
const META = `${ROOT}/meta`

function source(resourceVersion: string): ConfigMapSource {
  return { namespace: 'kube-system', name: 'n', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion }
}

function verdict(key: string, state: Verdict['state'] = 'provisional'): Verdict {
  return { key, state, reason: 'crash-loop', detail: 'exit 255', source: source('1'), atWallMs: 5 }
}

function open(disk = new FakeDisk(() => 0), faults = faultsOver()) {
  const files = new DurableFiles(disk)
  const aside: SetAside[] = []
  const log = silentLog()
  const records = new FileRecords({
    files,
    layout: layoutOf(ROOT),
    log,
    onSetAside: (what) => aside.push(what),
    faults,
    run: new MemoryRecords(),
  })
  return { disk, files, aside, log, records }
}

function stepsOf(disk: FakeDisk, action: () => void): number {
  let steps = 0
  disk.onStep = () => {
    steps += 1
  }
  action()
  disk.onStep = undefined
  return steps
}

t.test('in a new directory everything is local and nothing is known', (t) => {
  const { records } = open()
  for (const name of NAMES) t.same(records.read(name), { kind: 'source', source: 'local', absent: true })
  t.equal(records.get('proven')?.key, undefined)
  t.equal(records.verdicts().size, 0)
  t.end()
})

t.test("records have kubelet's bytes, and are written only on change", (t) => {
  const { disk, files, records } = open()
  for (const name of NAMES) {
    records.put(name, source('212'))
    t.equal(files.read(`${META}/${name}`)?.toString(), serializeSource(source('212')))
    t.match(files.stat(`${META}/${name}`), { mode: 0o600 })
    t.same(records.read(name), { kind: 'source', source: source('212') })
    t.equal(
      stepsOf(disk, () => records.put(name, source('212'))),
      0,
    )
    records.put(name, 'local')
    t.equal(files.read(`${META}/${name}`)?.length, 0)
    t.same(records.read(name), { kind: 'source', source: 'local' })
  }
  t.equal(records.get('left'), undefined)
  const left = { sources: [source('212'), source('211')], localConfig: 'hash' }
  records.put('left', left)
  t.same(open(disk).records.get('left'), left)
  records.put('left', { sources: [] })
  t.same(open(disk).records.get('left'), { sources: [] })
  records.put('proven', { key: 'key' })
  t.equal(
    stepsOf(disk, () => records.put('proven', { key: 'key' })),
    0,
  )
  t.equal(open(disk).records.get('proven')?.key, 'key')
  const boots = { content: 'content', boots: [{ bootId: 'boot-1', atWallMs: 1 }] }
  t.equal(records.get('trial-boots'), undefined)
  records.put('trial-boots', boots)
  t.same(open(disk).records.get('trial-boots'), boots)
  records.put('trial-boots', undefined)
  t.equal(open(disk).records.get('trial-boots'), undefined)
  t.equal(files.stat(`${META}/boots`), undefined)
  const baseline = { candidate: 'content@kubelet', invocationId: 'i', sinceUs: 1, answered: ['node'], ready: 'True' } as const
  t.equal(records.get('kept-baseline'), undefined)
  records.put('kept-baseline', { bootId: 'boot-1', baseline })
  t.same(open(disk).records.get('kept-baseline'), { bootId: 'boot-1', baseline })
  disk.plant(`${META}/baseline`, JSON.stringify({ bootId: 'boot-1', baseline: { ...baseline, addedLater: 1 }, addedLater: {} }))
  t.match(open(disk).records.get('kept-baseline'), { bootId: 'boot-1', baseline }, 'of a newer agent')
  records.put('kept-baseline', undefined)
  t.equal(files.stat(`${META}/baseline`), undefined)
  const heard = { channel: 'label', paused: { on: 'Node', by: 'a person' }, problem: undefined } as const
  t.equal(records.get('channel-state'), undefined)
  records.put('channel-state', heard)
  t.equal(
    stepsOf(disk, () => records.put('channel-state', heard)),
    0,
  )
  t.match(open(disk).records.get('channel-state'), { channel: 'label', paused: { on: 'Node', by: 'a person' } })
  const merged = { layers: ['/etc/kubelet.yaml', 'ConfigMap ns/a:k'], fields: [{ path: ['maxPods'], layer: 'ConfigMap ns/a:k' }] }
  records.put('channel-state', { ...heard, ...merged })
  t.match(open(disk).records.get('channel-state'), { channel: 'label', ...merged })
  records.put('channel-state', { channel: undefined, paused: undefined, problem: undefined })
  t.same(open(disk).records.get('channel-state'), {}, 'an empty state is a state, too')
  t.end()
})

t.test('unsafe names are never written', (t) => {
  const { records } = open()
  t.throws(() => records.put('assigned', { ...source('1'), uid: '../../x' }), { name: 'RecordError', code: 'unsafe-name' })
  t.throws(() => records.put('assigned', { ...source('1'), name: 'x\n    uid: y' }), { code: 'unsafe-name' })
  t.end()
})

t.test('a damaged assigned is set aside and stays unknown across restarts until it is written again', (t) => {
  for (const garbage of ['garbage', '\0\0\0\0', serializeSource(source('212')).slice(0, -20)]) {
    const { disk, files, aside, records } = open()
    disk.plant(`${META}/assigned`, garbage)
    t.match(records.read('assigned'), { kind: 'damaged', detail: /meta\/assigned/ })
    t.match(aside, [{ path: `${META}/assigned`, to: `${META}/assigned.damaged-1` }])
    t.equal(files.read(`${META}/assigned.damaged-1`)?.toString(), garbage)
    t.match(records.read('assigned'), { kind: 'damaged' })
    const restarted = open(disk)
    t.match(restarted.records.read('assigned'), { kind: 'damaged', detail: /assigned\.damaged-1/ })
    t.same(restarted.aside, [])
    restarted.records.put('assigned', 'local')
    t.same(open(disk).records.read('assigned'), { kind: 'source', source: 'local' })
  }
  t.end()
})

t.test('a damaged last-known-good or previous is set aside, is logged, and stays damaged until it is written again', (t) => {
  for (const name of ['last-known-good', 'previous'] as const) {
    const { disk, aside, log, records } = open()
    disk.plant(`${META}/${name}`, 'garbage')
    t.match(records.read(name), { kind: 'damaged', detail: /not a SerializedNodeConfigSource/ })
    t.match(aside, [{ to: `${META}/${name}.damaged-1` }])
    t.match(log.said, [/is lost and is unknown/])
    t.same(records.read('assigned'), { kind: 'source', source: 'local', absent: true }, 'assigned is not affected')
    for (const each of [records, open(disk).records]) t.match(each.read(name), { kind: 'damaged', detail: /damaged-1/ })
    records.put(name, source('1'))
    t.same(open(disk).records.read(name), { kind: 'source', source: source('1') })
  }
  t.end()
})

t.test('a source with a field that is not known stays in place, and is damaged until it is written again', (t) => {
  for (const name of NAMES) {
    const { disk, files, aside, log, records } = open()
    const newer = `${serializeSource(source('1'))}    variant: arm64\n`
    disk.plant(`${META}/${name}`, newer)
    for (const each of [records, records, open(disk).records])
      t.match(each.read(name), { kind: 'damaged', detail: /unknown field, variant/ })
    t.equal(files.read(`${META}/${name}`)?.toString(), newer)
    t.same(aside, [])
    t.match(log.said, [/is not understood and is unknown until it is written again: .*variant/])
    records.put(name, source('2'))
    t.same(records.read(name), { kind: 'source', source: source('2') })
  }
  t.end()
})

t.test('a record that is a directory counts as damaged', (t) => {
  const { disk, aside, records } = open()
  for (const name of [...NAMES, 'proven', 'verdicts']) disk.plant(`${META}/${name}/x`, '')
  t.match(records.read('assigned'), { kind: 'damaged' })
  t.match(records.read('last-known-good'), { kind: 'damaged' })
  t.equal(records.get('proven')?.key, undefined)
  t.equal(records.verdicts().size, 0)
  t.equal(aside.length, 4)
  records.put('assigned', source('1'))
  t.same(records.read('assigned'), { kind: 'source', source: source('1') })
  t.end()
})

t.test('a damaged record that cannot be set aside is still damaged', (t) => {
  const { disk, log, records } = open()
  disk.plant(`${META}/assigned`, 'garbage')
  disk.faultOf = () => 'EIO'
  t.match(records.read('assigned'), { kind: 'damaged' })
  t.match(records.read('assigned'), { kind: 'damaged' })
  t.match(log.said, [/cannot be set aside/])
  t.equal(log.said.length, 1, 'logged once')
  t.end()
})

t.test('a command that only reads changes nothing', (t) => {
  const disk = new FakeDisk(() => 0)
  disk.plant(`${META}/assigned`, 'garbage')
  disk.plant(`${META}/verdicts`, 'garbage')
  const files = new DurableFiles(new ReadOnlyDisk(disk))
  const records = new FileRecords({
    files,
    layout: layoutOf(ROOT),
    log: silentLog(),
    onSetAside: () => t.fail('set aside'),
    faults: faultsOver(),
    run: new MemoryRecords(),
  })
  t.equal(
    stepsOf(disk, () => {
      t.match(records.read('assigned'), { kind: 'damaged' })
      t.equal(records.verdicts().size, 0)
    }),
    0,
  )
  t.throws(() => records.put('assigned', 'local'), { name: 'FileError', code: 'EROFS' })
  t.throws(() => records.put('assigned', 'local'), {
    message: /made after the agent's start needs: systemctl restart kubelet-cfg-agent$/,
  })
  t.end()
})

t.test('verdicts are written, replaced, removed, and survive restarts', (t) => {
  const { disk, records } = open()
  records.writeVerdict(verdict('a'))
  records.writeVerdict(verdict('b'))
  records.writeVerdict(verdict('a', 'confirmed'))
  t.same([...records.verdicts().values()], [verdict('b'), verdict('a', 'confirmed')])
  records.removeVerdict('b')
  t.equal(
    stepsOf(disk, () => records.removeVerdict('b')),
    0,
  )
  t.same([...open(disk).records.verdicts()], [['a', verdict('a', 'confirmed')]])
  t.end()
})

t.test('the hundred newest verdicts are kept', (t) => {
  const { records } = open()
  for (let index = 0; index < 101; index += 1) records.writeVerdict(verdict(`${index}`))
  t.equal(records.verdicts().size, 100)
  t.notOk(records.verdicts().has('0'))
  records.writeVerdict(verdict('1'))
  records.writeVerdict(verdict('101'))
  t.ok(records.verdicts().has('1'), 'a new verdict on it makes it one of the newest')
  t.end()
})

t.test('refusals are forgotten before failures, and damage that no restart undoes never is', (t) => {
  const { disk, files, records } = open()
  const harmful: Verdict = { ...verdict('harmful', 'confirmed'), damage: 'one-way' }
  records.writeVerdict(harmful)
  records.writeVerdict(verdict('failed', 'confirmed'))
  records.writeVerdict({ ...verdict('failed-before', 'refused'), former: verdict('failed-before') })
  for (let index = 0; index < 150; index += 1) records.writeVerdict(verdict(`refused-${index}`, 'refused'))
  t.equal(records.verdicts().size, 100)
  for (const key of ['harmful', 'failed', 'failed-before', 'refused-149', 'refused-53']) t.ok(records.verdicts().has(key), key)
  t.notOk(records.verdicts().has('refused-52'))
  const written = JSON.parse(files.read(`${META}/verdicts`)?.toString() ?? '') as readonly Verdict[]
  t.same(written.at(-1), harmful, 'an agent that keeps only the last ones keeps it, too')

  for (let index = 0; index < 150; index += 1) records.writeVerdict(verdict(`failed-${index}`))
  records.writeVerdict(verdict('refused', 'refused'))
  t.ok(records.verdicts().has('harmful'))
  t.ok(records.verdicts().has('refused'), 'what was said just now')
  t.equal(records.verdicts().size, 100)
  for (let index = 0; index < 150; index += 1) records.writeVerdict({ ...harmful, key: `harmful-${index}` })
  t.same([...open(disk).records.verdicts().keys()].length, 151, 'all of them')
  t.end()
})

t.test('on a full disk verdicts count immediately, and are written later', (t) => {
  const { disk, log, records } = open()
  records.writeVerdict(verdict('old'))
  disk.full = true
  records.writeVerdict(verdict('new'))
  records.removeVerdict('old')
  t.same([...records.verdicts().keys()], ['new'])
  t.equal(log.said.length, 1)
  t.throws(() => records.put('assigned', source('1')), { code: 'ENOSPC' })
  t.same([...open(disk).records.verdicts().keys()], ['old'], 'not on disk yet')
  disk.full = false
  records.verdicts()
  t.same([...open(disk).records.verdicts().keys()], ['new'], 'written at the next access')
  t.end()
})

t.test('a verdict with words or fields that are not known counts, and loses no other one', (t) => {
  const { disk, aside, records } = open()
  const unknown = { ...verdict('new'), state: 'appealed', reason: 'thermal', evidence: 'fans', damage: 'some', appealedAt: 7 }
  const refused = { ...verdict('refused', 'refused'), reason: 'licence', retrials: 'two' }
  const { key, state, source } = verdict('bare')
  disk.plant(`${META}/verdicts`, JSON.stringify([verdict('a'), unknown, refused, { key, state, source }]))
  const found = records.verdicts()
  t.same([...found.keys()], ['a', 'new', 'refused', 'bare'])
  t.match(found.get('new'), { state: 'confirmed', reason: 'evidence', damage: 'one-way', detail: 'exit 255' })
  t.equal(found.get('new')?.evidence, undefined)
  t.match(found.get('refused'), { state: 'refused', reason: 'validate' })
  t.equal(found.get('refused')?.retrials, undefined)
  t.match(found.get('bare'), { state: 'provisional', reason: 'evidence', detail: '', atWallMs: 0 })
  t.same(aside, [])
  records.writeVerdict(verdict('b'))
  const written = JSON.parse(disk.read(`${META}/verdicts`).toString()) as readonly unknown[]
  t.same(new Set(written), new Set([verdict('a'), unknown, refused, { key, state, source }, verdict('b')]), 'as the newer agent wrote them')
  t.end()
})

t.test('a verdict that cannot be kept is set aside without the others', (t) => {
  const { disk, files, aside, log, records } = open()
  const text = JSON.stringify([{ ...verdict('x'), source: 'elsewhere' }, verdict('a'), 7, verdict('b')])
  disk.plant(`${META}/verdicts`, text)
  t.same([...records.verdicts().values()], [verdict('a'), verdict('b')])
  t.match(aside, [{ path: `${META}/verdicts`, to: `${META}/verdicts.damaged-1`, why: /2 of 4 verdicts/ }])
  t.equal(files.read(`${META}/verdicts.damaged-1`)?.toString(), text)
  const restarted = open(disk)
  t.same([...restarted.records.verdicts().keys()], ['a', 'b'])
  t.same([...records.verdicts().keys()], ['a', 'b'])
  t.same([restarted.aside.length, aside.length], [0, 1])
  disk.plant(`${META}/verdicts`, text)
  disk.full = true
  t.same([...records.verdicts().keys()], ['a', 'b'], 'on a full disk, too')
  t.match(log.said, [/cannot be set aside/])
  t.end()
})

t.test('damaged rollouts and a damaged state of the channel are not absent ones, until they are written again', (t) => {
  const heard = { channel: 'label', paused: undefined, problem: undefined } as const
  for (const garbage of ['garbage', '[{"config":"ns/a"}]', '{"channel":"rumour"}']) {
    const { disk, records } = open()
    t.equal(records.get('stagings'), undefined)
    t.equal(records.get('channel-state'), undefined)
    disk.plant(`${META}/rollouts`, garbage)
    disk.plant(`${META}/heard`, garbage)
    t.equal(records.get('stagings'), 'damaged')
    t.equal(records.get('channel-state'), 'damaged')
    const restarted = open(disk)
    for (const each of [records, restarted.records]) {
      t.equal(each.get('stagings'), 'damaged')
      t.equal(each.get('channel-state'), 'damaged')
    }
    records.put('stagings', [])
    records.put('channel-state', heard)
    for (const each of [records, restarted.records, open(disk).records]) {
      t.same(each.get('stagings'), [])
      t.match(each.get('channel-state'), { channel: 'label' })
    }
  }
  t.end()
})

t.test('a record of what a return to local left: another agent may have written more, and names are checked', (t) => {
  const read = (text: string) => {
    const { disk, records } = open()
    disk.plant(`${META}/left`, text)
    return { disk, left: records.get('left'), records }
  }
  const newer = { sources: [{ ...source('1'), later: 1 }], localConfig: 'hash', later: [] }
  t.match(read(JSON.stringify(newer)).left, { sources: [source('1')], localConfig: 'hash' })
  for (const text of ['', '{}', '{"sources":[{}]}', JSON.stringify({ sources: [{ ...source('1'), uid: '../..' }] })]) {
    const { left, records } = read(text)
    t.equal(left, 'damaged', text)
    records.put('left', { sources: [] })
    t.same(records.get('left'), { sources: [] }, 'until it is written again')
  }
  t.end()
})

t.test('garbage in verdicts, proven or boots is set aside and counts as none', (t) => {
  const garbage = ['', 'garbage', '\0\0', '{}', 'null', '[{}]', JSON.stringify([{ ...verdict('a'), key: 7 }]), '{"key":7}']
  for (const text of garbage) {
    const { disk, aside, records } = open()
    disk.plant(`${META}/verdicts`, text)
    disk.plant(`${META}/proven`, text)
    disk.plant(`${META}/boots`, text)
    disk.plant(`${META}/heard`, text === '{}' ? '{"channel":"rumour"}' : text.replace('{"key"', '{"paused"'))
    t.equal(records.verdicts().size, 0, text)
    t.equal(records.get('channel-state'), 'damaged', text)
    t.equal(records.get('proven')?.key, undefined, text)
    t.equal(records.get('trial-boots'), undefined, text)
    t.match(aside, [
      { to: `${META}/verdicts.damaged-1` },
      { to: `${META}/heard.damaged-1` },
      { to: `${META}/proven.damaged-1` },
      { to: `${META}/boots.damaged-1` },
    ])
    records.writeVerdict(verdict('a'))
    t.equal(open(disk).records.verdicts().size, 1)
  }
  t.end()
})

t.test('a crash at any point leaves the old record or the new one, never a torn or local one', (t) => {
  const same = (found: unknown, allowed: ConfigSource[], where: string) =>
    assert.ok(
      allowed.some((each) => isDeepStrictEqual(found, { kind: 'source', source: each })),
      `${where}: ${JSON.stringify(found)}`,
    )
  const recordsOf = (files: DurableFiles) =>
    new FileRecords({
      files,
      layout: layoutOf(ROOT),
      log: silentLog(),
      onSetAside: ({ why }) => assert.fail(why),
      faults: faultsOver(),
      run: new MemoryRecords(),
    })
  const crashes = crashEverywhere({
    prepare: (files) => {
      const records = recordsOf(files)
      records.put('assigned', source('1'))
      records.writeVerdict(verdict('a'))
      records.put('proven', { key: 'a' })
    },
    act: (files) => {
      const records = recordsOf(files)
      records.put('last-known-good', source('1'))
      records.put('assigned', source('2'))
      records.writeVerdict(verdict('b'))
      records.put('proven', { key: 'b' })
    },
    check: (files, where) => {
      const records = recordsOf(files)
      if (records.has('last-known-good')) same(records.read('last-known-good'), [source('1')], where)
      same(records.read('assigned'), [source('1'), source('2')], where)
      assert.ok([1, 2].includes(records.verdicts().size), where)
      assert.ok(['a', 'b'].includes(records.get('proven')?.key ?? ''), where)
      // In the order of the writes: a later one is never durable without the earlier one.
      if (records.get('proven')?.key === 'b') {
        same(records.read('assigned'), [source('2')], where)
        assert.equal(records.verdicts().size, 2, where)
      }
    },
  })
  t.ok(crashes > 100)
  t.end()
})

t.test('after a crash at any point, each record of local is confirmed, or is written again', (t) => {
  const recordsOf = (files: DurableFiles) =>
    new FileRecords({
      files,
      layout: layoutOf(ROOT),
      log: silentLog(),
      onSetAside: ({ why }) => assert.fail(why),
      faults: faultsOver(),
      run: new MemoryRecords(),
    })
  const written = [
    ['assigned', source('1')],
    ['last-known-good', source('1')],
    ['previous', 'local'],
    ['assigned', 'local'],
    ['last-known-good', 'local'],
  ] as const
  const act = (files: DurableFiles) => {
    const records = recordsOf(files)
    for (const [name, source] of written) records.put(name, source)
  }
  const crashes = crashEverywhere({
    prepare: (files) => {
      const records = recordsOf(files)
      for (const name of ['assigned', 'last-known-good'] as const) records.put(name, 'local')
    },
    act,
    check: (files, where) => {
      const records = recordsOf(files)
      const unconfirmed = NAMES.filter((name) => 'unconfirmed' in records.read(name))
      assert.ok(unconfirmed.length <= 1, `${where}: ${unconfirmed.join(', ')}`)
      // Only what is being replaced by a source.
      assert.ok(
        unconfirmed.every((name) => name !== 'previous'),
        where,
      )
      act(files)
      for (const name of NAMES) assert.deepEqual(recordsOf(files).read(name), { kind: 'source', source: 'local' }, where)
    },
  })
  t.ok(crashes > 100)
  t.end()
})

t.test('an empty record that nobody wrote is not confirmed, and neither is one of an agent of before the marker', (t) => {
  const { disk, files, records } = open()
  const kinds = () => NAMES.map((name) => ('unconfirmed' in records.read(name) ? 'unconfirmed' : 'confirmed'))
  for (const name of NAMES) records.put(name, source('1'))
  for (const name of NAMES) disk.plant(`${META}/${name}`, '')
  t.same(kinds(), ['unconfirmed', 'unconfirmed', 'unconfirmed'])
  records.put('previous', 'local')
  t.same(kinds(), ['unconfirmed', 'unconfirmed', 'confirmed'])

  files.remove(`${META}/local`)
  t.same(kinds(), ['unconfirmed', 'confirmed', 'confirmed'], 'fallbacks count as local all the same')
  records.markLocal()
  t.same(kinds(), ['unconfirmed', 'confirmed', 'confirmed'])
  t.same(JSON.parse(files.read(`${META}/local`)?.toString() ?? ''), { local: ['last-known-good', 'previous'] })
  disk.plant(`${META}/last-known-good`, serializeSource(source('2')))
  disk.plant(`${META}/local`, '{"local":["last-known-good"]}')
  t.same(kinds(), ['unconfirmed', 'confirmed', 'confirmed'], 'an agent that marks nothing has promoted a config')
  disk.plant(`${META}/local`, '{"local":["later","assigned"],"more":1}')
  t.same(kinds(), ['confirmed', 'confirmed', 'unconfirmed'], 'a name and a field that are not known hide nothing')
  records.put('previous', 'local')
  t.same(JSON.parse(files.read(`${META}/local`)?.toString() ?? ''), { local: ['assigned', 'previous', 'later'] }, 'which stays')
  t.end()
})

t.test('a new directory gets no marker before a record', (t) => {
  const { files, records } = open()
  records.markLocal()
  t.equal(files.stat(META), undefined)
  t.end()
})

t.test('a crash while a damaged assigned is set aside never makes it local', (t) => {
  const recordsOf = (files: DurableFiles) =>
    new FileRecords({
      files,
      layout: layoutOf(ROOT),
      log: silentLog(),
      onSetAside: () => undefined,
      faults: faultsOver(),
      run: new MemoryRecords(),
    })
  crashEverywhere({
    prepare: (_files, disk) => disk.plant(`${META}/assigned`, 'garbage'),
    act: (files) => void recordsOf(files).read('assigned'),
    check: (files, where) => assert.equal(recordsOf(files).read('assigned').kind, 'damaged', where),
  })
  t.pass('damaged throughout')
  t.end()
})

for (const broken of ['EIO', 'EUCLEAN', 'EBADMSG'] as const) {
  t.test(`an unreadable record is an error, and damaged only if that lasts (${broken})`, (t) => {
    const disk = new FakeDisk(() => 0)
    let nowUs = 0
    const { aside, records } = open(
      disk,
      faultsOver(() => nowUs),
    )
    for (const name of NAMES) records.put(name, source('1'))
    records.writeVerdict(verdict('k'))
    for (const fault of [broken, 'EACCES'] as const) {
      disk.readFaultOf = () => fault
      for (const name of NAMES) t.throws(() => records.read(name), { code: fault })
      t.throws(() => records.get('proven')?.key, { code: fault })
    }
    disk.readFaultOf = undefined
    for (const name of NAMES) t.same(records.read(name), { kind: 'source', source: source('1') })
    nowUs += 60e6
    disk.readFaultOf = (path) => (path.endsWith('assigned') ? broken : undefined)
    t.throws(() => records.read('assigned'), { code: broken }, 'the time counts from the first failure')
    nowUs += 29e6
    t.throws(() => records.read('assigned'), { code: broken })
    t.equal(aside.length, 0)
    nowUs += 2e6
    t.match(records.read('assigned'), { kind: 'damaged' })
    t.equal(aside.length, 1)
    t.end()
  })
}

t.test('verdicts whose file cannot be inspected stay as they were read; unread ones count as none if that lasts', (t) => {
  const disk = new FakeDisk(() => 0)
  let nowUs = 0
  const { records } = open(
    disk,
    faultsOver(() => nowUs),
  )
  records.writeVerdict(verdict('a'))
  t.equal(records.verdicts().size, 1)
  const restarted = open(
    disk,
    faultsOver(() => nowUs),
  )
  disk.readFaultOf = (path, kind) => (path === `${META}/verdicts` && kind === 'stat' ? 'EIO' : undefined)
  for (const each of [records, restarted.records]) t.throws(() => each.verdicts(), { code: 'EIO' })
  nowUs += 31e6
  t.equal(restarted.records.verdicts().size, 0)
  t.equal(records.verdicts().size, 1)
  disk.readFaultOf = undefined
  t.equal(restarted.records.verdicts().size, 1, 'nothing is lost')
  nowUs += 31e6
  disk.readFaultOf = (path) => (path === `${META}/verdicts` ? 'EIO' : undefined)
  t.throws(() => restarted.records.verdicts(), { code: 'EIO' }, 'the time counts anew')
  t.end()
})

t.test('where a missing assigned may have been damaged before, since meta cannot be listed, it is unknown', (t) => {
  const disk = new FakeDisk(() => 0)
  let nowUs = 0
  const { records } = open(
    disk,
    faultsOver(() => nowUs),
  )
  disk.plant(`${META}/assigned.damaged-1`, '')
  disk.readFaultOf = (path) => (path === META ? 'EIO' : undefined)
  t.throws(() => records.read('assigned'), { code: 'EIO' })
  nowUs += 31e6
  t.match(records.read('assigned'), { kind: 'damaged', detail: /EIO/ })
  t.end()
})
