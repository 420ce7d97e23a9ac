// SPDX-License-Identifier: Apache-2.0
/**
 * Whoever meets a reason finds what to do in docs/runbook.md, and for an event in docs/status.md.
 * The reasons are read from the code: from the constants where there are any, and else from its
 * types and its literals, so that a new one is missed here.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { PLUGIN_NAME } from '../../src/command/plugin/command.ts'
import { PLUGIN_PROGRAM } from '../../src/command/plugin/program.ts'
import type { UnavailableReason } from '../../src/decision/desired.ts'
import { FAILURE_REASONS } from '../../src/decision/verdict.ts'
import { CONDITION_REASONS, CONDITION_TYPE, type ConditionReason, DEGRADED_TYPE, describeDegraded } from '../../src/report/reasons.ts'
import { describeReadFailure } from '../../src/report/unknown-assignment.ts'
import { ROOT } from './pages.ts'
import { adviceOn, listFirstCells } from './tables.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const page = read('docs/runbook.md')
const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => {
    const path = `src/${name}`
    return ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true)
  })

function visitAll(visit: (node: ts.Node) => void): void {
  const descend = (node: ts.Node): void => {
    visit(node)
    ts.forEachChild(node, descend)
  }
  for (const source of sources) descend(source)
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined
}

function listUnion(name: string): readonly string[] {
  const found: string[] = []
  visitAll((node) => {
    if (!ts.isTypeAliasDeclaration(node) || node.name.text !== name || !ts.isUnionTypeNode(node.type)) return
    for (const member of node.type.types) if (ts.isLiteralTypeNode(member)) found.push(textOf(member.literal) ?? '')
  })
  if (found.length === 0) throw new Error(`no union ${name} of texts is declared in src/`)
  return found
}

/**
 * An event is an object with a type and a reason. A reason that stands elsewhere, as in a table, is
 * known by its beginning.
 */
function listEventReasons(): readonly string[] {
  const found = new Set<string>()
  visitAll((node) => {
    if (ts.isObjectLiteralExpression(node)) {
      const property = (name: string) => node.properties.filter(ts.isPropertyAssignment).find((one) => one.name.getText() === name)
      const type = textOf(property('type')?.initializer)
      const reason = textOf(property('reason')?.initializer)
      if ((type === 'Normal' || type === 'Warning') && reason !== undefined) found.add(reason)
    }
    const text = textOf(node)
    if (text !== undefined && /^(KubeletConfig|Rollout)[A-Z][A-Za-z]+$/.test(text)) found.add(text)
  })
  for (const type of [CONDITION_TYPE, DEGRADED_TYPE]) found.delete(type)
  return [...found].sort()
}

const conditionReasons: readonly ConditionReason[] = Object.values(CONDITION_REASONS).flat()

t.test('every reason of the condition KubeletConfigReady', async (t) => {
  t.ok(conditionReasons.length > 15)
  for (const reason of conditionReasons) t.ok(adviceOn(page, "The condition's reasons", reason), reason)
})

t.test('every reason of the condition KubeletConfigDegraded, with a section where somebody should look', async (t) => {
  for (const ready of conditionReasons) {
    const { status, reason } = describeDegraded({ status: 'False', reason: ready, message: '' })
    const advice = adviceOn(page, "The condition's reasons", reason)
    t.ok(advice, reason)
    if (status === 'True') t.match(advice, /\]\(#[a-z-]+\)/, `${reason} leads to its section`)
  }
})

t.test('every reason of an event, and no other', async (t) => {
  const status = read('docs/status.md')
  const reasons = listEventReasons()
  t.ok(reasons.some((reason) => reason.startsWith('Kubelet')) && reasons.some((reason) => reason.startsWith('Rollout')))
  for (const reason of reasons) t.ok(adviceOn(status, 'Events', reason), reason)
  t.same([...listFirstCells(status, 'Events')].sort(), reasons)
})

t.test('every command of the plugin that changes what nodes run', async (t) => {
  const changing = PLUGIN_PROGRAM.commands.filter(({ group }) => group === 'Change')
  t.ok(changing.length > 2)
  const named = listFirstCells(read('docs/operations.md'), 'On a workstation')
  for (const { name } of changing) t.ok(named.includes(`${PLUGIN_NAME} ${name}`), name)
})

t.test('every reason of a verdict', async (t) => {
  for (const reason of FAILURE_REASONS)
    t.ok(adviceOn(page, 'A config is refused', reason) ?? adviceOn(page, 'A config was rolled back', reason), reason)
})

t.test('every way in which the wiring may be broken', async (t) => {
  for (const reason of listUnion('WiringProblem')) t.ok(adviceOn(page, 'Wiring', reason), reason)
})

t.test('every cause for which a ConfigMap cannot be read, in the words of the condition', async (t) => {
  for (const reason of listUnion('UnavailableReason')) {
    const object = { kind: 'unavailable', reason: reason as UnavailableReason, detail: '' } as const
    const ref = { namespace: 'kube-system', name: 'node-config', kubeletConfigKey: 'kubelet' }
    const text = describeReadFailure({ kind: 'config-map', ref, object }).replace(/ \(.*\)$/, '')
    t.ok(adviceOn(page, 'A ConfigMap cannot be read', text), text)
  }
})
