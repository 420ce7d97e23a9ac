// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Finding } from '../../src/preflight/finding.ts'
import { type NamedReport, nameField, reconcileWithKubelet } from '../../src/preflight/inspect.ts'
import type { PartReport } from '../../src/preflight/inspection.ts'

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

t.test('a kubelet that is newer than the tables judges by itself', async (t) => {
  const newer = (ownWord: 'warn' | 'refuse', ...findings: readonly Finding[]): PartReport => ({
    ...report('refused', ...findings),
    ownWord,
  })
  const accepted = (...ignored: readonly string[]): PartReport => ({ ...report('accepted'), ignored })
  const late = finding('fields/value', ['systemReserved', 'gpu'], 'cannot reserve "gpu" resource', { isAtStart: true })
  t.match(reconcile(newer('warn', RANGE), accepted()).fields, { outcome: 'accepted', findings: [{ rule: RANGE.rule, severity: 'warn' }] })
  t.match(reconcile(newer('warn', late), accepted()).fields, { outcome: 'refused', findings: [late] }, 'not asked for that')
  const unsettled = { ...UNKNOWN, severity: 'warn', isUnsettled: true } as const
  t.strictSame(reconcile(newer('warn', unsettled), accepted()).fields?.findings, [], 'it takes the gate')
  const open = { ...late, severity: 'warn', isUnsettled: true } as const
  t.match(reconcile(newer('warn', open), accepted()).fields, { outcome: 'accepted', findings: [open] }, 'nor here, so it stays a warning')
  const guard = finding('guard/content-type', ['contentType'], 'kubelet 1.39 does not register with it')
  t.match(reconcile(newer('warn', guard), accepted()).fields, { outcome: 'refused', findings: [guard] })
})

t.test('a field that the tables lack is unknown only where such a kubelet says so', async (t) => {
  const remark = finding('fields/unlisted-key', ['memory', 'foo'], 'memory.foo is not in the tables', { severity: 'warn' })
  const fields = (ownWord: 'warn' | 'refuse'): PartReport => ({ outcome: 'unjudged', detail: '', findings: [remark], ownWord })
  const settle = (ownWord: 'warn' | 'refuse', ignored: readonly string[] | undefined) =>
    reconcile(fields(ownWord), { ...report('accepted'), ignored }).fields
  t.match(settle('warn', []), { outcome: 'accepted', findings: [] })
  t.match(settle('warn', ['memory.foo']), {
    outcome: 'accepted',
    findings: [{ rule: 'fields/unknown-key', severity: 'warn', problem: 'unknown field memory.foo: this kubelet ignores it' }],
  })
  t.match(settle('refuse', ['memory.foo']), { outcome: 'refused', findings: [{ severity: 'refuse' }] })
  t.match(
    settle('warn', ['memory.foo', 'reservedMemory[0].zone']),
    { findings: [{}, { path: ['reservedMemory', 0, 'zone'] }] },
    'the tables have it',
  )
  const many =
    settle(
      'refuse',
      Array.from({ length: 23 }, (_, index) => `new${index}`),
    )?.findings ?? []
  t.match([many.length, many.at(-1)], [21, { severity: 'refuse', path: [], problem: '3 more unknown fields: this kubelet ignores them' }])
  const gone = { ...remark, rule: 'fields/gone', problem: 'kubelet 1.24 removed memory.foo', advice: 'take it out' }
  const own = reconcile({ ...fields('warn'), findings: [gone] }, { ...report('accepted'), ignored: ['memory.foo'] }).fields
  t.match(own?.findings, [{ rule: 'fields/unknown-key', advice: 'take it out' }], 'told once')
  t.match(settle('warn', undefined), { findings: [remark] }, 'it is not known what that kubelet said')
})
