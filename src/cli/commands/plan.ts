/**
 * `plan`: what the agent would do now and why, without doing it. Asks the cluster once, runs preflight on what it wants, and follows the agent's own decision
 * from the node as it is. Changes nothing; a running agent is not asked.
 */

import type { Desired } from '../../decision/desired.ts'
import { resolveDesired } from '../../decision/desired.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import { trialKey } from '../../decision/trial-key.ts'
import { toResult } from '../../preflight/agent-preflight.ts'
import type { Report } from '../../preflight/finding.ts'
import { readActiveConfig } from '../active-config.ts'
import { type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from '../command.ts'
import { compareTexts } from '../compare-texts.ts'
import { findDesired, nameDesired } from '../desired-config.ts'
import { type Foretold, foresee } from '../foresee.ts'
import { formatJson } from '../format-json.ts'
import { documentPlan, type PlanFacts } from '../plan-document.ts'
import { renderPlan } from '../plan-text.ts'

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
  const foretold = foretell(snapshot, report?.report)
  const { hold } = snapshot.requests
  const facts: PlanFacts = {
    snapshot,
    agent: context.agent(),
    foresight: foresee(snapshot, foretold),
    afterResume: hold === 'none' ? undefined : foresee({ ...snapshot, requests: { ...snapshot.requests, hold: 'none' } }, foretold),
    report,
    compared: await compareTexts(readActiveConfig(snapshot, context), wanted, (from, to) => context.compare(from, to, undefined)),
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
  const options = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep, node: true } as const
  return { name, report: await inspect(config, options) }
}

/** What the agent would be told. Of anything but what is wanted, preflight is not asked here: it was accepted once. */
function foretell({ unit, desired, desiredContent, now }: Snapshot, report: Report | undefined): Foretold {
  const source = resolveDesired(desired)
  const result = report && toResult(report)
  const wanted = unit.kind === 'known' && desiredContent !== undefined ? trialKey(desiredContent, unit.kubeletIdentity) : undefined
  return {
    refusal: (key) => {
      if (result?.kind !== 'refused' || key !== wanted || source === undefined) return undefined
      return { key, state: 'refused', reason: result.reason, detail: result.detail, source, atWallMs: now.wallMs }
    },
    drain: (key) => (result?.kind === 'accepted' && key === wanted ? result.drain : []),
  }
}
