// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { describeFinding, describeProblem, describeRefusal, type Finding, type Report, refusalReason } from '../../src/preflight/finding.ts'

const finding = (fields: Partial<Finding> = {}): Finding => ({
  rule: 'fields/range',
  severity: 'refuse',
  reason: 'validate',
  path: ['maxPods'],
  position: { line: 4, column: 1 },
  problem: '-1 must not be negative',
  advice: undefined,
  ...fields,
})
const report = (...findings: readonly Finding[]): Report => ({ outcome: 'refused', findings, parts: [] })

t.test('the field and its position come first', async (t) => {
  t.equal(describeFinding(finding()), 'maxPods (line 4, column 1): -1 must not be negative')
  t.equal(describeFinding(finding({ position: undefined })), 'maxPods: -1 must not be negative')
  t.equal(describeFinding(finding({ path: [] })), 'line 4, column 1: -1 must not be negative')
  t.equal(describeFinding(finding({ path: [], position: undefined })), '-1 must not be negative')
})

t.test('a long key is cut', async (t) => {
  const path = ['featureGates', 'k'.repeat(1 << 20)]
  const name = `featureGates.${'k'.repeat(67)}…`
  t.equal(describeFinding(finding({ path })), `${name} (line 4, column 1): -1 must not be negative`)
  t.equal(describeProblem({ path, problem: `${name} must be true or false` }), `${name} must be true or false`, 'also in the problem')
})

t.test('a problem that names its field gets no prefix', async (t) => {
  const named = (path: Finding['path'], problem: string) => describeProblem({ path, problem })
  for (const [path, problem] of [
    [['kubeAPIQPS'], 'kubeAPIQPS (--kube-api-qps) -1 must not be a negative number'],
    [['maxPod'], 'unknown field maxPod: kubelet ignores it'],
    [['maxPods'], 'duplicate key maxPods; the last one counts'],
    [['evictionHard', 'memory.available'], 'duplicate key evictionHard["memory.available"]; the last one counts'],
    [['logging'], 'logging.format must be one of: "text"'],
    [['tlsCipherSuites'], 'tlsCipherSuites[0] is not supported'],
    [[], 'the config is empty'],
  ] as const) {
    t.equal(named(path, problem), problem)
    t.equal(describeFinding(finding({ path, problem })), `line 4, column 1: ${problem}`)
  }
})

t.test('a part of a longer name, or a flag, does not count as the name', async (t) => {
  for (const [path, problem] of [
    [['systemReserved'], 'systemReservedCgroup is missing'],
    [['port'], 'healthzPort is taken, says --port'],
    [['port'], 'unsupported'],
    [['format'], 'logging.format must be one of: "text"'],
    [['maxPods'], 'MaxPods is negative'],
  ] as const)
    t.equal(describeProblem({ path, problem }), `${path[0]}: ${problem}`)
  t.equal(describeProblem({ path: ['port'], problem: '--port or port' }), '--port or port', 'the name may be anywhere in the problem')
})

t.test('a refusal lists the first three problems once each, without warnings', async (t) => {
  const many = ['a', 'b', 'c', 'd', 'e'].map((name) => finding({ path: [name], position: undefined, problem: 'no' }))
  t.equal(describeRefusal(report(...many)), 'a: no; b: no; c: no; and 2 more')
  t.equal(describeRefusal(report(...many.slice(0, 3))), 'a: no; b: no; c: no')
  t.equal(describeRefusal(report(finding(), finding({ rule: 'kubelet/load' }))), 'maxPods (line 4, column 1): -1 must not be negative')
  t.equal(
    describeRefusal(report(finding({ severity: 'warn', path: ['x'] }), finding({ path: [], position: undefined, problem: 'no' }))),
    'no',
  )
})

t.test('without a finding, the detail of the refusing part is shown', async (t) => {
  const parts = [
    { part: 'fields', outcome: 'accepted', detail: 'fine' },
    { part: 'kubelet', outcome: 'refused', detail: 'rejected' },
  ] as const
  t.equal(describeRefusal({ outcome: 'refused', findings: [], parts }), 'rejected')
  t.equal(describeRefusal(report()), 'preflight refused the config')
})

t.test('reason load takes precedence over validate', async (t) => {
  t.equal(refusalReason(report(finding())), 'validate')
  t.equal(refusalReason(report(finding(), finding({ reason: 'load' }))), 'load')
  t.equal(refusalReason(report(finding(), finding({ reason: 'load', severity: 'warn' }))), 'validate')
})
