import t from 'tap'
import type { Finding } from '../../src/preflight/finding.ts'
import { type Answer, heedKubelet, nameField } from '../../src/preflight/heed-kubelet.ts'
import type { PartReport } from '../../src/preflight/inspection.ts'

const finding = (rule: string, path: Finding['path'], problem: string, fields: Partial<Finding> = {}): Finding => ({
  rule,
  severity: 'refuse',
  reason: 'validate',
  path,
  position: undefined,
  problem,
  advice: 'take it out',
  ...fields,
})
const report = (outcome: PartReport['outcome'], ...findings: readonly Finding[]): PartReport => ({ outcome, detail: 'judged', findings })
const heed = (fields: PartReport, kubelet: PartReport): { fields: PartReport | undefined; kubelet: PartReport | undefined } => {
  const answers: readonly Answer[] = heedKubelet([
    { part: 'fields', report: fields },
    { part: 'kubelet', report: kubelet },
  ])
  const of = (name: string) => answers.find(({ part }) => part === name)?.report
  return { fields: of('fields'), kubelet: of('kubelet') }
}

const UNKNOWN = finding('fields/gate-unknown', ['featureGates', 'Foo'], 'unrecognized feature gate: Foo')
const RANGE = finding('fields/range', ['maxPods'], 'maxPods (--max-pods) -1 must not be a negative number')
const says = (words: string, reason: Finding['reason'] = 'validate') => report('refused', finding('kubelet/load', [], words, { reason }))

t.test('a gate that kubelet has taken is no reason to refuse, but worth a word', async (t) => {
  const { fields } = heed(report('refused', UNKNOWN), report('accepted'))
  t.match(fields, {
    outcome: 'accepted',
    findings: [{ rule: 'fields/gate-unknown', severity: 'warn', problem: /Foo, though this kubelet takes it/, advice: undefined }],
  })
})

t.test('of no other rule kubelet is asked: it judges the deep ones later', async (t) => {
  const { fields } = heed(report('refused', UNKNOWN, RANGE), report('accepted'))
  t.match(fields, { outcome: 'refused', findings: [{ severity: 'warn' }, { severity: 'refuse' }] })
  const late = finding('fields/value', ['systemReserved', 'gpu'], 'cannot reserve "gpu" resource')
  t.same(heed(report('refused', late), report('accepted')).fields, report('refused', late))
})

t.test('a kubelet that could not judge, or is not there, changes nothing', async (t) => {
  t.same(heed(report('refused', UNKNOWN), report('unjudged')).fields, report('refused', UNKNOWN))
  const alone = [{ part: 'fields', report: report('refused', UNKNOWN) }]
  t.same(heedKubelet(alone), alone)
  t.same(heedKubelet([]), [])
})

t.test('what both refuse is said once, and kubelet is still quoted', async (t) => {
  const words = 'invalid configuration: maxPods (--max-pods) -1 must not be a negative number'
  const { fields, kubelet } = heed(report('refused', RANGE), says(words))
  t.same(fields, report('refused', RANGE))
  t.same(kubelet, { outcome: 'refused', detail: `judged either: ${words}`, findings: [] })
})

t.test('also where kubelet says it in other words, or several things at once', async (t) => {
  const port = finding('fields/range', ['port'], 'port (--port) 0 must be between 0 and 65535')
  t.same(heed(report('refused', port), says('invalid configuration: port (--port) 0 must be between 1 and 65535')).kubelet?.findings, [])
  const both = '[invalid configuration: maxPods -1 is negative, invalid configuration: port 0 is none]'
  t.same(heed(report('refused', port, RANGE), says(both)).kubelet?.findings, [])
  const gate = 'failed to set feature gates from initial flags-based config: unrecognized feature gate: Foo'
  t.same(heed(report('refused', UNKNOWN), says(gate)).kubelet?.findings, [], 'where no field is named, by the words')
})

t.test('what only kubelet says stays', async (t) => {
  for (const said of [
    says('invalid configuration: eventBurst -1 is negative'),
    says('[invalid configuration: maxPods -1 is negative, invalid configuration: eventBurst -1 is negative]'),
    says('unknown tls version "TLS1.2"'),
    says('invalid configuration: maxPods -1 is negative', 'load'),
    says('invalid configuration: maxPods -1 is negative, inva...'),
    says(''),
  ])
    t.same(heed(report('refused', RANGE), said).kubelet, said)
  const warned = report('accepted', { ...RANGE, severity: 'warn' })
  const said = says('invalid configuration: maxPods -1 is negative')
  t.same(heed(warned, said).kubelet, said, 'nor does a warning stand for a refusal')
})

t.test('the field that words are about', async (t) => {
  t.same(nameField('invalid configuration: port (--port) -1 must be between 1 and 65535'), ['port'])
  t.same(nameField('[invalid configuration: eventBurst -1'), ['eventBurst'])
  t.same(nameField('unable to parse reservedSystemCPUs (--reserved-cpus)'), ['reservedSystemCPUs'])
  t.same(nameField('the address of this port is bad'), [], 'a word of the language is no name')
  t.same(nameField('toString constructor'), [])
})
