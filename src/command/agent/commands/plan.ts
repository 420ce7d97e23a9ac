/**
 * `plan`: what the agent would do now and why, without doing it. Reads the assignment once, runs
 * preflight on it, and simulates the agent's own decision from the node's current state. Changes
 * nothing, and does not contact a running agent.
 */

import { LOCAL_CONTENT } from '../../../decision/config-source.ts'
import type { Desired } from '../../../decision/desired.ts'
import { resolveDesired } from '../../../decision/desired.ts'
import type { Snapshot } from '../../../decision/snapshot.ts'
import { trialKey } from '../../../decision/trial-key.ts'
import { describeObstacle, toResult } from '../../../preflight/agent-preflight.ts'
import type { Report } from '../../../preflight/finding.ts'
import { readActiveConfig } from '../active-config.ts'
import { type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from '../../command.ts'
import { compareTexts } from '../compare-texts.ts'
import { findLayersHere, nameLayersIn, readDesiredLayers } from '../config-layers.ts'
import { findDesired, nameDesired } from '../desired-config.ts'
import { type Foretold, foresee } from '../foresee.ts'
import { formatJson } from '../../format-json.ts'
import { judgeLocal, type LocalJudgement } from '../inspect-local.ts'
import { documentPlan, type PlanFacts } from '../plan-document.ts'
import { renderPlan } from '../plan-text.ts'

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

async function plan(context: CommandContext, options: OptionValues): Promise<ExitCode> {
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

/** What preflight would say of local, where the node is about to return to it. */
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
