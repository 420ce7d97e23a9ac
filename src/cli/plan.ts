/**
 * `plan`: what the agent would do now and why, without doing it. Asks the cluster once, runs preflight on what it wants, and follows the agent's own decision
 * from the node as it is. Changes nothing; a running agent is not asked.
 */
import type { Acceptance, Desired, Snapshot, TrialKey, Verdict } from '../agent/model.ts'
import { resolveDesired } from '../agent/sources.ts'
import { trialKey } from '../agent/trial-key.ts'
import { formatPath } from '../preflight/field-path.ts'
import { REQUIRE_DRAIN, type Report } from '../preflight/finding.ts'
import { readActiveConfig } from './active-config.ts'
import { type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from './command.ts'
import { compareTexts, findDesired } from './diff.ts'
import { foresee } from './foresee.ts'
import { documentPlan, type PlanFacts } from './plan-document.ts'
import { renderPlan } from './plan-text.ts'

export const planCommand: NodeCommand = {
  name: 'plan',
  takes: 'node',
  group: 'Judge',
  summary: 'what the agent would do now and why, without doing it',
  description:
    'Asks the cluster (or the directory of manifests) once what it wants of this node, checks that as the agent would, and shows each step up to where the ' +
    'agent would wait, whether and when kubelet is restarted, and what changes with it. Nothing is written, and a running agent does not notice.',
  options: [OUTPUT],
  examples: [
    ['plan', 'before resume, or before the agent is started'],
    ["plan -o json | jq '.restart'", 'whether and when kubelet is restarted'],
  ],
  execute: plan,
}

async function plan(context: CommandContext, options: OptionValues): Promise<ExitCode> {
  const { terminal } = context
  const desired = await context.askDesired()
  const snapshot = await context.observe(desired)
  const wanted = findDesired(desired, snapshot, context)
  const report = await inspectDesired(desired, context)
  const judge = (key: TrialKey) => findJudgement(key, snapshot, report?.report)
  const { hold } = snapshot.requests
  const facts: PlanFacts = {
    snapshot,
    agent: context.agent(),
    foresight: foresee(snapshot, judge),
    afterResume: hold === 'none' ? undefined : foresee({ ...snapshot, requests: { ...snapshot.requests, hold: 'none' } }, judge),
    report,
    compared: await compareTexts(readActiveConfig(snapshot, context), wanted, (from, to) => context.compare(from, to, undefined)),
  }
  if (options.output === 'json') terminal.out(`${JSON.stringify(documentPlan(facts), null, 2)}\n`)
  else terminal.out(renderPlan(facts, wanted.ok ? wanted.text : undefined, { color: terminal.color, width: terminal.width ?? 100 }))
  return resolveDesired(desired) === undefined ? EXIT.failed : EXIT.fine
}

async function inspectDesired(desired: Desired, { inspect }: CommandContext): Promise<PlanFacts['report']> {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  const { ref, object } = desired
  const name = `configmap/${ref.namespace}/${ref.name}:${ref.kubeletConfigKey}`
  const config = { name, files: object.data, key: ref.kubeletConfigKey }
  const options = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: false, node: true }
  return { name, report: await inspect(config, options) }
}

/** What the agent would come to. Of anything but what is wanted, preflight is not asked here: it was accepted once. */
function findJudgement(
  key: TrialKey,
  { unit, desired, desiredContent, now }: Snapshot,
  report: Report | undefined,
): Verdict | Acceptance | undefined {
  const source = resolveDesired(desired)
  if (report === undefined || unit.kind !== 'known' || desiredContent === undefined || source === undefined) return undefined
  if (key !== trialKey(desiredContent, unit.kubeletIdentity)) return undefined
  if (report.outcome !== 'refused')
    return { drain: report.findings.flatMap(({ rule, path }) => (rule === REQUIRE_DRAIN ? [formatPath(path)] : [])) }
  const finding = report.findings.find(({ severity }) => severity === 'refuse')
  const detail = finding?.problem ?? report.parts.find(({ outcome }) => outcome === 'refused')?.detail ?? 'preflight refuses it'
  return { key, state: 'refused', reason: finding?.reason ?? 'validate', detail, source, atWallMs: now.wallMs }
}
