// SPDX-License-Identifier: Apache-2.0
/**
 * The dashboard names what the agent serves, with these labels, and is what Grafana's own types say
 * that a dashboard is.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { EVIDENCE_KINDS } from '../../src/evidence/kinds.ts'
import { Metrics } from '../../src/report/metrics.ts'
import { ROOT } from '../docs/pages.ts'
import { parseExposition } from './exposition.ts'
import { listGroupings, listMentions } from './promql.ts'

const FILE = 'deploy/monitoring/dashboard.json'
const text = readFileSync(join(ROOT, FILE), 'utf8')

interface Target {
  readonly expr: string
  readonly legendFormat?: string
}
interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly Target[]
}
const { panels } = JSON.parse(text) as { panels: readonly Panel[] }

/** Labels that Prometheus adds. */
const OF_TARGET = ['instance', 'job']

async function listServed(): Promise<ReadonlyMap<string, readonly string[]>> {
  const metrics = new Metrics({ version: '1' })
  const evidence = Object.fromEntries(EVIDENCE_KINDS.map((kind) => [kind, 'yes'] as const))
  const rollout = { config: 'a/b', turn: 'go', progress: { stage: 1, lastStage: 2, proofs: 3 } } as const
  const status = { active: 'local', assigned: 'local', lastKnownGood: 'local', error: '' } as const
  metrics.report(status, { remainingSeconds: 0, evidence, rollout }, { status: 'True', reason: 'Local', message: '' })
  const samples = parseExposition((await metrics.render()).body)
  return new Map(samples.map(({ name, labels }) => [name, Object.keys(labels)]))
}

t.test('every metric of a panel is served, with its labels', async (t) => {
  const served = await listServed()
  const expressions = panels.flatMap(({ targets = [] }) => targets)
  t.ok(expressions.length > 20)
  for (const { expr, legendFormat = '' } of expressions) {
    const mentions = listMentions(expr)
    t.ok(mentions.length > 0, expr)
    const known = new Set(OF_TARGET)
    for (const { metric, labels } of mentions) {
      const own = served.get(metric)
      t.ok(own !== undefined, `${metric} is served`)
      for (const label of own ?? []) known.add(label)
      for (const label of labels) t.ok(own?.includes(label), `${metric} has a label ${label}`)
    }
    const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
    for (const label of [...listGroupings(expr), ...named]) t.ok(known.has(label), `${expr}: ${label}`)
  }
})

t.test('every metric of the agent is on a panel', async (t) => {
  const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => listMentions(expr).map(({ metric }) => metric))))
  const bare = new Set([...(await listServed()).keys()].map((name) => name.replace(/_(bucket|sum|count)$/, '_bucket')))
  // Of one node, and not of a fleet.
  const left = ['kubelet_node_config_assigned', 'kubelet_node_config_last_known_good']
  for (const name of [...bare].filter((one) => !one.startsWith('process_') && !left.includes(one))) t.ok(shown.has(name), name)
})

t.test('what a panel counts is served from the start: Prometheus sees no increase to the first value of a series', async (t) => {
  const fresh = parseExposition((await new Metrics({ version: '1' }).render()).body)
  const increases = panels.flatMap(({ targets = [] }) =>
    targets.flatMap(({ expr }) => [...expr.matchAll(/(?:increase|rate)\((\w+)/g)].map(([, name = '']) => name)),
  )
  t.ok(increases.length > 8)
  for (const name of increases)
    t.ok(
      fresh.some((sample) => sample.name === name && sample.value === 0),
      name,
    )
})

t.test('panels have names and places of their own', async (t) => {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  t.equal(new Set(panels.map(({ title }) => title)).size, panels.length)
  const cells = new Set<string>()
  for (const { title, gridPos } of panels) {
    const { x, y, w, h } = gridPos
    t.ok(x + w <= 24, title)
    for (let column = x; column < x + w; column += 1)
      for (let line = y; line < y + h; line += 1) {
        t.notOk(cells.has(`${column} ${line}`), `${title} overlaps another panel`)
        cells.add(`${column} ${line}`)
      }
  }
})

const schema = findSchema()

function findSchema(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve('@grafana/schema/package.json'))
  } catch {
    return undefined
  }
}

/** The errors of the compiler about a program in which this dashboard has Grafana's types. */
function listTypeErrors(dashboard: string): readonly string[] {
  const program = `
import type { Dashboard, GraphFieldConfig, OptionsWithLegend, OptionsWithTooltip } from '@grafana/schema'
// JSON has the values of enumerations, and not their names.
type Plain<T> = T extends string ? \`\${T}\` : T extends readonly (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T
const dashboard = ${dashboard.trim()} as const satisfies DeepReadonly<Plain<Dashboard>>
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T
type Graph = Extract<(typeof dashboard.panels)[number], { type: 'timeseries' }>
type Custom = Graph['fieldConfig']['defaults']['custom']
type Options = Graph['options']
const isCustom: Custom extends DeepReadonly<Plain<GraphFieldConfig>> ? true : Custom = true
const isOptions: Options extends DeepReadonly<Plain<OptionsWithLegend & OptionsWithTooltip>> ? true : Options = true
export { dashboard, isCustom, isOptions }
`
  const path = join(ROOT, 'test/monitoring/dashboard.generated.ts')
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.getSourceFile = (name, ...rest) =>
    name === path ? ts.createSourceFile(name, program, ts.ScriptTarget.ES2022, true) : getSourceFile.call(host, name, ...rest)
  host.fileExists = (name) => name === path || fileExists.call(host, name)
  host.readFile = (name) => (name === path ? program : readFile.call(host, name))
  return ts
    .getPreEmitDiagnostics(ts.createProgram([path], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

t.test("it has Grafana's types", { skip: schema === undefined && '@grafana/schema is not installed: npm ci' }, async (t) => {
  t.same(listTypeErrors(text), [])
  t.match(listTypeErrors(text.replace('"graphTooltip": 1', '"graphTooltip": "one"')).join('\n'), /DashboardCursorSync/)
  t.match(listTypeErrors(text.replace('"gridPos"', '"gridpos"')).join('\n'), /gridpos/)
  t.match(listTypeErrors(text.replace('"drawStyle": "line"', '"drawStyle": "lines"')).join('\n'), /lines/)
})
