import t from 'tap'
import { describeFinding, describeProblem, describeRefusal, refusalReason } from '../../src/preflight/describe-finding.ts'
import type { Finding, Report } from '../../src/preflight/finding.ts'

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

t.test('the field and its place come first', async (t) => {
  t.equal(describeFinding(finding()), 'maxPods (line 4, column 1): -1 must not be negative')
  t.equal(describeFinding(finding({ position: undefined })), 'maxPods: -1 must not be negative')
  t.equal(describeFinding(finding({ path: [] })), 'line 4, column 1: -1 must not be negative')
  t.equal(describeFinding(finding({ path: [], position: undefined })), '-1 must not be negative')
})

t.test('a problem that names its field needs no name in front', async (t) => {
  const named = (path: Finding['path'], problem: string) => describeProblem({ path, problem })
  for (const [path, problem] of [
    [['kubeAPIQPS'], 'kubeAPIQPS (--kube-api-qps) -1 must not be a negative number'],
    [['maxPod'], 'unknown field maxPod: kubelet ignores it'],
    [['maxPods'], 'the same key again: maxPods; the last one counts'],
    [['evictionHard', 'memory.available'], 'the same key again: evictionHard["memory.available"]; the last one counts'],
    [['logging'], 'logging.format must be one of: "text"'],
    [['tlsCipherSuites'], 'tlsCipherSuites[0] is not supported'],
    [[], 'it is empty'],
  ] as const) {
    t.equal(named(path, problem), problem)
    t.equal(describeFinding(finding({ path, problem })), `line 4, column 1: ${problem}`)
  }
})

t.test('a part of a longer name, or a flag, is not the name', async (t) => {
  for (const [path, problem] of [
    [['systemReserved'], 'systemReservedCgroup is missing'],
    [['port'], 'healthzPort is taken, says --port'],
    [['port'], 'unsupported'],
    [['format'], 'logging.format must be one of: "text"'],
    [['maxPods'], 'MaxPods is negative'],
  ] as const)
    t.equal(describeProblem({ path, problem }), `${path[0]}: ${problem}`)
  t.equal(describeProblem({ path: ['port'], problem: '--port or port' }), '--port or port', 'anywhere in it')
})

t.test('a refusal says the first few, each once, and nothing of warnings', async (t) => {
  const many = ['a', 'b', 'c', 'd', 'e'].map((name) => finding({ path: [name], position: undefined, problem: 'no' }))
  t.equal(describeRefusal(report(...many)), 'a: no; b: no; c: no; and 2 more')
  t.equal(describeRefusal(report(...many.slice(0, 3))), 'a: no; b: no; c: no')
  t.equal(describeRefusal(report(finding(), finding({ rule: 'kubelet/load' }))), 'maxPods (line 4, column 1): -1 must not be negative')
  t.equal(
    describeRefusal(report(finding({ severity: 'warn', path: ['x'] }), finding({ path: [], position: undefined, problem: 'no' }))),
    'no',
  )
})

t.test('without a finding, the part that refuses has to say why', async (t) => {
  const parts = [
    { part: 'fields', outcome: 'accepted', detail: 'fine' },
    { part: 'kubelet', outcome: 'refused', detail: 'it says no' },
  ] as const
  t.equal(describeRefusal({ outcome: 'refused', findings: [], parts }), 'it says no')
  t.equal(describeRefusal(report()), 'preflight refuses it')
})

t.test('what cannot be read weighs more than what kubelet would not take', async (t) => {
  t.equal(refusalReason(report(finding())), 'validate')
  t.equal(refusalReason(report(finding(), finding({ reason: 'load' }))), 'load')
  t.equal(refusalReason(report(finding(), finding({ reason: 'load', severity: 'warn' }))), 'validate')
})
