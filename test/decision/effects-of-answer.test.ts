// SPDX-License-Identifier: Apache-2.0
/** What is written and told once preflight or systemd has answered. */
import t from 'tap'
import type { Effect } from '../../src/decision/effects.ts'
import { effectsOfPreflight, effectsOfRestart, missingCheckpoint, type PreflightAnswer } from '../../src/decision/effects-of-answer.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { StepOf } from '../../src/decision/step.ts'
import type { PreflightResult } from '../../src/decision/verdict.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { A, accepts, B, BOOT, contentOf, health, judged, keyOf, NOW_US, restartTo, snapshot, verdict } from './snapshots.ts'

const AT = { bootId: BOOT, monotonicUs: NOW_US, wallMs: 7 }
const ACCEPTED = { kind: 'accepted', remarks: [], drain: [] } as const
/** B, with which the node resets, is tried again. */
const RESETS = verdict(B, 'provisional', { reason: 'reboots', doubtful: true, retrials: 2, suspended: true })
const REFUSED = { kind: 'refused', reason: 'validate', detail: 'maxPods: must not be negative' } as const

function stepFor(source: ConfigSource): StepOf<'preflight'> {
  return { kind: 'preflight', source, key: keyOf(source), data: undefined, fallback: false }
}

function answered(result: PreflightResult, facts: Partial<Snapshot> = {}, source: ConfigSource = B, answer: Partial<PreflightAnswer> = {}) {
  return effectsOfPreflight(stepFor(source), { result, basis: 'basis-1', at: AT, ...answer }, snapshot(facts))
}

function remembers(acceptance: object, source: ConfigSource = B): Effect {
  return { kind: 'remember-acceptance', key: keyOf(source), acceptance: { drain: [], basis: 'basis-1', ...acceptance } }
}

function refuses(fields: object = {}, source: ConfigSource = B): Effect {
  const { kind: _kind, ...why } = REFUSED
  const written = { key: keyOf(source), state: 'refused', ...why, source, atWallMs: 7, basis: 'basis-1', ...fields } as const
  return { kind: 'write-verdict', verdict: written }
}

function logs(level: 'info' | 'warn' | 'error', message: string, source: ConfigSource = B): Effect {
  return { kind: 'log', level, message, fields: { source } }
}

t.test('a config that preflight accepts', (t) => {
  const wasRefused = judged(verdict(B, 'refused'))
  const lifted = 'preflight accepts what it had refused'
  const wasAccepted = accepts(B)
  const warns = { ...ACCEPTED, remarks: ['swap is on'], drain: ['cpuManagerPolicy'] }
  const cases: readonly (readonly [string, readonly Effect[], readonly Effect[]])[] = [
    ['it is remembered', answered(ACCEPTED), [remembers({})]],
    [
      'with its remarks, and the fields that need a drained node',
      answered(warns),
      [logs('warn', 'swap is on'), remembers({ remarks: ['swap is on'], drain: ['cpuManagerPolicy'] })],
    ],
    ['a remark is told once', answered(warns, wasAccepted), [remembers({ remarks: ['swap is on'], drain: ['cpuManagerPolicy'] })]],
    [
      'with the fields that it changes in what runs',
      answered({ ...ACCEPTED, changed: ['maxPods'] }),
      [remembers({ changes: { from: contentOf(A), fields: ['maxPods'] } })],
    ],
    ['of which nothing is known', answered({ ...ACCEPTED, changed: ['maxPods'] }, { running: { kind: 'none' } }), [remembers({})]],
    [
      'with the local config that was checked',
      answered(ACCEPTED, {}, 'local', { localConfig: 'hash' }),
      [remembers({ localConfig: 'hash' }, 'local')],
    ],
    [
      'it had been refused',
      answered(ACCEPTED, wasRefused),
      [
        remembers({}),
        { kind: 'append-history', transition: { kind: 'retrying', from: undefined, to: B, why: lifted } },
        logs('info', lifted),
        { kind: 'remove-verdict', key: keyOf(B) },
      ],
    ],
    [
      'it had been refused while it was tried again',
      answered(ACCEPTED, judged(verdict(B, 'refused', { former: { ...RESETS, key: 'as named by an earlier agent' } }))),
      [
        remembers({}),
        { kind: 'append-history', transition: { kind: 'retrying', from: undefined, to: B, why: lifted } },
        logs('info', lifted),
        { kind: 'write-verdict', verdict: RESETS },
      ],
    ],
    ['it had failed, and that verdict stays', answered(ACCEPTED, judged(verdict(B, 'confirmed'))), [remembers({})]],
  ]
  for (const [what, actual, expected] of cases) t.strictSame(actual, expected, what)
  t.strictSame(answered({ kind: 'pending' }), [], 'preflight has not ended')
  t.end()
})

t.test('a config that preflight refuses', (t) => {
  const forgets = (source: ConfigSource = B): Effect => ({ kind: 'forget-acceptance', key: keyOf(source) })
  const rejects = (source: ConfigSource = B): Effect => ({
    kind: 'append-history',
    transition: { kind: 'rejected', from: source, to: undefined, why: REFUSED.detail },
  })
  const merged = { ...B, overlay: 'o1' }
  const same = judged(verdict(B, 'refused', { detail: REFUSED.detail }))
  const cases: readonly (readonly [string, readonly Effect[], readonly Effect[]])[] = [
    [
      'it is written down, and told',
      answered(REFUSED),
      [forgets(), rejects(), logs('error', `failed to validate config: ${REFUSED.detail}`), refuses()],
    ],
    ['the same again is only written down', answered(REFUSED, same), [forgets(), refuses()]],
    [
      'for another reason than before',
      answered(REFUSED, judged(verdict(B, 'refused'))),
      [forgets(), rejects(), logs('error', `failed to validate config: ${REFUSED.detail}`), refuses()],
    ],
    [
      'it had failed with the same words',
      answered(REFUSED, judged(verdict(B, 'confirmed', { detail: REFUSED.detail }))),
      [forgets(), rejects(), logs('error', `failed to validate config: ${REFUSED.detail}`), refuses()],
    ],
    [
      'it is tried again, and none of its tries is lost',
      answered(REFUSED, { suspendedVerdicts: new Map([[keyOf(B), RESETS]]) }),
      [forgets(), rejects(), logs('error', `failed to validate config: ${REFUSED.detail}`), refuses({ former: RESETS })],
    ],
    [
      'the same, once more',
      answered(REFUSED, judged(verdict(B, 'refused', { detail: REFUSED.detail, former: RESETS }))),
      [forgets(), refuses({ former: RESETS })],
    ],
    [
      'it had failed as everything had',
      answered(REFUSED, judged(verdict(B, 'provisional', { retrials: 2 }))),
      [
        forgets(),
        rejects(),
        logs('error', `failed to validate config: ${REFUSED.detail}`),
        refuses({ former: verdict(B, 'provisional', { retrials: 2 }) }),
      ],
    ],
    [
      'the local config',
      answered({ ...REFUSED, reason: 'load' }, {}, 'local', { localConfig: 'hash' }),
      [
        forgets('local'),
        rejects('local'),
        logs('error', `failed to load local config: ${REFUSED.detail}`, 'local'),
        refuses({ reason: 'load', localConfig: 'hash' }, 'local'),
      ],
    ],
    [
      'one that is merged on this node',
      answered(REFUSED, {}, merged),
      [
        forgets(merged),
        rejects(merged),
        logs('error', `failed to validate config, as this node merges it: ${REFUSED.detail}`, merged),
        refuses({}, merged),
      ],
    ],
  ]
  for (const [what, actual, expected] of cases) t.strictSame(actual, expected, what)
  t.end()
})

t.test('a restart that was requested', (t) => {
  const record = restartTo(B, { outcome: undefined })
  const earlier = [restartTo(A)]
  const command = (facts: object = {}) =>
    ({ kind: 'restart-kubelet', record, earlier, health: health(A, { restartDueUntilUs: 9 }), ...facts }) as const
  const written = (ok: boolean, detail: string, late: { mayBeTaken?: boolean } = {}): readonly Effect[] => {
    const done = { ...record, outcome: { ok, detail, ...late } }
    return [
      { kind: 'put', record: 'restarts', value: [...earlier, done] },
      { kind: 'put', record: 'last-restart', value: done },
    ]
  }
  const told: Effect = { kind: 'log', level: 'error', message: 'systemd refused to restart kubelet', fields: { detail: 'no bus' } }
  const refused = { ok: false, detail: 'no bus' } as const
  const notDue: Effect = { kind: 'put', record: 'health', value: health(A, { restartDueUntilUs: undefined }) }
  t.strictSame(effectsOfRestart(command(), { ok: true }), written(true, ''))
  t.strictSame(effectsOfRestart(command(), refused), [...written(false, 'no bus'), notDue, told], 'the next start is not the agent’s')
  t.strictSame(
    effectsOfRestart(command(), { ...refused, mayBeTaken: true }),
    [...written(false, 'no bus', { mayBeTaken: true }), told],
    'systemd may do it all the same',
  )
  t.strictSame(effectsOfRestart(command({ health: undefined }), refused), [...written(false, 'no bus'), told], 'no health is known')
  t.end()
})

t.test('a checkpoint that preflight cannot read', (t) => {
  t.equal(
    missingCheckpoint(stepFor(B)).message,
    'the checkpoint of kube-system/b:kubelet@1 cannot be read; it is downloaded again if the cluster has it',
  )
  t.end()
})
