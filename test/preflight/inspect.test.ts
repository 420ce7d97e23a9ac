// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { inspectWith } from '../../src/preflight/inspect.ts'
import type { InspectOptions, InspectPart, PartReport, Recipient } from '../../src/preflight/inspection.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const options: InspectOptions = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: 'no', node: false }
const TEXT = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const config = { name: 'x.yaml', files: { kubelet: TEXT }, key: 'kubelet' }
const UNKNOWN: Recipient = { kubelet: undefined, version: undefined, node: undefined, unknownKeys: 'warn' }
const inspectBy = (...parts: readonly InspectPart[]) => inspectWith(parts, async () => UNKNOWN, IN_PLACE)
const part = (name: string, report: PartReport | undefined): InspectPart => ({
  name,
  slow: name === 'kubelet-start',
  run: async () => report,
})
const accepts: PartReport = { outcome: 'accepted', detail: 'read', findings: [] }

t.test('every part gets the text; results are in the order of the parts', async (t) => {
  const texts: string[] = []
  const fields: InspectPart = {
    name: 'fields',
    slow: false,
    run: async ({ document }) => {
      texts.push(document.text)
      return accepts
    },
  }
  const report = await inspectBy(fields, part('node', { ...accepts, outcome: 'unjudged' }))(config, options)
  t.same(texts, [TEXT])
  t.same(
    report.parts.map(({ part, outcome }) => `${part} ${outcome}`),
    ['fields accepted', 'node unjudged'],
  )
  t.equal(report.outcome, 'accepted')
})

t.test('only the parts that are asked for are run', async (t) => {
  const inspect = inspectBy(part('fields', accepts), part('node', accepts), part('kubelet', accepts))
  const run = async (parts: readonly string[]) => (await inspect(config, { ...options, parts })).parts.map((each) => each.part)
  t.same(await run(['kubelet', 'node']), ['node', 'kubelet'])
  t.same(await run([]), [])
})

t.test('a config without a kind may be a part, and then another file is needed', async (t) => {
  const check = async (text: string) =>
    (await inspectBy(part('fields', accepts))({ ...config, files: { kubelet: text } }, options)).findings
  t.match(await check('maxPods: 5\n'), [
    { problem: /^kind must be .* not set$/, advice: /manifest of a ConfigMap with the annotation kubelet-cfg-agent\.io\/base$/ },
  ])
  t.match(await check('{"maxPods": 5}'), [{ advice: /a part/ }])
  t.match(await check('kind: Pod\n'), [{ problem: /^kind must be/, advice: undefined }])
})

t.test('a local config that kubelet may read differently is not judged, and any other is refused', async (t) => {
  const tagged = { ...config, files: { kubelet: `${TEXT}maxPods: !!int 5\n` } }
  const detail = /^kubelet may read a tag differently/
  t.match(await inspectBy(part('fields', accepts))(tagged, options), {
    outcome: 'refused',
    findings: [{ rule: 'fields/load', problem: detail }],
  })
  const local = await inspectBy(part('fields', accepts))({ ...tagged, localPath: '/etc/kubelet.yaml' }, options)
  t.match(local, { outcome: 'unjudged', findings: [], parts: [{ part: 'source', outcome: 'unjudged', detail }] })
  const byKubelet = (outcome: PartReport['outcome']) =>
    inspectBy(part('fields', accepts), part('kubelet', { ...accepts, outcome }))({ ...tagged, localPath: '/etc/kubelet.yaml' }, options)
  t.match(await byKubelet('refused'), { outcome: 'refused' }, 'kubelet reads the text itself')
  t.match(await byKubelet('accepted'), { outcome: 'accepted', parts: [{ part: 'source', detail }, { part: 'kubelet' }] })
  const broken = { ...config, files: { kubelet: `${TEXT}maxPods: [\n` }, localPath: '/etc/kubelet.yaml' }
  t.match(await inspectBy(part('fields', accepts))(broken, options), { outcome: 'refused' })
})

t.test('a part that does not apply is not in the report', async (t) => {
  const report = await inspectBy(part('fields', accepts), part('node', undefined))(config, options)
  t.same(
    report.parts.map(({ part }) => part),
    ['fields'],
  )
})

t.test('a missing key is refused, also if it is the name of an inherited property', async (t) => {
  for (const key of ['other', 'toString', '__proto__']) {
    const report = await inspectBy(part('fields', accepts))({ ...config, key }, options)
    t.match(report, { outcome: 'refused', findings: [{ rule: 'source/missing-key', problem: `there is no key ${key} (keys: kubelet)` }] })
  }
})

t.test('without the result of a requested part the config is not accepted', async (t) => {
  const outcome = async (fields: Partial<InspectOptions>, ...parts: readonly InspectPart[]) =>
    (await inspectBy(part('fields', accepts), ...parts)(config, { ...options, ...fields })).outcome
  t.equal(await outcome({ kubelet: '/opt/kubelet' }), 'unjudged')
  const missing = await inspectBy(part('fields', accepts))(config, { ...options, deep: 'demanded' })
  t.match(
    missing.parts,
    [{ part: 'fields' }, { part: 'kubelet-start', outcome: 'unjudged', detail: 'requested, but not possible here' }],
    'the report mentions the part',
  )
  t.equal(await outcome({ kubelet: '/opt/kubelet' }, part('kubelet', accepts)), 'accepted')
  t.equal(await outcome({ deep: 'demanded' }, part('kubelet', accepts)), 'unjudged')
  t.equal(await outcome({ deep: 'demanded' }, part('kubelet', accepts), part('kubelet-start', accepts)), 'accepted')
})

t.test('a slow part counts only if no other part refuses the config', async (t) => {
  const refuses: PartReport = { ...accepts, outcome: 'refused' }
  const ask = async (quick: PartReport) => {
    const report = await inspectBy(part('fields', quick), part('kubelet-start', accepts))(config, options)
    return report.parts.map(({ part }) => part)
  }
  t.same(await ask(accepts), ['fields', 'kubelet-start'])
  t.same(await ask(refuses), ['fields'])
  for (const outcome of ['unjudged', 'cannot-start'] as const) {
    const parts = [part('fields', accepts), part('kubelet', { ...accepts, outcome }), part('kubelet-start', accepts)]
    const report = await inspectBy(...parts)(config, options)
    t.same(
      report.parts.map(({ part }) => part),
      ['fields', 'kubelet'],
      outcome,
    )
  }
})

t.test('the parts run side by side; a slow one is ended when another one refuses', async (t) => {
  const ended: boolean[] = []
  const slow: InspectPart = {
    name: 'kubelet-start',
    slow: true,
    run: ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended.push(true)
          resolve({ ...accepts, outcome: 'unjudged' })
        })
      }),
  }
  const report = await inspectBy(part('fields', { ...accepts, outcome: 'refused' }), slow)(config, options)
  t.same(
    report.parts.map(({ part }) => part),
    ['fields'],
  )
  t.same(ended, [true])
  const broken: InspectPart = { name: 'fields', slow: false, run: () => Promise.reject(new Error('a bug')) }
  await t.rejects(inspectBy(broken, slow)(config, options), /a bug/)
  t.same(ended, [true, true], 'also where another one fails')
})

t.test('a config that cannot be read is refused with its position, without running any part', async (t) => {
  const report = await inspectBy(part('fields', accepts))({ ...config, files: { kubelet: `${TEXT}maxPods: many\n` } }, options)
  t.match(report, { outcome: 'refused', findings: [{ rule: 'fields/type', reason: 'load', position: { line: 3 } }] })
})

t.test('each value of a wrong type has a finding with its own place', async (t) => {
  const lines = 'systemReserved:\n  cpu: 0.5\npodPidsLimit: "4096"\nshutdownGracePeriod: 30\nreservedSystemCPUs: 0\nmemorySwap: 1\n'
  const json = `{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",\n"port": 1.0, "systemReserved":\n{"cpu": 1}}`
  const places = async (text: string, minor?: number) => {
    const version = minor === undefined ? undefined : { major: 1, minor, patch: 0 }
    const { outcome, findings } = await inspectBy(part('fields', accepts))({ ...config, files: { kubelet: text } }, { ...options, version })
    t.equal(outcome, 'refused')
    return findings.map(({ severity, rule, position, problem }) => `${severity} ${rule} ${position?.line}:${position?.column} ${problem}`)
  }
  const first = [
    'refuse fields/type 4:3 systemReserved.cpu must be a string',
    'refuse fields/type 5:1 podPidsLimit must be an integer',
    'refuse fields/type 6:1 shutdownGracePeriod must be a duration such as "1m30s"',
    'refuse fields/type 7:1 reservedSystemCPUs must be a string',
  ]
  t.strictSame(await places(TEXT + lines), [...first, 'warn fields/type 8:1 memorySwap must be an object (kubelet 1.22 and later)'])
  t.strictSame(await places(TEXT + lines, 34), [...first, 'refuse fields/type 8:1 memorySwap must be an object'])
  t.strictSame(await places(TEXT + lines, 20), first, 'kubelet 1.20 ignores what it does not know')
  t.strictSame(await places(json), [
    'refuse fields/type 2:1 port must be an integer without a fraction or an exponent',
    'refuse fields/type 3:2 systemReserved.cpu must be a string',
  ])
})

t.test('the problem text does not repeat the position', async (t) => {
  const report = await inspectBy(part('fields', accepts))({ ...config, files: { kubelet: `${TEXT}a: [\n` } }, options)
  t.match(report.findings, [{ rule: 'fields/load', position: { line: 4, column: 1 } }])
  t.notMatch(report.findings[0]?.problem, /line/)
})

t.test('a gate that kubelet accepts does not refuse the config, and the deep stage runs', async (t) => {
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
  const known = await inspectBy(fields, part('kubelet', accepts), part('kubelet-start', accepts))(config, options)
  t.match(known, { outcome: 'accepted', findings: [{ rule: 'fields/gate-unknown', severity: 'warn' }] })
  t.same(
    known.parts.map(({ part, outcome }) => `${part} ${outcome}`),
    ['fields accepted', 'kubelet accepted', 'kubelet-start accepted'],
  )
  const alone = await inspectBy(fields, part('kubelet', { ...accepts, outcome: 'unjudged' }))(config, options)
  t.match(alone, { outcome: 'refused', findings: [{ severity: 'refuse' }] })
})
