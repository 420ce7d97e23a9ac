import t from 'tap'
import { inspectWith } from '../../src/preflight/inspect.ts'
import type { InspectOptions, InspectPart, PartReport, Recipient } from '../../src/preflight/inspection.ts'

const options: InspectOptions = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: 'no', node: false }
const TEXT = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const config = { name: 'x.yaml', files: { kubelet: TEXT }, key: 'kubelet' }
const NOBODY: Recipient = { kubelet: undefined, version: undefined, node: undefined, unknownKeys: 'warn' }
const inspectBy = (...parts: readonly InspectPart[]) => inspectWith(parts, async () => NOBODY)
const part = (name: string, report: PartReport | undefined): InspectPart => ({
  name,
  slow: name === 'kubelet-start',
  run: async () => report,
})
const accepts: PartReport = { outcome: 'accepted', detail: 'read', findings: [] }

t.test('every part gets the text, and is heard in its turn', async (t) => {
  const texts: string[] = []
  const listening: InspectPart = {
    name: 'fields',
    slow: false,
    run: async ({ document }) => {
      texts.push(document.text)
      return accepts
    },
  }
  const report = await inspectBy(listening, part('node', { ...accepts, outcome: 'unjudged' }))(config, options)
  t.same(texts, [TEXT])
  t.same(
    report.parts.map(({ part, outcome }) => `${part} ${outcome}`),
    ['fields accepted', 'node unjudged'],
  )
  t.equal(report.outcome, 'accepted')
})

t.test('who has no business with it is not mentioned', async (t) => {
  const report = await inspectBy(part('fields', accepts), part('node', undefined))(config, options)
  t.same(
    report.parts.map(({ part }) => part),
    ['fields'],
  )
})

t.test('a key that is not there is refused, and no name of an object is one', async (t) => {
  for (const key of ['other', 'toString', '__proto__']) {
    const report = await inspectBy(part('fields', accepts))({ ...config, key }, options)
    t.match(report, { outcome: 'refused', findings: [{ rule: 'source/missing-key', problem: `there is no key ${key}; there is kubelet` }] })
  }
})

t.test('a kubelet that was named, and a long look that was asked for, have to come to something', async (t) => {
  const outcome = async (fields: Partial<InspectOptions>, ...parts: readonly InspectPart[]) =>
    (await inspectBy(part('fields', accepts), ...parts)(config, { ...options, ...fields })).outcome
  t.equal(await outcome({ kubelet: '/opt/kubelet' }), 'unjudged')
  const silent = await inspectBy(part('fields', accepts))(config, { ...options, deep: 'demanded' })
  t.match(
    silent.parts,
    [{ part: 'fields' }, { part: 'kubelet-start', outcome: 'unjudged', detail: /asked for/ }],
    'and the report says who did not',
  )
  t.equal(await outcome({ kubelet: '/opt/kubelet' }, part('kubelet', accepts)), 'accepted')
  t.equal(await outcome({ deep: 'demanded' }, part('kubelet', accepts)), 'unjudged')
  t.equal(await outcome({ deep: 'demanded' }, part('kubelet', accepts), part('kubelet-start', accepts)), 'accepted')
})

t.test('what takes long is asked only about what the others let pass', async (t) => {
  const refuses: PartReport = { ...accepts, outcome: 'refused' }
  const ask = async (quick: PartReport) => {
    const report = await inspectBy(part('fields', quick), part('kubelet-start', accepts))(config, options)
    return report.parts.map(({ part }) => part)
  }
  t.same(await ask(accepts), ['fields', 'kubelet-start'])
  t.same(await ask(refuses), ['fields'])
})

t.test('what cannot be read is refused where it stands, and no part sees it', async (t) => {
  const report = await inspectBy(part('fields', accepts))({ ...config, files: { kubelet: `${TEXT}maxPods: many\n` } }, options)
  t.match(report, { outcome: 'refused', findings: [{ rule: 'fields/load', reason: 'load', position: { line: 3 } }] })
})

t.test('the place of what cannot be read is said once', async (t) => {
  const report = await inspectBy(part('fields', accepts))({ ...config, files: { kubelet: `${TEXT}a: [\n` } }, options)
  t.match(report.findings, [{ rule: 'fields/load', position: { line: 4, column: 1 } }])
  t.notMatch(report.findings[0]?.problem, /line/)
})

t.test('a gate that kubelet takes refuses nothing, and the long look goes on', async (t) => {
  const unknown = {
    rule: 'fields/gate-unknown',
    severity: 'refuse',
    reason: 'validate',
    path: ['featureGates', 'Foo'],
    position: undefined,
    problem: 'unrecognized feature gate: Foo',
    advice: undefined,
  } as const
  const fields = part('fields', { outcome: 'refused', detail: 'read', findings: [unknown] })
  const judged = await inspectBy(fields, part('kubelet', accepts), part('kubelet-start', accepts))(config, options)
  t.match(judged, { outcome: 'accepted', findings: [{ rule: 'fields/gate-unknown', severity: 'warn' }] })
  t.same(
    judged.parts.map(({ part, outcome }) => `${part} ${outcome}`),
    ['fields accepted', 'kubelet accepted', 'kubelet-start accepted'],
  )
  const alone = await inspectBy(fields, part('kubelet', { ...accepts, outcome: 'unjudged' }))(config, options)
  t.match(alone, { outcome: 'refused', findings: [{ severity: 'refuse' }] })
})
