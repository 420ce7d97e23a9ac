// SPDX-License-Identifier: Apache-2.0
/** What the records and the cluster call a content, and the content of what they name. */
import t from 'tap'
import {
  fallbackSources,
  findContent,
  findRunning,
  findStartedFrom,
  heldSources,
  lastRunSource,
  namedSources,
  runningSource,
} from '../../src/decision/held-sources.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { ConfigMapSource } from '../../src/subject/config-source.ts'
import {
  A,
  A_EDITED,
  assignedTo,
  B,
  C,
  contentOf,
  GOOD,
  health,
  hold,
  inTrial,
  judged,
  keyOf,
  lost,
  runs,
  snapshot,
  startsWith,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

type Facts = Partial<Snapshot>

/** Kubelet runs what no record names any more. The checkpoint is still there. */
function startedFrom(source: ConfigMapSource, facts: Facts = {}): Snapshot {
  const { uid, resourceVersion, overlay } = source
  const { lastProcess, ...record } = health(source)
  return snapshot({
    ...runs(source),
    health: { ...record, lastProcess: lastProcess && { ...lastProcess, source } },
    checkpoints: [{ uid, resourceVersion, overlay, savedAtMs: 0 }],
    ...facts,
  })
}

const UNKNOWN: Facts = { nextStart: { kind: 'unknown', detail: 'EIO' }, assigned: { kind: 'damaged', detail: 'cut short' } }

t.test('what kubelet starts with next comes first, and what a return to local left last', async (t) => {
  const records: Facts = { ...startsWith(C), ...assignedTo(B), lastKnownGood: hold(A), previous: hold('local'), left: [hold(GOOD)] }
  const sources = (list: typeof heldSources, facts: Facts = {}) => list(snapshot({ ...records, ...facts })).map(({ source }) => source)
  t.strictSame(sources(heldSources), [C, B, A, 'local', GOOD])
  t.strictSame(sources(fallbackSources), [C, A, 'local', GOOD], 'what is assigned is no fallback')
  t.strictSame(namedSources(snapshot(records)), [C, B, A, GOOD], 'local has no checkpoint')
  for (const list of [heldSources, fallbackSources]) t.strictSame(sources(list, UNKNOWN), [A, 'local', GOOD], 'only what is known')
  for (const list of [heldSources, fallbackSources]) t.notOk(sources(list, { left: undefined }).includes(GOOD))
})

t.test('the content of a source is what is on disk for it', async (t) => {
  const none: Facts = { lastKnownGood: hold(A), previous: hold(A) }
  const find = (source: Parameters<typeof findContent>[1], facts: Facts = {}) => findContent(snapshot({ ...none, ...facts }), source)
  t.equal(find('local'), 'local')
  t.equal(find(A), contentOf(A))
  t.equal(find(B, { ...wants(B), previous: lost(B) }), undefined, 'its checkpoint is lost')
  t.equal(find(B), undefined, 'nothing names it')
  t.equal(find(B, wants(B)), contentOf(B), 'the cluster does')
  t.equal(find(C, wants(B)), undefined)
  t.equal(find(C, { desired: { kind: 'unknown', detail: 'timeout' } }), undefined)
  t.equal(find(C, { running: { kind: 'none' } }), undefined, 'nothing runs')
  t.equal(findContent(startedFrom(C), C), contentOf(C), 'kubelet was started from it')
  t.equal(findContent(startedFrom(C), B), undefined)
})

t.test('kubelet can be started again with what runs, where a record names it or its checkpoint is there', async (t) => {
  t.strictSame(findRunning(snapshot()), hold(A))
  t.strictSame(findRunning(snapshot({ ...runs('local'), previous: hold(A) })), hold('local'), 'or it is local')
  t.strictSame(findRunning(startedFrom(C)), hold(C))
  t.equal(findRunning(snapshot({ running: { kind: 'none' }, lastKnownGood: lost(C) })), undefined, 'nothing runs')
  const isFound = (facts: Facts) => findStartedFrom(startedFrom(C, facts)) !== undefined
  t.ok(isFound({}))
  t.notOk(isFound({ checkpoints: [] }), 'it is gone')
  t.notOk(isFound({ checkpoints: [{ uid: C.uid, resourceVersion: '2', savedAtMs: 0 }] }), 'of another version')
  t.notOk(isFound({ previous: lost(C) }), 'it may be stored anew with other content')
  t.notOk(isFound(runs(B)), 'something else runs by now')
  t.notOk(isFound({ running: { kind: 'none' } }))
  t.notOk(isFound({ health: health(C) }), 'nobody knows what it was started from')
})

t.test('what runs is called what the records call it, or else as its process says', async (t) => {
  t.strictSame(runningSource(inTrial()), B)
  t.strictSame(runningSource(inTrial(runs(A))), A)
  t.strictSame(runningSource(inTrial({ ...runs(A), ...UNKNOWN, health: undefined })), A)
  t.strictSame(runningSource(inTrial({ ...runs(GOOD), previous: hold(GOOD) })), GOOD)
  t.equal(runningSource(inTrial({ ...runs('local'), previous: hold(A) })), 'local')
  t.equal(runningSource(inTrial({ running: { kind: 'none' } })), undefined)
  for (const record of [health(B), undefined])
    t.equal(runningSource(inTrial({ ...runs(GOOD), health: record })), undefined, 'nothing names it')
  t.strictSame(runningSource(startedFrom(GOOD, { checkpoints: [] })), GOOD, 'a record did when it was started')
  const reworded = hold(A_EDITED, contentOf(A))
  const renamed = {
    ...runs(A),
    ...assignedTo(A_EDITED, contentOf(A)),
    nextStart: { kind: 'known', held: reworded },
    lastKnownGood: reworded,
  } as const
  t.strictSame(runningSource(snapshot({ ...renamed, health: health(B) })), A_EDITED, 'a later version says the same')

  t.test('a uid belongs to one ConfigMap, of which the process names the version', async (t) => {
    const edited = { ...C, resourceVersion: '2' }
    const name = (facts: Facts, source: ConfigMapSource = C) => runningSource(snapshot({ ...runs(source), health: health(B), ...facts }))
    t.strictSame(name({ previous: hold(edited) }), C, 'that a record names')
    t.strictSame(name(wants(edited)), C, 'the cluster')
    t.strictSame(name(judged(verdict(edited, 'confirmed'))), C, 'or a verdict')
    const merged = { ...C, overlay: 'hash' }
    t.strictSame(name({ previous: hold(edited) }, merged), merged, 'with what was merged into it')
    t.equal(name({ previous: hold(B) }), undefined)
    t.equal(name({ previous: hold(edited), unit: { kind: 'unknown', detail: 'systemd does not answer' } }), undefined)
    t.equal(name({ previous: hold(edited), unit: unit() }), undefined, 'it was not started from a checkpoint')
  })
})

t.test('what ran last is called what the records call it, where nothing runs', async (t) => {
  const none: Facts = { running: { kind: 'none' } }
  t.strictSame(lastRunSource(inTrial(none)), B)
  t.strictSame(lastRunSource(inTrial(runs(A))), A)
  t.equal(lastRunSource(inTrial({ ...none, health: undefined })), undefined)
  t.equal(lastRunSource(startedFrom(GOOD, { ...none, health: health(C) })), undefined)
  t.strictSame(lastRunSource(startedFrom(GOOD, none)), GOOD, 'or as they called it when it was started')
  const other = { invocationId: 'i', content: contentOf(C), kubeletIdentity: keyOf(C), source: C }
  t.equal(runningSource(snapshot({ ...runs(GOOD), health: health(B, { lastProcess: other }) })), undefined, 'but not what ran before')
})
