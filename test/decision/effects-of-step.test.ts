// SPDX-License-Identifier: Apache-2.0
/** The effects of steps on the records, on paper: nothing that was proven outlives its reason. */
import t from 'tap'
import type { Effect } from '../../src/decision/effects.ts'
import { effectsOfRestart } from '../../src/decision/effects-of-answer.ts'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Action } from '../../src/decision/step.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { identityOfKey } from '../../src/subject/trial-key.ts'
import { serving, snapshotOf } from '../evidence/samples.ts'
import {
  A,
  A_EDITED,
  accepts,
  assignedTo,
  B,
  C,
  contentOf,
  dataOf,
  fallenBack,
  GOOD,
  health,
  hold,
  inTrial,
  judged,
  keyOf,
  lost,
  READY,
  restartTo,
  runs,
  runsNothing,
  snapshot,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

/** Effects on records alone, in their order: what is logged and told is no state. */
function records(step: Action, facts: Snapshot): readonly Effect[] {
  const told: readonly Effect['kind'][] = ['log', 'append-history']
  return effectsOf(step, facts).filter(({ kind }) => !told.includes(kind))
}

const NOTHING_PROVEN = { kind: 'put', record: 'proven', value: undefined }
const NO_TRIAL = { kind: 'put', record: 'trial-boots', value: undefined }

function namesLocal(record: string): object {
  return { kind: 'put', record, value: 'local' }
}

t.test('a return to local forgets what passed a trial, so that it has a whole one again', async (t) => {
  const reset = { kind: 'reset-to-local', from: A, isRequested: false, shared: false } as unknown as Action
  const everyRecord = [namesLocal('last-known-good'), namesLocal('previous'), NO_TRIAL]
  const left = { kind: 'put', record: 'left', value: { sources: [A] } }
  t.strictSame(records(reset, snapshot()), [left, namesLocal('assigned'), ...everyRecord], 'but for what goes on while local is refused')
  t.strictSame(records(reset, snapshot(runsNothing('stopped'))), [left, namesLocal('assigned'), NOTHING_PROVEN, ...everyRecord])
  const onLocal = snapshot({ ...startsWith('local'), ...runs('local') })
  t.strictSame(records(reset, onLocal), [namesLocal('assigned'), NOTHING_PROVEN, ...everyRecord.slice(0, 2)], 'local runs already')

  t.match(records(reset, snapshot({ ...runsNothing('stopped'), proven: undefined }))[2], NOTHING_PROVEN, 'nothing had passed')
  t.match(records(reset, snapshot({ ...startsWith('local'), ...runs('local'), proven: keyOf('local') }))[1], NOTHING_PROVEN)

  const activate = { kind: 'activate', target: 'local', fallback: A, wiring: READY } as unknown as Action
  const returning = snapshot({ ...assignedTo('local'), left: [hold(A)] })
  const done = records(activate, returning).slice(-4)
  t.match(done, [{ kind: 'activate', target: 'local' }, NOTHING_PROVEN, left, { kind: 'stage-fallback', fallback: A }])
  const other = { ...activate, target: B } as unknown as Action
  t.notMatch(records(other, returning), [NOTHING_PROVEN], 'only local is left in this way')
  t.notOk(records(other, returning).some((effect) => effect.kind === 'put' && effect.record === 'left'))
})

t.test('a return to local that was cut off goes on by the turn that it had, with what it left', async (t) => {
  const reset = { kind: 'reset-to-local', from: A, shared: true } as const
  const written = (step: Action) => records(step, snapshot()).flatMap((effect) => (effect.kind === 'put' ? [effect.record] : [effect.kind]))
  t.match(records(reset, snapshot())[0], { record: 'spread', value: { source: 'local' } })
  t.same(written(reset), ['spread', 'left', 'assigned', 'last-known-good', 'previous', 'trial-boots'])
  t.same(written({ ...reset, from: 'local' }), ['assigned', 'last-known-good', 'previous', 'trial-boots'])
})

t.test('where nothing is known of what is in place, local may take its place', async (t) => {
  const activate = { kind: 'activate', target: B, fallback: undefined, wiring: READY } as unknown as Action
  const orElseLocal = (facts: object) =>
    records(activate, inTrial({ nextStart: { kind: 'unknown', detail: '' }, ...facts })).flatMap((effect) =>
      effect.kind === 'activate' ? [effect.orElseLocal] : [],
    )
  t.same(orElseLocal({}), [false], 'unless kubelet runs it')
  t.same(orElseLocal({ ...runsNothing('failed'), assignedContent: undefined }), [true])
})

t.test('exits of local while nothing was assigned are no charge against it as a fallback', async (t) => {
  const assign = { kind: 'assign', source: A, data: dataOf(A), shared: false } as unknown as Action
  const exit = (key: string) => ({ key, invocationId: 'i', atUs: 1 })
  const crashing = { ...health('local', { exits: 2 }), recentExits: [exit(keyOf('local')), exit(keyOf(B))] }
  const onLocal = { ...wants(A), ...assignedTo('local'), ...startsWith('local'), ...runs('local'), health: crashing }
  const written = (facts: Parameters<typeof snapshot>[0]) =>
    records(assign, snapshot({ ...onLocal, ...facts })).find((effect) => effect.kind === 'put' && effect.record === 'health')
  t.match(written({}), { kind: 'put', record: 'health', value: { exits: 0, recentExits: [{ key: keyOf(B) }] } })
  t.equal(written({ left: [hold(B)] }), undefined, 'a return to local that is not over is the agent’s')
  t.equal(written(assignedTo(B)), undefined)
})

t.test('a version that is given other content', async (t) => {
  const other = 'other content'
  const facts = { ...wants(A, other), storedContent: contentOf(A) }
  const assign = { kind: 'assign', source: A, data: dataOf(A), shared: false } as const
  const replaces = (previous: typeof A | typeof B | 'local') =>
    records(assign, snapshot({ ...facts, previous: hold(previous) })).slice(0, 4)
  const goesTo = (source: typeof B | 'local') => ({ kind: 'put', record: 'last-known-good', value: source })

  t.match(replaces(B), [NOTHING_PROVEN, goesTo(B), { kind: 'replace-checkpoint', source: A, content: other }], 'is no last-known-good')
  t.match(replaces(A), [namesLocal('previous'), NOTHING_PROVEN, goesTo('local'), { kind: 'replace-checkpoint' }], 'nor previous')
  const isOnlyPrevious = snapshot({ ...facts, lastKnownGood: hold(B), previous: hold(A), proven: keyOf(B) })
  t.match(records(assign, isOnlyPrevious), [namesLocal('previous'), { kind: 'replace-checkpoint' }], 'what else was proven stays')

  const isStored = records(assign, snapshot({ ...wants(A) }))
  t.notOk(
    isStored.some((effect) => /checkpoint|proven/.test(JSON.stringify(effect))),
    'the same content is not written again',
  )
  const edited = { ...assign, source: A_EDITED, data: dataOf(A_EDITED) }
  const isNew = records(edited, snapshot({ ...wants(A_EDITED), storedContent: undefined }))
  t.match(isNew, [{ kind: 'save-checkpoint', source: A_EDITED, content: contentOf(A_EDITED) }], 'another version is another checkpoint')
})

t.test('a trial', async (t) => {
  t.strictSame(
    records({ kind: 'prove', key: keyOf(B) }, inTrial()).slice(-2),
    [{ kind: 'put', record: 'proven', value: { key: keyOf(B) } }, NO_TRIAL],
    'ends',
  )
  const suspended = (facts: object) => ({
    suspendedVerdicts: new Map([[keyOf(B), verdict(B, 'provisional', { suspended: true, ...facts })]]),
  })
  const drops = (facts: object) => records({ kind: 'prove', key: keyOf(B) }, inTrial(suspended(facts)))
  t.match(
    drops({ acquitted: true }),
    [{}, { kind: 'remove-verdict', key: keyOf(B) }, NO_TRIAL],
    'that shows that the node had been at fault',
  )
  t.strictSame(drops({}).length, 2, 'that shows nothing of the kind')

  const promote = { kind: 'promote', target: { source: B, content: contentOf(B) }, previous: A } as unknown as Action
  const moved = [
    { kind: 'put', record: 'previous', value: A },
    { kind: 'put', record: 'last-known-good', value: B },
  ]
  t.strictSame(records(promote, inTrial({ proven: undefined })), moved)
  const asked = { hold: 'none', rollback: undefined, retry: false, promote: { content: contentOf(B) } } as const
  t.strictSame(
    records({ kind: 'prove', key: keyOf(B) }, inTrial({ requests: asked })).slice(-3),
    [{ kind: 'put', record: 'proven', value: { key: keyOf(B) } }, { kind: 'clear-request', request: 'promote' }, NO_TRIAL],
    'as somebody has asked',
  )
  const contents = [{ hash: 'hash', content: contentOf(B) }]
  const stagings = [{ config: 'kube-system/b', record: 'record', arrival: 'there', contents }] as const
  const promotedOn = (lastKnownGood: typeof A) =>
    records({ kind: 'prove', key: keyOf(B) }, inTrial({ stagings, lastKnownGood: hold(lastKnownGood) })).flatMap((effect) =>
      effect.kind === 'put' && effect.record === 'stagings' ? effect.value.flatMap((each) => each.contents.map((of) => of.promotedOn)) : [],
    )
  t.strictSame(promotedOn(B), [identityOfKey(keyOf(B))], 'of last-known-good says on which kubelet')
  t.strictSame(promotedOn(A), [], 'and of no other')
  t.strictSame(records(promote, inTrial()), moved, 'previous names what last-known-good did before that moves')
})

t.test('a config that failed and is tried again has a whole trial', async (t) => {
  const failed = verdict(B, 'provisional', { doubtful: true })
  const retry = { kind: 'retry-failed', verdict: failed, number: 2, of: 3 } as const
  const suspended = { kind: 'write-verdict', verdict: { ...failed, retrials: 2, suspended: true } }
  t.match(records(retry, fallenBack({ proven: keyOf(B) })), [
    NOTHING_PROVEN,
    suspended,
    { kind: 'put', record: 'health', value: { exits: 0 } },
    NO_TRIAL,
  ])
  const kept = records({ ...retry, recovered: true }, fallenBack({ proven: keyOf(B) }))
  t.match(kept, [suspended, { kind: 'put', record: 'health' }, NO_TRIAL], 'what kubelet is healthy with again has proved itself')
  t.match(records(retry, fallenBack()), [suspended, { kind: 'put', record: 'health' }, NO_TRIAL], 'what another config proved stays')
})

t.test('a verdict', async (t) => {
  const failed = verdict(B, 'provisional')
  t.strictSame(records({ kind: 'confirm', verdicts: [failed] }, fallenBack()), [
    { kind: 'write-verdict', verdict: { ...failed, state: 'confirmed' } },
  ])
  const condemn = { kind: 'condemn', verdict: failed, next: A, requested: false } as unknown as Action
  t.strictSame(records(condemn, inTrial()), [{ kind: 'write-verdict', verdict: failed }, NO_TRIAL], 'ends the trial')
  t.strictSame(records(condemn, inTrial({ trialBoots: undefined })), [{ kind: 'write-verdict', verdict: failed }])
  const requested = { ...condemn, requested: true } as unknown as Action
  t.match(records(requested, inTrial())[1], { kind: 'clear-request', request: 'rollback' }, 'answers the request after it is written')
})

t.test('a fallback whose checkpoint is gone', async (t) => {
  const forget = (record: 'last-known-good' | 'previous') => records({ kind: 'forget-fallback', record, source: A }, snapshot())
  t.strictSame(forget('last-known-good'), [NOTHING_PROVEN, namesLocal('last-known-good')], 'has a whole trial where it comes back')
  t.strictSame(forget('previous'), [namesLocal('previous')], 'takes nothing from last-known-good')
  const after = (facts: Partial<Snapshot>) =>
    records({ kind: 'forget-fallback', record: 'last-known-good', source: A }, snapshot({ previous: hold(GOOD), ...facts }))[1]
  t.match(after({}), { record: 'last-known-good', value: GOOD }, 'gives way to the config before it, which has run here')
  t.match(after({ previous: lost(GOOD) }), { value: 'local' }, 'unless that is gone, too')
  t.match(after({ verdicts: new Map([[keyOf(GOOD), verdict(GOOD, 'confirmed')]]) }), { value: 'local' }, 'or has failed')
})

t.test('one more restart of a config that had proved itself', async (t) => {
  const failure = { reason: 'crash-loop', detail: 'kubelet exited 3 times', damage: 'transient' } as const
  const ill = snapshot({ health: health(A, { exits: 3 }) })
  const record = restartTo(A, { exempt: true })
  const again = (made: typeof record | undefined) =>
    records({ kind: 'try-again', source: A, failure, record: made } as unknown as Action, ill)
  t.match(
    again(record),
    [
      { kind: 'put', record: 'restarts', value: [record] },
      { kind: 'put', record: 'last-restart', value: record },
      { kind: 'put', record: 'health' },
      { kind: 'restart-kubelet', record, earlier: [] },
    ],
    'is written down before it is asked for',
  )
  t.match(again(undefined), [{ kind: 'put', record: 'health' }], 'is left to systemd')
  t.strictSame(again(undefined).length, 1)
  const dueUntilUs = (effects: readonly Effect[]) =>
    effects.flatMap((effect) => (effect.kind === 'put' && effect.record === 'health' ? [effect.value?.restartDueUntilUs] : []))
  t.strictSame(dueUntilUs(again(record)), [ill.now.monotonicUs + ill.policy.startDeadlineUs], 'a restart is due')
  t.strictSame(dueUntilUs(again(undefined)), [undefined])
  const left = { kind: 'try-again', source: A, failure, record: undefined } as unknown as Action
  t.strictSame(records(left, snapshot({ health: undefined })), [], 'nothing is known of its health')
})

t.test('a start after a restart that systemd refused is somebody’s, as far as anybody knows', async (t) => {
  const failure = { reason: 'crash-loop', detail: 'kubelet exited 3 times', damage: 'transient' } as const
  const record = restartTo(A)
  const restart = { kind: 'restart', record, from: B, to: A, failed: false } as unknown as Action
  const again = { kind: 'try-again', source: A, failure, record } as unknown as Action
  for (const step of [restart, again]) {
    const command = effectsOf(step, snapshot({ health: health(A) })).find((effect) => effect.kind === 'restart-kubelet')
    if (command === undefined) throw new Error('nothing is restarted')
    const written = (ok: boolean) =>
      effectsOfRestart(command, { ok, detail: 'no bus' }).flatMap((effect) =>
        effect.kind === 'put' && effect.record === 'health' ? [effect.value] : [],
      )
    t.match(written(false), [{ started: true, restartedFrom: health(A).invocationId, restartDueUntilUs: undefined }], step.kind)
    t.strictSame(written(true), [], 'and else the agent’s')
    const late = effectsOfRestart(command, { ok: false, detail: 'timed out', mayBeTaken: true })
    t.notOk(
      late.some((effect) => effect.kind === 'put' && effect.record === 'health'),
      'also where systemd may do it later',
    )
  }
})

/** The words that a person reads of a step: in the history, and in the log. */
function told(step: Action, facts: Snapshot): readonly string[] {
  return effectsOf(step, facts).flatMap((effect) => {
    if (effect.kind === 'log') return [`${effect.level}: ${effect.message}`]
    if (effect.kind !== 'append-history') return []
    const { kind, from, to, why } = effect.transition
    return [`${kind} ${nameOf(from)} -> ${nameOf(to)}: ${why}`]
  })
}

function nameOf(source: ConfigSource | undefined): string {
  return source === undefined ? '-' : source === 'local' ? 'local' : source.name
}

t.test('what a step tells', async (t) => {
  const failed = verdict(B, 'provisional', { detail: 'kubelet exited 3 times' })
  const failure = { reason: 'crash-loop', detail: 'kubelet exited 3 times', damage: 'transient' } as const
  const again = 'it had passed its trial here, so it is tried once more before it is given up: kubelet exited 3 times'
  const after = 'it had failed, and is tried again now that another config has been healthy for a while (2 of 3)'
  const gone = 'the checkpoint of kube-system/a:kubelet@1 is gone and cannot be downloaded again: previous is local from now on'
  const checkpoint = { uid: 'uid-a', resourceVersion: '1', overlay: undefined, savedAtMs: 0 }
  const byChannel = { recordedChannelState: { channel: 'label', paused: undefined } } as unknown as Partial<Snapshot>
  const pausedBy = (by: string | undefined) => ({ channel: 'label', paused: by === undefined ? undefined : { on: 'Node', by } })
  const records = (by: string | undefined) => ({ kind: 'record-channel', channelState: pausedBy(by) })
  const wasPaused = (by: string) => snapshot({ recordedChannelState: pausedBy(by) } as unknown as Partial<Snapshot>)
  const uncompared = { requests: { hold: 'none', rollback: undefined, retry: false, promote: { content: contentOf(B) } } } as const
  const rows: readonly (readonly [step: object, facts: Snapshot, expected: readonly (string | RegExp)[]])[] = [
    [
      { kind: 'forgive', drop: [keyOf(B)], suspend: [failed], requested: false, why: 'all have failed' },
      snapshot(),
      ['retrying - -> -: all have failed', 'info: dropped verdicts: their configs may be tried again'],
    ],
    [{ kind: 'drop-rollback' }, snapshot(), ['info: rollback was requested, but the config it names is no longer in use']],
    [{ kind: 'drop-promote' }, snapshot(), ['info: a promotion was requested, but the config it names is not on trial any more']],
    [
      { kind: 'reset-to-local', from: A, shared: false },
      snapshot(),
      [
        'info: Node.Spec.ConfigSource is empty, will reset assigned and last-known-good to defaults',
        'assigned a -> local: Node.Spec.ConfigSource was removed',
      ],
    ],
    [
      { kind: 'reset-to-local', from: A, shared: false },
      snapshot(byChannel),
      [/^info: no longer assigned by .*, will reset/, /^assigned a -> local: no longer assigned by /],
    ],
    [
      { kind: 'reset-to-local', from: A, shared: false },
      snapshot({ requests: { hold: 'local', rollback: undefined, retry: false } }),
      [/^info: reset was requested on the node, will reset/, 'assigned a -> local: reset was requested on the node'],
    ],
    [{ kind: 'forget-left', key: keyOf(A), wiring: READY }, snapshot(), [/^info: .* the return to it is over$/]],
    [{ kind: 'rename-kubelet', verdicts: [] }, snapshot(), [/^info: renamed kubelet in the records of an earlier agent/]],
    [records('label'), snapshot(), ['info: paused by label: nothing is activated, restarted or rolled back until the pause is lifted']],
    [records('label'), wasPaused('label'), []],
    [
      { kind: 'record-channel', channelState: { channel: 'label', paused: { on: 'ConfigMap', by: 'x' } } },
      snapshot(),
      ['info: paused by x: no other version of it is activated until the pause is lifted; one that fails is rolled back all the same'],
    ],
    [records('plan'), wasPaused('label'), [/^info: paused by plan/]],
    [records('plan'), snapshot({ recordedChannelState: pausedBy(undefined) } as unknown as Partial<Snapshot>), [/^info: paused by plan/]],
    [records(undefined), wasPaused('label'), ['info: the cluster no longer pauses this node']],
    [records(undefined), snapshot(), []],
    [
      { kind: 'condemn', verdict: failed, next: A, requested: false },
      inTrial(),
      ['rolled-back b -> a: kubelet exited 3 times', /^error: config failed, rolling back from .*\bb\b.* to .*\ba\b/],
    ],
    [
      { kind: 'condemn', verdict: failed, next: undefined, requested: false },
      inTrial(),
      ['rolled-back b -> -: kubelet exited 3 times', 'error: config failed, and every other config has failed too'],
    ],
    [
      { kind: 'condemn', verdict: failed, next: A, requested: true },
      inTrial(),
      ['rolled-back b -> a: kubelet exited 3 times', /^warn: rolling back from .* as requested on the node$/],
    ],
    [{ kind: 'confirm', verdicts: [failed] }, snapshot(), ['info: verdict confirmed: kubelet is healthy without this config']],
    [
      { kind: 'try-again', source: B, failure, record: undefined },
      inTrial(),
      [`retrying b -> b: ${again}`, /^warn: config failed and is tried once more: .*\bb\b/],
    ],
    [
      { kind: 'try-again', source: B, failure, record: restartTo(B) },
      inTrial(),
      [`restarting b -> b: ${again}`, /^warn: config failed and is tried once more/],
    ],
    [
      { kind: 'retry-failed', verdict: failed, number: 2, of: 3 },
      fallenBack(),
      [`retrying - -> b: ${after}`, /^info: config is tried again: .*\bb\b/],
    ],
    [
      { kind: 'activate', target: B, fallback: A, wiring: READY },
      inTrial(),
      [/^info: activated .*\bb\b.*: kubelet uses it at its next start$/],
    ],
    [
      { kind: 'restart', record: restartTo(B), from: A, to: B },
      snapshot(),
      ['restarting a -> b: the wanted config has changed', /^info: Kubelet restarting to use .*\bb\b/],
    ],
    [
      { kind: 'restart', record: restartTo(A, { fallback: true }), from: B, to: A },
      snapshot(),
      ['restarting b -> a: falling back', /^info: Kubelet restarting to use .*\ba\b/],
    ],
    [{ kind: 'prove', key: keyOf(B) }, inTrial(), ['debug: trial passed']],
    [{ kind: 'prove', key: keyOf(B) }, inTrial(uncompared), ['debug: trial passed']],
    [
      { kind: 'promote', target: { source: B, content: contentOf(B) }, previous: A },
      inTrial(),
      ['promoted a -> b: trial passed', /^info: updated last-known-good config to .*\bb\b/],
    ],
    [{ kind: 'forget-fallback', record: 'previous', source: A }, snapshot(), [`set-aside a -> local: ${gone}`, `error: ${gone}`]],
    [{ kind: 'prune', checkpoints: [checkpoint] }, snapshot(), ['debug: old checkpoint removed']],
  ] as const
  for (const [step, facts, expected] of rows) t.match(told(step as Action, facts), expected, (step as Action).kind)
  for (const [step, facts, expected] of rows) t.equal(told(step as Action, facts).length, expected.length, (step as Action).kind)
})

t.test('what a step writes, in order', async (t) => {
  const failed = verdict(B, 'provisional')
  const other = verdict(C, 'confirmed')
  const write = (written: typeof failed) => ({ kind: 'write-verdict', verdict: written })
  const remove = (key: string) => ({ kind: 'remove-verdict', key })
  const clear = (request: string) => ({ kind: 'clear-request', request })
  const put = (record: string, value: unknown) => ({ kind: 'put', record, value })
  const made = { ...restartTo(B), target: keyOf(B) }
  const charged = health(A, { exits: 2 })
  const forgiven = [put('health', { ...charged, exits: 0, excusedExits: undefined, recentExits: [] }), NO_TRIAL]
  const forgive = { kind: 'forgive', drop: [keyOf(C)], suspend: [failed], keep: [other], why: 'asked' }
  const exempt = { ...made, exempt: true }
  const activates = (target: ConfigSource, facts: object = {}) => ({
    ...{ kind: 'activate', target, wiring: READY, orElseLocal: false, isRewording: false },
    ...facts,
  })
  const staged = { kind: 'stage-fallback', fallback: A, wiring: READY }
  const checkpoint = { uid: 'uid-a', resourceVersion: '1', overlay: undefined, savedAtMs: 0 }
  const suspended = new Map([[keyOf(A), verdict(A, 'provisional', { suspended: true })]])
  const lostNext = { nextStart: { kind: 'unknown', detail: 'EIO' } } as const
  const boots = { content: contentOf(B), boots: [] }
  const start = { kind: 'restart', record: made, from: A, to: B }
  const expected = { restartedFrom: charged.invocationId, everHealthy: false, started: true }
  const rows: readonly (readonly [step: object, facts: Snapshot, expected: readonly object[]])[] = [
    [
      { ...forgive, requested: false },
      snapshot({ health: charged, restarts: [made] }),
      [write(other), write({ ...failed, suspended: true }), remove(keyOf(C)), ...forgiven],
    ],
    [
      { ...forgive, keep: undefined, suspend: undefined, requested: true },
      snapshot({ health: charged, restarts: [made] }),
      [remove(keyOf(C)), ...forgiven, put('restarts', [exempt]), put('last-restart', exempt), clear('retry')],
    ],
    [
      { ...forgive, keep: undefined, suspend: undefined, requested: true },
      snapshot({ health: charged }),
      [remove(keyOf(C)), ...forgiven, clear('retry')],
    ],
    [{ kind: 'drop-rollback' }, snapshot(), [clear('rollback')]],
    [{ kind: 'drop-promote' }, snapshot(), [clear('promote')]],
    [{ kind: 'forget-left', key: keyOf(A), wiring: READY }, snapshot(), [activates('local'), NOTHING_PROVEN]],
    [
      { kind: 'forget-left', key: keyOf(A), wiring: READY },
      snapshot({ suspendedVerdicts: suspended, left: [hold(B)] }),
      [remove(keyOf(A)), activates('local'), put('left', { sources: [] }), NOTHING_PROVEN],
    ],
    [{ kind: 'rename-kubelet', verdicts: [{ former: 'former', verdict: failed }] }, snapshot(), [write(failed), remove('former')]],
    [{ kind: 'rename-kubelet', verdicts: [], proven: keyOf(B) }, snapshot(), [put('proven', { key: keyOf(B) })]],
    [{ kind: 'open-records', lastKnownGood: B }, snapshot(), [put('last-known-good', B), namesLocal('assigned')]],
    [{ kind: 'record-boot', trialBoots: boots }, snapshot(), [put('trial-boots', boots)]],
    [{ kind: 'preflight', source: B }, snapshot(), [{ kind: 'run-preflight', step: { kind: 'preflight', source: B } }]],
    [{ kind: 'activate', target: B, fallback: A, wiring: READY }, snapshot(), [staged, activates(B)]],
    [
      { kind: 'activate', target: B, fallback: undefined, wiring: READY },
      snapshot(judged(verdict(A, 'provisional'))),
      [activates(B, { orElseLocal: true })],
    ],
    // Local would be no better than what runs.
    [{ kind: 'activate', target: B, fallback: undefined, wiring: READY }, snapshot(), [activates(B)]],
    [{ kind: 'activate', target: A, fallback: undefined, wiring: READY }, snapshot(lostNext), [activates(A)]],
    [{ kind: 'activate', target: A, fallback: undefined, wiring: READY }, snapshot(), [activates(A, { isRewording: true })]],
    [{ kind: 'record-channel', channelState: { channel: 'label' } }, snapshot(), [put('channel-state', { channel: 'label' })]],
    [
      { kind: 'reset-to-local', from: A, shared: false },
      snapshot({ proven: keyOf(B) }),
      [
        put('left', { sources: [A] }),
        namesLocal('assigned'),
        NOTHING_PROVEN,
        namesLocal('last-known-good'),
        namesLocal('previous'),
        NO_TRIAL,
      ],
    ],
    [{ kind: 'activate', target: B, fallback: undefined, wiring: READY }, snapshot(lostNext), [activates(B, { orElseLocal: true })]],
    [
      { kind: 'activate', target: A, fallback: undefined, wiring: READY },
      snapshot({ ...lostNext, ...runsNothing('failed') }),
      [activates(A, { orElseLocal: true })],
    ],
    [
      { kind: 'activate', target: A, fallback: C, wiring: READY },
      snapshot(),
      [{ ...staged, fallback: C }, activates(A, { isRewording: true })],
    ],
    [{ kind: 'activate', target: 'local', fallback: A, wiring: READY }, snapshot(), [activates('local')]],
    [{ kind: 'activate', target: 'local', fallback: undefined, wiring: READY }, snapshot(startsWith('local')), [activates('local')]],
    [
      start,
      snapshot({ ...accepts(A, B, C), health: undefined }),
      [
        { kind: 'forget-acceptance', key: keyOf(A) },
        { kind: 'forget-acceptance', key: keyOf(C) },
        put('restarts', [made]),
        put('last-restart', made),
        { kind: 'restart-kubelet', record: made, earlier: [], health: undefined },
      ],
    ],
    [
      start,
      snapshot({ accepted: new Map(), health: charged }),
      [
        put('restarts', [made]),
        put('last-restart', made),
        put('health', { exits: 2, ...expected }),
        { kind: 'restart-kubelet', record: made, earlier: [], health: { exits: 2, ...expected } },
      ],
    ],
    [{ kind: 'prune', checkpoints: [checkpoint] }, snapshot(), [{ kind: 'remove-checkpoint', checkpoint }]],
  ]
  for (const [step, facts, written] of rows) {
    const actual = records(step as Action, facts)
    t.match(actual, written, JSON.stringify(step).slice(0, 100))
    t.equal(actual.length, written.length)
  }
})

t.test('the fields of what a step logs', async (t) => {
  const failed = verdict(B, 'provisional', { detail: 'kubelet exited 3 times' })
  const failure = { reason: 'crash-loop', detail: 'kubelet exited 3 times', damage: 'transient' } as const
  const why = { reason: 'crash-loop', detail: 'kubelet exited 3 times' }
  const { savedAtMs: _, ...version } = { uid: 'uid-a', resourceVersion: '1', overlay: 'o', savedAtMs: 0 }
  const requests = { hold: 'none', rollback: undefined, retry: false, promote: { content: contentOf(B) } } as const
  const uncompared = snapshotOf({ seen: [5, 590].map((at) => [at, serving(401)] as const), now: 600, snapshot: { requests } })
  const rows: readonly (readonly [step: object, facts: Snapshot, fields: readonly object[]])[] = [
    [
      { kind: 'forgive', drop: ['a'], suspend: [failed, failed], requested: false, why: 'asked' },
      snapshot(),
      [{ why: 'asked', verdicts: 3 }],
    ],
    [{ kind: 'rename-kubelet', verdicts: [{ former: 'f', verdict: failed }] }, snapshot(), [{ verdicts: 1 }]],
    ...[true, false].map(
      (requested) => [{ kind: 'condemn', verdict: failed, next: A, requested }, inTrial(), [{ source: B, next: A, ...why }]] as const,
    ),
    [{ kind: 'condemn', verdict: failed, next: undefined, requested: false }, inTrial(), [{ source: B, next: undefined, ...why }]],
    [{ kind: 'confirm', verdicts: [failed] }, fallenBack(), [{ source: B, reason: 'crash-loop' }]],
    [{ kind: 'try-again', source: B, failure, record: undefined }, inTrial(), [{ source: B, ...why }]],
    [{ kind: 'retry-failed', verdict: failed, number: 2, of: 3 }, fallenBack(), [{ source: B, reason: 'crash-loop', number: 2, of: 3 }]],
    [{ kind: 'activate', target: B, fallback: A, wiring: READY }, snapshot(), [{ source: B }]],
    [{ kind: 'restart', record: restartTo(B), from: A, to: B }, snapshot(), [{ from: A, to: B }]],
    [{ kind: 'prove', key: keyOf(B) }, inTrial(), [{ key: keyOf(B) }]],
    [{ kind: 'prove', key: keyOf(B) }, uncompared, [{ key: keyOf(B) }, { unknown: ['serving'] }]],
    [{ kind: 'promote', target: { source: B, content: contentOf(B) }, previous: A }, inTrial(), [{ source: B }]],
    [{ kind: 'forget-fallback', record: 'previous', source: A }, snapshot(), [{ source: A }]],
    [{ kind: 'prune', checkpoints: [{ ...version, savedAtMs: 0 }] }, snapshot(), [version]],
  ]
  for (const [step, facts, expected] of rows) {
    const fields = effectsOf(step as Action, facts).flatMap((effect) => (effect.kind === 'log' ? [effect.fields] : []))
    t.strictSame(fields, expected, (step as Action).kind)
  }
  t.match(told({ kind: 'prove', key: keyOf(B) }, uncompared).slice(1), [
    'warn: the trial passed as requested on the node, although how the node was before is not known',
  ])
  t.match(records({ kind: 'prove', key: keyOf(B) }, uncompared), [{}, { kind: 'clear-request', request: 'promote' }, NO_TRIAL])
})
