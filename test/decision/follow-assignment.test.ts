// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Channel, ChannelState, Desired } from '../../src/decision/desired.ts'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import { followAssignment, openRecords, recordStaging } from '../../src/decision/follow-assignment.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { assess } from '../../src/decision/target.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import {
  A,
  A_EDITED,
  accepts,
  assignedTo,
  B,
  contentOf,
  dataOf,
  decide,
  hold,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  lost,
  READY_FOR_B,
  runs,
  runsNothing,
  snapshot,
  startsWith,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

t.test('what is wanted', async (t) => {
  t.test('anything but a clear answer changes nothing', async (t) => {
    const { uid: _uid, resourceVersion: _version, ...ref } = B
    const unclear: Desired[] = [
      { kind: 'unknown', detail: 'no answer yet' },
      { kind: 'invalid', detail: 'all were nil' },
      { kind: 'config-map', ref, object: { kind: 'pending' } },
      ...(['not-found', 'forbidden', 'unreachable', 'malformed'] as const).map((reason): Desired => {
        return { kind: 'config-map', ref, object: { kind: 'unavailable', reason, detail: '' } }
      }),
    ]
    for (const desired of unclear) t.match(decide({ desired, desiredContent: undefined }), { kind: 'wait', phase: 'settled' })
  })

  t.test('configSource removed: assigned, last-known-good and previous are local', async (t) => {
    t.same(decide(wants('local')), { kind: 'reset-to-local', from: A, shared: false })
    const half = { ...wants('local'), ...assignedTo('local') }
    t.same(decide(half), { kind: 'reset-to-local', from: 'local', shared: false }, 'a crash on the way there is made good')
    const localBefore = { ...wants('local'), lastKnownGood: hold('local'), previous: hold('local') }
    t.same(decide(localBefore), { kind: 'reset-to-local', from: A, shared: false }, 'also where no fallback was anything else')
    t.same(decide({ ...half, lastKnownGood: hold('local'), previous: hold(B) }), { kind: 'reset-to-local', from: 'local', shared: false })
    const reset = { ...wants('local'), ...LOCAL_EVERYWHERE, ...startsWith(A), ...runs(A) }
    t.match(decide(reset), { kind: 'preflight', source: 'local' }, 'local is a change like any other')
    const accepted = { ...reset, ...accepts('local') }
    t.match(decide(accepted), { kind: 'activate', target: 'local', fallback: undefined })
    t.match(decide({ ...accepted, left: [hold(A)] }), { kind: 'activate', target: 'local', fallback: A })
    t.match(decide({ ...accepted, ...startsWith('local') }), { kind: 'restart', to: 'local' })
  })

  t.test('an edit in place, a new uid, another key: a new version is assigned', async (t) => {
    t.match(decide(wants(A_EDITED)), { kind: 'assign', source: A_EDITED, shared: true })
    const recreated = { ...A, uid: 'uid-of-the-next' }
    t.match(decide(wants(recreated)), { kind: 'assign', source: recreated, shared: true })
    const otherKey = { ...A, kubeletConfigKey: 'other' }
    t.match(decide(wants(otherKey)), { kind: 'assign', source: otherKey, shared: false })
    t.match(decide(wants(B)), { kind: 'assign', source: B, shared: false })
  })

  t.test('only metadata was edited: every record moves on, and nothing restarts', async (t) => {
    const same = contentOf(A)
    const assigned = { ...wants(A_EDITED, same), ...assignedTo(A_EDITED, same) }
    t.match(decide(assigned), { kind: 'activate', target: A_EDITED })
    const activated = { ...assigned, ...startsWith(A_EDITED, same) }
    t.match(decide(activated), { kind: 'promote', target: { source: A_EDITED, content: same }, previous: undefined })
    t.match(decide({ ...activated, lastKnownGood: hold(A_EDITED, same) }), { kind: 'wait', phase: 'settled' })
  })

  t.test('also while systemd does not answer', async (t) => {
    t.match(decide({ ...wants(B), unit: { kind: 'unknown', detail: 'bus' } }), { kind: 'assign', source: B })
    t.match(decide({ ...READY_FOR_B, unit: { kind: 'unknown', detail: 'bus' } }), { kind: 'wait', phase: 'unknown', detail: 'bus' })
  })

  t.test('a reset on the node holds it on local until it is lifted', async (t) => {
    const requests = { hold: 'local', rollback: undefined, retry: false } as const
    t.same(decide({ requests }), { kind: 'reset-to-local', from: A, shared: false })
    t.match(decide({ ...LOCAL_EVERYWHERE, requests, ...wants(A) }), { kind: 'wait', phase: 'settled' })
    t.match(decide({ ...LOCAL_EVERYWHERE, ...wants(A) }), { kind: 'assign', source: A })
  })
})

/** Which channel assigns, and a hash of what the Node itself says. */
function channelState(channel: Channel | undefined, nodeHash?: string): ChannelState {
  return { channel, paused: undefined, problem: undefined, nodeHash }
}

t.test('a change that comes from something that nodes share', async (t) => {
  const change = (to: ConfigSource, by: Channel | undefined, before: ChannelState, nodeHash = 'as before') =>
    ({ desired: { ...wants(to).desired, channelState: channelState(by, nodeHash) }, recordedChannelState: before }) as const
  const selected = channelState('selector', 'as before')
  t.match(decide({ ...wants(B), ...change(B, 'selector', selected) }), { kind: 'assign', shared: true }, 'another ConfigMap wins')
  t.match(
    decide({ ...wants(B), ...change(B, 'default', selected) }),
    { kind: 'assign', shared: true },
    'the winner was deleted: the default',
  )
  const byDefault = channelState('default', 'as before')
  t.match(decide({ ...wants(B), ...change(B, 'selector', byDefault) }), { kind: 'assign', shared: true }, 'a matching one was created')
  t.match(decide({ ...wants(B), ...change(B, 'default', byDefault) }), { kind: 'assign', shared: true }, 'the default is another one')
  const onLocal = { ...LOCAL_EVERYWHERE, ...wants(B), ...change(B, 'selector', channelState(undefined, 'as before')) }
  t.match(decide(onLocal), { kind: 'assign', shared: true }, 'a matching one was created, and the node was local')
  const vanished = { ...wants('local'), ...change('local', undefined, selected) }
  t.same(decide(vanished), { kind: 'reset-to-local', from: A, shared: true }, 'the winner was deleted, and nothing else assigns')
  const half = { ...vanished, ...assignedTo('local') }
  t.same(decide(half), { kind: 'reset-to-local', from: 'local', shared: false }, 'what is half done is not spread again')

  t.test('a word about this Node is not spread', async (t) => {
    const spoken = (to: ConfigSource, by: Channel | undefined, before: ChannelState) => ({
      ...wants(to),
      ...change(to, by, before, 'another'),
    })
    t.match(decide(spoken(B, 'label', selected)), { kind: 'assign', shared: false }, 'a label')
    t.match(decide(spoken(B, 'default', selected)), { kind: 'assign', shared: false }, 'a label that the selector no longer matches')
    t.same(decide(spoken('local', undefined, channelState('label', 'as before'))), { kind: 'reset-to-local', from: A, shared: false })
    t.match(decide(spoken(A_EDITED, 'label', channelState('label', 'as before'))), { shared: true }, 'but an edit is one all the same')
    t.match(decide(spoken(B, 'selector', selected)), { shared: true }, 'and so is the choice of a selector, as the one before was')
    t.match(decide(spoken(B, 'selector', channelState('label', 'as before'))), { shared: false }, 'but not where a label was taken away')
  })

  t.test('nor is the first assignment of a node, nor one after an older agent that recorded less', async (t) => {
    t.match(decide({ ...onLocal, recordedChannelState: undefined }), { kind: 'assign', shared: false })
    t.match(decide({ ...onLocal, recordedChannelState: channelState(undefined) }), { kind: 'assign', shared: false })
    t.match(decide({ ...wants(B), recordedChannelState: selected }), { kind: 'assign', shared: false }, 'nor where the Node was not seen')
    const damaged = { assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined } as const
    t.match(decide({ ...wants(B), ...change(B, 'selector', selected), ...damaged }), { kind: 'assign', shared: false }, 'or nobody knows')
  })

  t.test('a reset on the node, and its end, are not spread', async (t) => {
    const requests = { hold: 'local', rollback: undefined, retry: false } as const
    t.same(decide({ ...wants(A), ...change(A, 'selector', selected), requests }), { kind: 'reset-to-local', from: A, shared: false })
    const held = decide({ ...LOCAL_EVERYWHERE, ...wants(A), ...change(A, 'selector', selected), requests })
    t.match(
      held,
      { kind: 'record-channel', channelState: { channel: 'selector', nodeHash: undefined } },
      'its end is a word about this node',
    )
    const ends = { ...LOCAL_EVERYWHERE, ...wants(A), ...change(A, 'selector', channelState('selector')) }
    t.match(decide(ends), { kind: 'assign', shared: false })
  })

  t.test('what the Node says is recorded once it is followed, so that a download in between changes nothing', async (t) => {
    const { desired } = change(B, 'label', selected, 'another')
    const pending = { ...desired, object: { kind: 'pending' } } as Desired
    const recorded = decide({ desired: pending, desiredContent: undefined, recordedChannelState: selected })
    t.match(recorded, { kind: 'record-channel', channelState: { channel: 'label', nodeHash: 'as before' } })
    const followed = decide({ ...READY_FOR_B, desired, recordedChannelState: channelState('label', 'as before') })
    t.match(followed, { kind: 'record-channel', channelState: { channel: 'label', nodeHash: 'another' } })
    const unseen = decide({ recordedChannelState: selected })
    t.match(
      unseen,
      { kind: 'record-channel', channelState: { channel: 'selector', nodeHash: undefined } },
      'nothing of one that was not seen',
    )
    const silent = { ...LOCAL_EVERYWHERE, desired: { kind: 'local', channelState: channelState(undefined) } } as const
    t.match(decide(silent), { kind: 'wait' }, 'nor where neither the cluster nor a record says anything')
  })
})

t.test('what a config is made of is recorded, for commands that ask nobody', async (t) => {
  const made = {
    mergedFrom: ['base', 'part'],
    fields: [{ path: ['maxPods'], layer: 'part' }],
    computed: [{ field: 'maxPods', value: '110', layer: 'part' }],
  }
  const { mergedFrom: layers, fields, computed } = made
  const before = { ...channelState('label', 'as before'), layers, fields, computed }
  const seen = { channelState: channelState('label', 'as before') }
  const recorded = (desired: Desired, of: ChannelState | undefined) => {
    const step = decide({ desired, recordedChannelState: of })
    if (step.kind !== 'record-channel') return step.kind
    const { channel: _channel, paused: _paused, problem: _problem, nodeHash: _hash, ...rest } = step.channelState
    return rest
  }
  const { desired } = wants(A)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  const merged = { ...desired, ...seen, object: { ...desired.object, ...made } }
  t.strictSame(recorded(merged, channelState('label', 'as before')), { layers, fields, computed })
  t.equal(recorded(merged, before), 'wait', 'once')
  t.strictSame(recorded({ ...desired, ...seen }, before), {}, 'a config that is made of nothing has none')
  const pending: Desired = { ...desired, object: { kind: 'pending' }, channelState: channelState('selector', 'as before') }
  t.strictSame(recorded(pending, before), { layers, fields, computed }, 'what is not known yet changes nothing')
  t.strictSame(recorded(pending, undefined), {}, 'nor is it made up')
  const invalid: Desired = { kind: 'invalid', detail: '', channelState: channelState('selector', 'as before') }
  t.strictSame(recorded(invalid, before), { layers, fields, computed })
  const local = decide({
    ...LOCAL_EVERYWHERE,
    desired: { kind: 'local', channelState: channelState(undefined, 'as before') },
    recordedChannelState: before,
  })
  t.strictSame(local.kind === 'record-channel' && local.channelState, channelState(undefined, 'as before'), 'local is made of nothing')
})

t.test('what this node makes of a ConfigMap is assigned, beside what the cluster has', async (t) => {
  const { desired } = wants(B)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  const rendered = { overlay: 'overlay-hash', data: { kubelet: 'merged' } }
  const assigned = { kind: 'assign', source: B, data: dataOf(B), shared: false }
  t.strictSame(decide(wants(B)), assigned)
  t.strictSame(decide({ ...wants(B), desired: { ...desired, object: { ...desired.object, rendered } } }), {
    ...assigned,
    source: { ...B, overlay: 'overlay-hash' },
    rendered: { kubelet: 'merged' },
  })
})

t.test('a rollout is recorded with what is assigned, and not before', async (t) => {
  const { desired } = wants(B)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  const object = { ...desired.object, rollout: { record: 'record', plan: undefined } }
  const staged = { ...wants(B), desired: { ...desired, object } }
  t.match(recordStaging(assess(snapshot({ ...staged, ...assignedTo(B) }))), { kind: 'record-staging', source: B, object })
  t.equal(recordStaging(assess(snapshot(staged))), undefined)
})

t.test('the same version once more', async (t) => {
  const other = 'other bytes'
  t.test('its checkpoint is gone: saved again', async (t) => {
    const gone = { ...assignedTo(A), assignedContent: undefined, storedContent: undefined }
    t.match(decide(gone), { kind: 'assign', source: A })
    const other = { ...gone, desiredContent: 'other bytes', nextStart: { kind: 'known', held: lost(A) } } as const
    t.match(decide(other), { kind: 'preflight', data: dataOf(A) }, 'but with other content not unjudged, where kubelet starts from it')
  })

  const follow = (facts: Partial<Snapshot>) => followAssignment(assess(snapshot(facts)))
  const judge = { kind: 'preflight', source: A, key: `${other}@kubelet-v1`, data: dataOf(A), fallback: false }
  const acceptsOther = { accepted: new Map([[`${other}@kubelet-v1`, { drain: [] }]]) }

  t.test('its checkpoint is gone, and it has other content', async (t) => {
    const nextStart = { kind: 'known', held: lost(A) } as const
    const gone = { ...wants(A, other), assignedContent: undefined, storedContent: undefined, nextStart }
    t.strictSame(follow(gone), judge)
    t.match(
      follow({ ...gone, running: { ...runs(A).running, content: other } as Snapshot['running'] }),
      { kind: 'assign' },
      'kubelet runs it',
    )
    t.strictSame(follow({ ...gone, ...runsNothing('failed') }), judge, 'nothing runs')
    t.match(follow({ ...gone, nextStart: { kind: 'unknown', detail: '' } }), { kind: 'assign' }, 'nothing can start from it')
    const requests = { hold: 'paused', rollback: undefined, retry: false } as const
    t.match(follow({ ...gone, requests, ...acceptsOther }), { kind: 'assign' }, 'a pause does not keep kubelet from starting again')
  })

  const restored = { ...wants(A, other) }
  t.test('with other content: nothing is done while what is needed for it is not known', async (t) => {
    t.strictSame(follow(restored), judge)
    t.strictSame(
      follow({ ...restored, running: { ...runs(A).running, content: other } as Snapshot['running'] }),
      judge,
      'also while it runs',
    )
    t.equal(follow({ ...restored, unit: { kind: 'unknown', detail: 'bus' } }), undefined, 'systemd does not answer')
    t.equal(follow({ ...restored, nextStart: { kind: 'unknown', detail: '' } }), undefined, 'what kubelet starts with')
  })

  t.test('with other content that was refused: judged again once what the refusal rests on has changed', async (t) => {
    const judgedOther = (state: 'refused' | 'provisional', basis: string | undefined, before: string) =>
      follow({ ...restored, basis, ...judged(verdict(A, state, { key: `${other}@kubelet-v1`, basis: before })) })
    t.strictSame(judgedOther('refused', 'today', 'yesterday'), judge)
    t.equal(judgedOther('refused', 'today', 'today'), undefined)
    t.equal(judgedOther('refused', undefined, 'yesterday'), undefined, 'preflight is not available')
    t.equal(judgedOther('provisional', 'today', 'yesterday'), undefined, 'what has failed is no matter of preflight')
  })
  t.test('with other content, as after a restored etcd: judged first, since kubelet may start from it at any time', async (t) => {
    t.match(decide(restored), { kind: 'preflight', source: A, key: `${other}@kubelet-v1`, data: dataOf(A) })
    t.match(decide({ ...restored, accepted: new Map([[`${other}@kubelet-v1`, { drain: [] }]]) }), {
      kind: 'assign',
      source: A,
      shared: true,
    })
  })

  t.test('with other content during a pause: kubelet may start from it, so it stays as it is', async (t) => {
    const accepted = { ...restored, accepted: new Map([[`${other}@kubelet-v1`, { drain: [] }]]) }
    const requests = { hold: 'paused', rollback: undefined, retry: false } as const
    t.match(decide({ ...accepted, requests }), { kind: 'wait' })
  })

  t.test('with other content that needs a drained node: stored where kubelet starts from it once the node is drained', async (t) => {
    const accepted = { ...restored, accepted: new Map([[`${other}@kubelet-v1`, { drain: ['cpuManagerPolicy'] }]]) }
    t.not(decide({ ...accepted, drained: false }).kind, 'assign')
    t.not(decide({ ...accepted, drained: undefined }).kind, 'assign')
    t.match(decide({ ...accepted, drained: true }), { kind: 'assign', source: A })
    const managers = new Map([[`${other}@kubelet-v1`, { drain: ['cpuManagerPolicy'], managers: ['cpuManagerPolicy'] }]])
    const changing = { ...restored, accepted: managers, drained: true }
    t.not(decide(changing).kind, 'assign', 'it is not known whether a pod has CPUs')
    t.match(decide({ ...changing, exclusives: { kind: 'none' } }), { kind: 'assign', source: A })
  })

  t.test('while nobody knows what kubelet starts with: not now', async (t) => {
    const accepted = {
      ...restored,
      accepted: new Map([
        [keyOf(A), { drain: [] }],
        [`${other}@kubelet-v1`, { drain: [] }],
      ]),
      nextStart: { kind: 'unknown', detail: '' },
    } as const
    t.not(decide({ ...accepted, unit: { kind: 'unknown', detail: 'bus' } }).kind, 'assign', 'systemd does not answer')
    const wiring = { kind: 'broken', reason: 'daemon-reload-needed', detail: '' } as const
    t.not(
      decide({ ...accepted, accepted: new Map([[keyOf(A), { drain: [] }]]), unit: unit({ wiring }) }).kind,
      'assign',
      'the unit may read kubelet.env or not',
    )
  })

  t.test('refused: what runs stays', async (t) => {
    const refused = judged(verdict(A, 'refused', { key: `${other}@kubelet-v1` }))
    t.match(decide({ ...restored, ...refused }), { kind: 'wait', phase: 'settled' })
  })

  t.test('whatever was assigned: kubelet starts from it', async (t) => {
    const damaged = { assigned: { kind: 'damaged', detail: 'garbage' }, assignedContent: undefined } as const
    for (const before of [damaged, assignedTo(B), assignedTo('local')]) {
      t.match(decide({ ...restored, ...before }), { kind: 'preflight', source: A, data: dataOf(A) })
      const refused = judged(verdict(A, 'refused', { key: `${other}@kubelet-v1` }))
      t.not(decide({ ...restored, ...before, ...refused }).kind, 'assign')
      const same = { ...wants(A), ...before, unit: unit({ wiring: { kind: 'broken', reason: 'overridden', detail: '' } }) } as const
      t.match(decide({ ...same, nextStart: { kind: 'unknown', detail: '' } }), { kind: 'assign' }, 'what differs in nothing needs no judge')
    }
    const otherKey = { ...A, kubeletConfigKey: 'other' }
    t.match(decide({ ...wants(otherKey, other) }), { kind: 'preflight', source: otherKey }, 'nor does it matter which of its keys')
  })

  t.test('nothing starts from it: saved at once, and judged before it is activated', async (t) => {
    t.match(decide({ ...restored, ...startsWith(B), ...runs(B) }), { kind: 'assign', source: A })
  })
})

const FRESH: Partial<Snapshot> = {
  assigned: { kind: 'source', source: 'local', absent: true },
  assignedContent: hold('local').content,
  lastKnownGood: hold('local'),
  previous: hold('local'),
  ...startsWith('local'),
  ...runs('local'),
}

t.test('a node that nothing was assigned to yet shows that in its directory', async (t) => {
  for (const [what, desired] of [
    ['nothing is assigned', wants('local')],
    ['something is', wants(B)],
    ['the API server has not answered', { desired: { kind: 'unknown', detail: 'no answer' } }],
  ] as const) {
    const fresh = snapshot({ ...FRESH, ...desired })
    const step = nextStep(fresh)
    t.same(step, { kind: 'open-records', lastKnownGood: 'local' }, what)
    if (step.kind === 'wait') continue
    const written = effectsOf(step, fresh).flatMap((effect) => (effect.kind === 'put' ? [[effect.record, effect.value]] : []))
    t.same(written, [
      ['last-known-good', 'local'],
      ['assigned', 'local'],
    ])
  }
})

t.test('a last-known-good that is still there is kept', async (t) => {
  t.same(openRecords(assess(snapshot({ ...FRESH, lastKnownGood: hold(A) }))), { kind: 'open-records', lastKnownGood: A })
})

t.test('one that is damaged is kept, too', async (t) => {
  t.equal(openRecords(assess(snapshot({ ...FRESH, damagedFallbacks: ['last-known-good'] }))), undefined)
})

t.test('no record is written where it may have been lost, or is there', async (t) => {
  for (const [what, changes] of Object.entries({
    'it is there': { assigned: { kind: 'source', source: 'local' } },
    'kubelet runs a checkpoint': runs(A),
    'kubelet starts with a checkpoint': startsWith(A),
    'kubelet does not run': runsNothing('stopped'),
    'what kubelet starts with is not known': { nextStart: { kind: 'unknown', detail: 'unreadable' } },
    'systemd does not answer': { unit: { kind: 'unknown', detail: 'timeout' }, running: { kind: 'unknown', detail: 'timeout' } },
  } as const satisfies Record<string, object>)) {
    t.equal(openRecords(assess(snapshot({ ...FRESH, ...(changes as Partial<Snapshot>) }))), undefined, what)
  }
})
