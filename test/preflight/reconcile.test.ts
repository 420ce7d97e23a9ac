import t from 'tap'
import type { Finding } from '../../src/preflight/finding.ts'
import type { PartReport } from '../../src/preflight/inspection.ts'
import { type NamedReport, nameField, reconcileWithKubelet } from '../../src/preflight/reconcile.ts'

const finding = (rule: string, path: Finding['path'], problem: string, fields: Partial<Finding> = {}): Finding => ({
  rule,
  severity: 'refuse',
  reason: 'validate',
  path,
  position: undefined,
  problem,
  advice: 'remove it',
  ...fields,
})
const report = (outcome: PartReport['outcome'], ...findings: readonly Finding[]): PartReport => ({ outcome, detail: 'refused', findings })
const reconcile = (fields: PartReport, kubelet: PartReport): { fields: PartReport | undefined; kubelet: PartReport | undefined } => {
  const reports: readonly NamedReport[] = reconcileWithKubelet([
    { part: 'fields', report: fields },
    { part: 'kubelet', report: kubelet },
  ])
  const reportOf = (name: string) => reports.find(({ part }) => part === name)?.report
  return { fields: reportOf('fields'), kubelet: reportOf('kubelet') }
}

const UNKNOWN = finding('fields/gate-unknown', ['featureGates', 'Foo'], 'unrecognized feature gate: Foo')
const RANGE = finding('fields/range', ['maxPods'], 'maxPods (--max-pods) -1 must not be a negative number')
const kubeletSays = (message: string, reason: Finding['reason'] = 'validate') =>
  report('refused', finding('kubelet/load', [], message, { reason }))

t.test('an unknown gate that kubelet accepts is only a warning', async (t) => {
  const { fields } = reconcile(report('refused', UNKNOWN), report('accepted'))
  t.match(fields, {
    outcome: 'accepted',
    findings: [{ rule: 'fields/gate-unknown', severity: 'warn', problem: /Foo, but this kubelet accepts it/, advice: undefined }],
  })
})

t.test('a gate that the tables call gone, too new or locked is a warning if kubelet accepts it', async (t) => {
  for (const rule of ['fields/gate-gone', 'fields/gate-too-new', 'fields/gate-locked', 'fields/gate-needs']) {
    const { fields } = reconcile(report('refused', { ...UNKNOWN, rule }), report('accepted'))
    t.match(fields, { outcome: 'accepted', findings: [{ rule, severity: 'warn' }] })
  }
})

t.test('no other rule yields to kubelet: it checks some fields only at start', async (t) => {
  const { fields } = reconcile(report('refused', UNKNOWN, RANGE), report('accepted'))
  t.match(fields, { outcome: 'refused', findings: [{ severity: 'warn' }, { severity: 'refuse' }] })
  const late = finding('fields/value', ['systemReserved', 'gpu'], 'cannot reserve "gpu" resource')
  t.same(reconcile(report('refused', late), report('accepted')).fields, report('refused', late))
})

t.test('a missing or unjudged result of kubelet changes nothing', async (t) => {
  for (const outcome of ['unjudged', 'cannot-start'] as const)
    t.same(reconcile(report('refused', UNKNOWN), report(outcome)).fields, report('refused', UNKNOWN))
  const alone = [{ part: 'fields', report: report('refused', UNKNOWN) }]
  t.same(reconcileWithKubelet(alone), alone)
  t.same(reconcileWithKubelet([]), [])
})

t.test('a problem that both find is reported once, and kubelet is still quoted', async (t) => {
  const message = 'invalid configuration: maxPods (--max-pods) -1 must not be a negative number'
  const { fields, kubelet } = reconcile(report('refused', RANGE), kubeletSays(message))
  t.same(fields, report('refused', RANGE))
  t.same(kubelet, { outcome: 'refused', detail: `refused either: ${message}`, findings: [] })
})

t.test('the same if kubelet words it differently, or reports several errors at once', async (t) => {
  const port = finding('fields/range', ['port'], 'port (--port) 0 must be between 0 and 65535')
  t.same(
    reconcile(report('refused', port), kubeletSays('invalid configuration: port (--port) 0 must be between 1 and 65535')).kubelet?.findings,
    [],
  )
  const both = '[invalid configuration: maxPods -1 is negative, invalid configuration: port 0 is none]'
  t.same(reconcile(report('refused', port, RANGE), kubeletSays(both)).kubelet?.findings, [])
  const gate = 'failed to set feature gates from initial flags-based config: unrecognized feature gate: Foo'
  t.same(reconcile(report('refused', UNKNOWN), kubeletSays(gate)).kubelet?.findings, [], 'without a field name, by the text')
})

t.test('an error that only kubelet finds stays', async (t) => {
  for (const said of [
    kubeletSays('invalid configuration: eventBurst -1 is negative'),
    kubeletSays('[invalid configuration: maxPods -1 is negative, invalid configuration: eventBurst -1 is negative]'),
    kubeletSays('unknown tls version "TLS1.2"'),
    kubeletSays('invalid configuration: maxPods -1 is negative', 'load'),
    kubeletSays('invalid configuration: maxPods -1 is negative, inva...'),
    kubeletSays(''),
  ])
    t.same(reconcile(report('refused', RANGE), said).kubelet, said)
  const warned = report('accepted', { ...RANGE, severity: 'warn' })
  const said = kubeletSays('invalid configuration: maxPods -1 is negative')
  t.same(reconcile(warned, said).kubelet, said, 'a warning does not replace a refusal')
})

t.test('the field that a message names', async (t) => {
  t.same(nameField('invalid configuration: port (--port) -1 must be between 1 and 65535'), ['port'])
  t.same(nameField('[invalid configuration: eventBurst -1'), ['eventBurst'])
  t.same(nameField('unable to parse reservedSystemCPUs (--reserved-cpus)'), ['reservedSystemCPUs'])
  t.same(nameField('the address of this port is bad'), [], 'an English word is not a field name')
  t.same(nameField('toString constructor'), [])
})
