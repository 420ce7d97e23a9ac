// SPDX-License-Identifier: Apache-2.0
/**
 * `plan`: what the agent would do now and why, without doing it. Reads the assignment once, runs
 * preflight on it, and simulates the agent's own decision from the node's current state. Changes
 * nothing, and does not contact a running agent.
 */

import { isDeepStrictEqual } from 'node:util'
import { type Desired, resolveDesired } from '../../../decision/desired.ts'
import { hashObject } from '../../../decision/rollout-hash.ts'
import type { Snapshot } from '../../../decision/snapshot.ts'
import { planHere } from '../../../decision/staging.ts'
import type { Step } from '../../../decision/step.ts'
import { describeObstacle, toResult } from '../../../preflight/agent-preflight.ts'
import type { Report } from '../../../preflight/finding.ts'
import type { ConfigChange } from '../../../preflight/inspection.ts'
import { describeStatus, findLastKnownGood } from '../../../report/status.ts'
import { parsePlan } from '../../../rollout/plan.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { LOCAL_CONTENT } from '../../../subject/config-source.ts'
import { trialKey } from '../../../subject/trial-key.ts'
import { formatDuration } from '../../../values/durations.ts'
import { documentChange, renderChanges } from '../../changes.ts'
import { type CommandLine, EXIT, type ExitCode, OUTPUT } from '../../command.ts'
import { describePlan, documentPlan as documentRolloutPlan } from '../../plan-text.ts'
import { documentReport, type ReportLook, renderFindings, renderParts } from '../../report.ts'
import { alignColumns, type Cell, formatJson, paint, toned } from '../../terminal.ts'
import type { AgentPresence, CommandContext, NodeCommand } from '../command.ts'
import { findLayersHere, nameLayersIn, readDesiredLayers } from '../config-layers.ts'
import { type Compared, compareTexts, findDesired, nameDesired, readActiveConfig } from '../config-text.ts'
import {
  describeAgent,
  describeDocument,
  documentActive,
  documentAgent,
  documentAssigned,
  documentHeld,
  documentSource,
  documentUnit,
  type SourceDocument,
  seconds,
  showSeconds,
  toneOfPhase,
} from '../document-parts.ts'
import { describeStep } from '../explain.ts'
import { type Foresight, type Foretold, foresee } from '../foresee.ts'
import { judgeLocal, type LocalJudgement } from '../held-configs.ts'

export const planCommand: NodeCommand = {
  name: 'plan',
  takes: 'node',
  group: 'Check configs',
  summary: 'show what the agent would do now, without doing it',
  description:
    'Reads from the cluster (or the directory of manifests) what is assigned to this node, checks it as the agent would, ' +
    'and shows each step until the agent would wait, whether and when kubelet is restarted, and which fields change. ' +
    'Writes nothing and does not affect a running agent.',
  options: [OUTPUT],
  examples: [
    ['plan', 'before resume, or before you start the agent'],
    ["plan -o json | jq '.restart'", 'show whether and when kubelet is restarted'],
  ],
  execute: plan,
}

async function plan(context: CommandContext, { options }: CommandLine): Promise<ExitCode> {
  const { terminal } = context
  const desired = await context.fetchDesired()
  const snapshot = await context.observe(desired)
  const found = findDesired(desired, snapshot, context)
  const layers = await readDesiredLayers(desired, context)
  const wanted = found.ok ? { ...found, layers } : found
  const { around } = found.ok ? await findLayersHere({ ...found, own: layers }, true, context) : { around: layers }
  const local = await judgeReturn(snapshot, context)
  const inspected = await inspectDesired(desired, context)
  const report = inspected && { ...inspected, report: nameLayersIn(inspected.report, layers, around) }
  const foretold = withLocal(foretell(snapshot, report?.report), snapshot, local)
  const { hold } = snapshot.requests
  const facts: PlanFacts = {
    snapshot,
    agent: context.agent(),
    foresight: foresee(snapshot, foretold),
    afterResume: hold === 'none' ? undefined : foresee({ ...snapshot, requests: { ...snapshot.requests, hold: 'none' } }, foretold),
    report,
    compared: await compareTexts(readActiveConfig(snapshot, context), wanted, (from, to) => context.compare(from, to, undefined), context),
  }
  if (options.output === 'json') terminal.out(formatJson(documentPlan(facts)))
  else terminal.out(renderPlan(facts, wanted.ok ? wanted.text : undefined, { color: terminal.color, width: terminal.width ?? 100 }))
  return resolveDesired(desired) === undefined ? EXIT.failed : EXIT.fine
}

async function inspectDesired(desired: Desired, { inspect, settings }: CommandContext): Promise<PlanFacts['report']> {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  const { ref, object } = desired
  const name = nameDesired(ref, object)
  const config = { name, files: object.rendered?.data ?? object.data, key: ref.kubeletConfigKey }
  const deep = settings.preflight === 'start' ? 'if-possible' : 'no'
  const options = { kubelet: undefined, version: undefined, from: 'running', unknownKeys: undefined, deep, node: true } as const
  return { name, report: await inspect(config, options) }
}

/** Preflight's answer about local, where the node is about to return to it. */
async function judgeReturn({ desired, requests, running }: Snapshot, context: CommandContext): Promise<LocalJudgement | undefined> {
  const isWanted = desired.kind === 'local' || requests.hold === 'local'
  return isWanted && running.kind === 'known' && running.content !== LOCAL_CONTENT ? judgeLocal(context) : undefined
}

function withLocal(foretold: Foretold, { unit, now }: Snapshot, local: LocalJudgement | undefined): Foretold {
  if (unit.kind !== 'known' || local === undefined || local.kind === 'accepted') return foretold
  const localKey = trialKey(LOCAL_CONTENT, unit.kubeletIdentity)
  const { detail } = local
  return {
    ...foretold,
    refusal: (key) => {
      if (key !== localKey || local.kind !== 'refused') return foretold.refusal(key)
      return { key, state: 'refused', reason: local.reason, detail, source: 'local', atWallMs: now.wallMs }
    },
    obstacle: (key) =>
      key === localKey && local.kind === 'unjudged' ? `the local config cannot be checked: ${detail}` : foretold.obstacle(key),
  }
}

/**
 * The results of preflight for the simulation. Only the assigned config is checked; any other one
 * was accepted before.
 */
function foretell({ unit, desired, desiredContent, now }: Snapshot, report: Report | undefined): Foretold {
  const source = resolveDesired(desired)
  const result = report && toResult(report)
  const obstacle = report && describeObstacle(report)
  const wanted = unit.kind === 'known' && desiredContent !== undefined ? trialKey(desiredContent, unit.kubeletIdentity) : undefined
  return {
    refusal: (key) => {
      if (result?.kind !== 'refused' || key !== wanted || source === undefined) return undefined
      return { key, state: 'refused', reason: result.reason, detail: result.detail, source, atWallMs: now.wallMs }
    },
    obstacle: (key) => (key === wanted ? obstacle?.message : undefined),
    drain: (key) => (result?.kind === 'accepted' && key === wanted ? result.drain : []),
  }
}

type PlanDocument = ReturnType<typeof documentPlan>
type Course = ReturnType<typeof documentCourse>

interface PlanFacts {
  readonly snapshot: Snapshot
  readonly agent: AgentPresence
  readonly foresight: Foresight
  readonly afterResume: Foresight | undefined
  readonly report: { readonly name: string; readonly report: Report } | undefined
  readonly compared: Compared
}

/** The document of `plan -o json`. Fields are added, never renamed or removed. */
function documentPlan({ snapshot, agent, foresight, afterResume, report, compared }: PlanFacts) {
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: 'Plan',
    node: snapshot.nodeName,
    agent: documentAgent(agent),
    unit: documentUnit(snapshot),
    hold: snapshot.requests.hold,
    /** The assignment of the cluster, or of the directory of manifests, as it is now. */
    wanted: documentDesired(snapshot.desired),
    assigned: documentAssigned(snapshot),
    active: documentActive(snapshot, describeStatus(snapshot, undefined).active),
    lastKnownGood: documentHeld(findLastKnownGood(snapshot)),
    ...documentCourse(foresight),
    /**
     * If the node is paused or held on its local config: the course after resume. null: it is not
     * held.
     */
    afterResume: afterResume === undefined ? null : documentCourse(afterResume),
    /** The report on the wanted config. null: nothing to check. */
    preflight: report === undefined ? null : documentReport(report.name, report.report),
    /** From what runs to what is wanted. null: unknown, and `changesDetail` says why. */
    changes: compared.ok ? compared.changes.map(documentChange) : null,
    changesDetail: compared.ok ? null : compared.detail,
  }
}

/** The steps if everything goes well, and where the agent would then wait. */
function documentCourse({ steps, rest, end }: Foresight) {
  const restart = steps.find(({ step }) => step.kind === 'restart')
  return {
    steps: steps.map(({ step, afterUs }) => ({ step: step.kind, detail: describeForeseen(step, end), afterSeconds: seconds(afterUs) })),
    rest: { phase: rest.phase, detail: rest.detail },
    restart: { due: restart !== undefined, afterSeconds: restart === undefined ? null : seconds(restart.afterUs) },
  }
}

function describeForeseen(step: Step, { verdicts, accepted }: Snapshot): string {
  if (step.kind === 'wait') return step.detail
  if (step.kind !== 'preflight') return describeStep(step)
  const answer = verdicts.has(step.key) ? 'refused' : accepted.has(step.key) ? 'accepted' : 'not possible'
  return `${describeStep(step)}: ${answer}`
}

function documentDesired(desired: Desired): SourceDocument {
  const source = resolveDesired(desired)
  if (source !== undefined) return documentSource(source)
  switch (desired.kind) {
    case 'unknown':
    case 'invalid':
      return { kind: 'unknown', detail: desired.detail }
    case 'local':
      return { kind: 'local' }
    case 'config-map': {
      const { ref, object } = desired
      const why = object.kind === 'unavailable' ? object.detail : 'not read yet'
      return { kind: 'unknown', detail: `${ref.namespace}/${ref.name}:${ref.kubeletConfigKey}: ${why}` }
    }
  }
}

/** @param text the wanted config, whose lines are shown with findings */
function renderPlan(facts: PlanFacts, text: string | undefined, look: ReportLook): string {
  const plan = documentPlan(facts)
  const { color } = look
  const { trialUs } = facts.snapshot.policy
  const rows = [...listFacts(plan), ...listRolloutWords(facts.snapshot)]
  const lines = [...alignColumns(rows, color), '', ...renderCourse('The agent would', plan, trialUs, color)]
  if (plan.afterResume !== null) lines.push('', ...renderCourse('After resume, it would', plan.afterResume, trialUs, color))
  if (facts.report !== undefined) {
    const { name, report } = facts.report
    lines.push('', paint(toned(`Preflight of ${name}: ${report.outcome}`, 'strong'), color), '')
    lines.push(...renderFindings(name, text, report.findings, look), ...renderParts(report.parts, color))
  }
  lines.push('', ...renderDifference(facts, color))
  return `${lines.join('\n')}\n`
}

/** The zones, the rest and the windows of the rollout of what is wanted. */
function listRolloutWords(snapshot: Snapshot): Cell[][] {
  const { desired, now } = snapshot
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return []
  const { ref, object } = desired
  const parsed = parsePlan(object.rollout?.plan)
  if (!parsed.ok) return [['Rollout', { text: parsed.problem, tone: 'warning' }]]
  const hash = hashObject(object, ref.kubeletConfigKey)
  return describePlan(documentRolloutPlan(planHere(parsed.plan, snapshot, ref, hash), hash, now.wallMs)).map((row) => [...row])
}

function listFacts(plan: PlanDocument): Cell[][] {
  const rows: Cell[][] = [
    ['Node', plan.node],
    ['Agent', describeAgent(plan.agent)],
    ['Kubelet', `${plan.unit.activity}: ${plan.unit.detail}`],
    ['Wanted', ...describeDocument(plan.wanted)],
    ['Assigned', ...describeDocument(plan.assigned)],
    ['Active', ...describeDocument(plan.active)],
    ['Last known good', ...describeDocument(plan.lastKnownGood)],
  ]
  return plan.hold === 'none' ? rows : [...rows, ['Hold', { text: `${plan.hold}, until resume`, tone: 'warning' }]]
}

function renderCourse(who: string, { steps, rest, restart }: Course, trialUs: number, color: boolean): string[] {
  const rows = steps.map(({ detail, afterSeconds }, index): Cell[] => [`${index + 1}`, describeTime(afterSeconds), detail])
  const end: Cell[] = ['', steps.length === 0 ? 'now' : 'then', { text: `${rest.phase}: ${rest.detail}`, tone: toneOfPhase(rest.phase) }]
  return [
    paint(toned(steps.length === 0 ? `${who} do nothing.` : `${who}, if all goes well:`, 'strong'), color),
    ...alignColumns([...rows, end], color),
    describeRestart(restart),
    ...(restart.due && rest.phase === 'in-trial'
      ? [`It becomes last-known-good after ${formatDuration(trialUs)} of healthy running.`]
      : []),
  ]
}

function describeRestart({ due, afterSeconds }: Course['restart']): string {
  if (!due) return 'Kubelet is not restarted.'
  return afterSeconds === null || afterSeconds === 0
    ? 'Kubelet is restarted at once.'
    : `Kubelet is restarted in ${showSeconds(afterSeconds)}.`
}

function renderDifference({ compared, report }: PlanFacts, color: boolean): string[] {
  if (!compared.ok) return [paint({ text: `Cannot tell what would change: ${compared.detail}`, tone: 'warning' }, color)]
  if (compared.changes.length === 0) return ['No field changes.']
  const findings = report?.report.findings ?? []
  const isSaid = ({ path }: ConfigChange) => findings.some((each) => each.rule.startsWith('change/') && isDeepStrictEqual(each.path, path))
  const changes = compared.changes.map((change) => (isSaid(change) ? { ...change, effect: undefined } : change))
  return [paint(toned('What changes:', 'strong'), color), ...renderChanges(changes, color)]
}

function describeTime(afterSeconds: number): string {
  return afterSeconds === 0 ? 'now' : `in ${showSeconds(afterSeconds)}`
}
