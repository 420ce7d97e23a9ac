// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { FIELDS, isKnown, NEWEST_MINOR } from '../../../src/kubelet/fields.ts'
import { findGateState } from '../../../src/preflight/fields/check-gates.ts'
import { weigh } from '../../../src/preflight/fields/complaint.ts'
import { checkPolicyOptions } from '../../../src/preflight/fields/policy-options.ts'
import { v } from '../change/configs.ts'

function verdicts(config: Readonly<Record<string, unknown>>, minor: number | undefined): string[] {
  const version = minor === undefined ? undefined : v(minor)
  const complaints = checkPolicyOptions({ config, version, gate: (name) => findGateState(name, config, minor) })
  return complaints.flatMap((complaint) => {
    const severity = weigh(complaint, minor)
    return severity === undefined ? [] : [`${severity} ${complaint.rule} ${complaint.path.join('.')}`]
  })
}

const gates = (...names: string[]) => ({ featureGates: Object.fromEntries(names.map((name) => [name, true])) })
const ALL = gates(
  ...['CPUManagerPolicyOptions', 'CPUManagerPolicyAlphaOptions', 'CPUManagerPolicyBetaOptions'],
  ...['TopologyManagerPolicyOptions', 'TopologyManagerPolicyAlphaOptions', 'TopologyManagerPolicyBetaOptions'],
)
type Kind = (options: object, more?: object) => Readonly<Record<string, unknown>>
const cpu: Kind = (options, more = {}) => ({ cpuManagerPolicy: 'static', cpuManagerPolicyOptions: options, ...more })
const topology: Kind = (options, more = {}) => ({
  topologyManagerPolicy: 'restricted',
  topologyManagerPolicyOptions: options,
  ...more,
})

/** The first minor that knows the option, and the one from which on it needs no gate. */
const OPTIONS: readonly (readonly [name: string, kind: Kind, since: number, on: number])[] = [
  ['full-pcpus-only', cpu, 22, 23],
  ['distribute-cpus-across-numa', cpu, 23, 33],
  ['align-by-socket', cpu, 25, 99],
  ['distribute-cpus-across-cores', cpu, 31, 99],
  ['strict-cpu-reservation', cpu, 32, 33],
  ['prefer-align-cpus-by-uncorecache', cpu, 32, 34],
  ['prefer-closest-numa-nodes', topology, 26, 28],
]

t.test('each option by the versions that know it, and that have it on', async (t) => {
  for (const [name, kind, since, on] of OPTIONS) {
    for (let minor = kind === cpu ? 22 : 26; minor <= NEWEST_MINOR; minor += 1) {
      const what = `${name} in 1.${minor}`
      t.equal(verdicts(kind({ [name]: 'true' }, ALL), minor).length, minor < since ? 1 : 0, `${what}, with every gate`)
      t.equal(verdicts(kind({ [name]: 'true' }), minor).length, minor < on ? 1 : 0, what)
      if (minor >= since) t.equal(verdicts(kind({ [name]: 'maybe' }, ALL), minor).length, 1, `${what}: no boolean`)
    }
  }
  t.equal(isKnown(FIELDS.cpuManagerPolicyOptions, 21), false)
  t.same(verdicts(cpu({ nope: 'true' }), 21), [])
  t.same(verdicts(topology({ nope: 'true' }), 25), [])
})

t.test('beta options can be turned off, and stable ones cannot', async (t) => {
  const off = { featureGates: { CPUManagerPolicyBetaOptions: false } }
  t.same(verdicts(cpu({ 'full-pcpus-only': 'true' }, off), 32), ['refuse cross cpuManagerPolicyOptions.full-pcpus-only'])
  t.same(verdicts(cpu({ 'full-pcpus-only': 'true' }, off), 33), [])
})

t.test('the policy none of the CPU manager takes no options', async (t) => {
  const config = { cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' } }
  t.same(verdicts(config, 36), ['refuse cross cpuManagerPolicyOptions'])
  t.same(verdicts({ ...config, cpuManagerPolicy: 'none' }, 23), ['refuse cross cpuManagerPolicyOptions'])
  t.same(verdicts(config, undefined), ['warn cross cpuManagerPolicyOptions'])
  t.same(verdicts(config, 21), [])
  t.same(verdicts({ cpuManagerPolicyOptions: {} }, 36), [])
  t.same(verdicts({ ...config, featureGates: { CPUManager: false } }, 23), [], 'there is no CPU manager')
})

t.test('options of the CPU manager that exclude each other', async (t) => {
  const both = { 'full-pcpus-only': 'true', 'distribute-cpus-across-cores': 'true' }
  t.same(verdicts(cpu(both, ALL), 31), ['refuse cross cpuManagerPolicyOptions.full-pcpus-only'])
  t.same(verdicts(cpu({ ...both, 'full-pcpus-only': 'false' }, ALL), 31), [])
  const socket = cpu({ 'align-by-socket': 'true' }, { ...ALL, topologyManagerPolicy: 'single-numa-node' })
  t.same(verdicts(socket, 30), ['refuse cross cpuManagerPolicyOptions.align-by-socket'])
})

t.test('options of the topology manager count only with a policy, from 1.28 on', async (t) => {
  const none = { topologyManagerPolicyOptions: { nope: 'true' } }
  t.same(verdicts(none, 28), [])
  t.same(verdicts({ ...none, ...ALL }, 27), ['refuse value topologyManagerPolicyOptions.nope'])
  t.same(verdicts(none, 27), ['refuse cross topologyManagerPolicyOptions'], 'the gate is off')
})

t.test('the most NUMA nodes', async (t) => {
  const check = (value: string, minor = 36) => verdicts(topology({ 'max-allowable-numa-nodes': value }), minor)
  for (const value of ['8', '+16', '64']) t.same(check(value), [])
  for (const value of ['7', '-1', 'many', '8.5', '']) t.equal(check(value).length, 1, value)
  t.same(check('8', 30), ['refuse value topologyManagerPolicyOptions.max-allowable-numa-nodes'])
  t.same(check('8', 31), [])
})
