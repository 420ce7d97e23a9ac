// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { LAST_IN_TABLES } from '../../../src/kubelet/fields.ts'
import { isGateOn, listGates, listNeedy, needsOf, periodsOf, stateOf } from '../../../src/kubelet/gates.ts'
import { checkGates } from '../../../src/preflight/fields/check-gates.ts'
import type { FieldProblem } from '../../../src/preflight/fields/complaint.ts'

const MINORS = Array.from({ length: LAST_IN_TABLES.minor + 1 - 20 }, (_, index) => 20 + index)

function check(featureGates: Record<string, unknown>, minor: number): FieldProblem[] {
  return checkGates({ config: { featureGates }, version: { major: 1, minor, patch: 0 }, gate: () => undefined })
}

t.test('a gate has periods, each with its state', async (t) => {
  t.strictSame(periodsOf('CPUManager'), [
    { from: 20, state: { stage: 'beta', on: true, locked: false } },
    { from: 26, state: { stage: 'ga', on: true, locked: true } },
    { from: 33, state: undefined },
  ])
  t.strictSame(periodsOf('NoSuchGate'), [])
  t.strictSame(stateOf('GitRepoVolumeDriver', 36), { stage: 'deprecated', on: false, locked: true })
  t.equal(stateOf('NodeSwap', 21), undefined)
  t.equal(stateOf('CPUManager', 33), undefined)
})

t.test('a gate is as the config sets it, or its group, or as its default', async (t) => {
  const alpha = { stage: 'alpha', on: false, locked: false } as const
  const beta = { stage: 'beta', on: true, locked: false } as const
  t.notOk(isGateOn('X', alpha, {}))
  t.ok(isGateOn('X', alpha, { AllAlpha: true }))
  t.notOk(isGateOn('X', alpha, { AllAlpha: true, X: null }), 'null means false')
  t.notOk(isGateOn('X', alpha, { AllBeta: true }))
  t.notOk(isGateOn('X', beta, { AllBeta: false }))
  t.ok(isGateOn('X', { ...beta, stage: 'ga' }, { AllBeta: false, AllAlpha: false }))
})

t.test('what a gate needs depends on the version', async (t) => {
  const name = 'InPlacePodVerticalScalingExclusiveMemory'
  t.strictSame(needsOf(name, 34), [])
  t.strictSame(needsOf(name, 35), ['InPlacePodVerticalScaling', 'MemoryManager'])
  t.strictSame(needsOf(name, 36), ['InPlacePodVerticalScaling'])
  t.strictSame(needsOf('NodeSwap', 36), [])
})

t.test('every minor accepts each of its gates at its default, and no other gate', async (t) => {
  const wrong = MINORS.flatMap((minor) =>
    listGates().flatMap((name) => {
      const state = stateOf(name, minor)
      const refusals = check({ [name]: state?.on ?? true }, minor).filter(({ severity }) => severity !== 'warn')
      return refusals.length === (state === undefined ? 1 : 0) ? [] : [`1.${minor} ${name}`]
    }),
  )
  t.strictSame(wrong, [])
})

t.test('every minor refuses to change a locked gate, and a gate that lacks what it needs', async (t) => {
  const locked = MINORS.flatMap((minor) =>
    listGates().flatMap((name) => {
      const state = stateOf(name, minor)
      return state?.locked === true ? [{ minor, name, rules: check({ [name]: !state.on }, minor).map(({ rule }) => rule) }] : []
    }),
  )
  t.ok(locked.length > 300)
  for (const { minor, name, rules } of locked) if (!rules.includes('gate-locked')) t.fail(`1.${minor} ${name}: ${rules}`)
  for (const name of listNeedy())
    for (const need of needsOf(name, 36)) {
      const found = check({ [name]: true, [need]: false }, 36).filter(({ rule }) => rule === 'gate-needs')
      if (stateOf(name, 36) !== undefined)
        t.ok(
          found.some(({ problem }) => problem.startsWith(`${name} is enabled`)),
          `${name} ${need}`,
        )
    }
})

t.test('unknown gates share the list of those that are known', async (t) => {
  const gates = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`NoSuchGate${index}`, true]))
  t.equal(new Set(check(gates, 36).flatMap(({ mistyped }) => (mistyped ? [mistyped.known] : []))).size, 1)
})

t.test('a gate that is missing is named where the config can change it', async (t) => {
  const found = check({ GracefulNodeShutdown: false }, 35)
  t.strictSame(
    found.map(({ rule, path }) => [rule, ...path]),
    Array(2).fill(['gate-needs', 'featureGates', 'GracefulNodeShutdown']),
  )
  t.equal(
    found[0]?.problem,
    'GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are disabled: [GracefulNodeShutdown]',
  )
  t.match(check({ StorageVersionAPI: true, APIServerIdentity: false }, 35), [{ path: ['featureGates', 'StorageVersionAPI'] }])
  t.match(check({ AllBeta: false, AllAlpha: true }, 35)[0], { rule: 'gate-needs', path: ['featureGates', 'AllAlpha'] })
})
