// SPDX-License-Identifier: Apache-2.0
/**
 * `rollout`: how far the rollout of the assigned config has come, and this node's turn. Reads the
 * record from the cluster, and what the running agent knew last. Changes nothing.
 */
import type { Desired } from '../../../decision/desired.ts'
import { hashObject } from '../../../decision/rollout-hash.ts'
import { configOf, planHere, ROLLOUT_OFF } from '../../../decision/staging.ts'
import { parsePlan } from '../../../rollout/plan.ts'
import { describeShare, isGuard, type Progress, progressOf } from '../../../rollout/progress.ts'
import { observeRecord } from '../../../rollout/silence.ts'
import { findRecordRef, getRecord } from '../../../source/rollout/read-record.ts'
import { type CommandLine, EXIT, type ExitCode, Failure, OUTPUT } from '../../command.ts'
import { describePlan, documentPlan, type PlanDocument } from '../../plan-text.ts'
import { alignColumns, type Cell, formatJson } from '../../terminal.ts'
import type { CommandContext, NodeCommand } from '../command.ts'
import { documentRollout, type RolloutDocument, showSeconds, TURN_WORDS } from '../document-parts.ts'

export const rolloutCommand: NodeCommand = {
  name: 'rollout',
  takes: 'node',
  group: 'Inspect',
  summary: "show how far the config's rollout has come, and this node's turn",
  description:
    'Shows the stage, the witnesses, the vetoes, and whether this node waits and why. The stage is read from the cluster now; ' +
    "this node's turn is what the running agent knew last. Changes nothing.",
  options: [OUTPUT],
  examples: [
    ['rollout', 'find out what this node waits for'],
    ["rollout -o json | jq -r '.turn.detail'", 'get the reason in a script'],
  ],
  execute: showRollout,
}

async function showRollout(context: CommandContext, { options }: CommandLine): Promise<ExitCode> {
  const { terminal } = context
  const desired = await context.fetchDesired()
  const found = await readRollout(context, desired)
  terminal.out(options.output === 'json' ? formatJson(found) : renderRollout(found, terminal.color))
  return EXIT.fine
}

interface RolloutWithPlan extends RolloutDocument {
  readonly plan: PlanDocument
}

/** @throws Failure: there is no rollout, or it cannot be read */
async function readRollout(context: CommandContext, desired: Desired): Promise<RolloutWithPlan> {
  if (desired.kind !== 'config-map') throw new Failure(describeUnassigned(desired))
  const { ref, object } = desired
  if (object.kind !== 'found')
    throw new Failure(
      `ConfigMap ${configOf(ref)} cannot be read: ${object.kind === 'unavailable' ? object.detail : 'it has not been read yet'}`,
    )
  const snapshot = await context.observe(desired)
  const known = documentRollout(snapshot)
  const annotated = object.rollout?.record
  if (annotated === ROLLOUT_OFF || (annotated === undefined && known === null))
    throw new Failure(`ConfigMap ${configOf(ref)} has no rollout`)
  const record = findRecordRef({ config: ref, record: annotated })
  if (typeof record === 'string') throw new Failure(record)
  const read = await getRecord(context.api, record)
  if (read.kind === 'unavailable') throw new Failure(read.detail)
  const turn = known?.turn ?? { kind: 'unknown', detail: 'the running agent has not seen this assignment yet', waitSeconds: null }
  const plan = parsePlan(object.rollout?.plan, object.rollout?.excluded)
  if (!plan.ok) throw new Failure(`ConfigMap ${configOf(ref)}: ${plan.problem}`)
  const hash = hashObject(object, ref.kubeletConfigKey)
  const { record: content, uid: recordUid, resourceVersion } = read
  const { retry } = plan.plan
  const goesBy = planHere(plan.plan, snapshot, ref, hash)
  const seen = { record: content, recordUid, resourceVersion, configUid: object.uid, hash }
  const sighting = { ...seen, assignment: 0, retry, nowUs: 0, contactUs: 0 }
  // Only the running agent has watched for long enough to know who is silent.
  const progress: Progress | undefined = progressOf(goesBy, read.record, hash, observeRecord(undefined, sighting))
  const silent = known?.progress?.generation === progress?.generation ? (known?.progress?.silent ?? []) : []
  return {
    config: configOf(ref),
    record: record.name,
    plan: documentPlan(goesBy, hash, snapshot.now.wallMs),
    turn,
    progress: progress === undefined ? null : { ...progress, silent },
  }
}

function describeUnassigned(desired: Exclude<Desired, { kind: 'config-map' }>): string {
  switch (desired.kind) {
    case 'unknown':
      return `what is assigned to this node is not known: ${desired.detail}`
    case 'invalid':
      return `the assignment of this node is invalid: ${desired.detail}`
    case 'local':
      return 'no ConfigMap is assigned to this node, so there is no rollout'
  }
}

function renderRollout({ config, record, plan, turn, progress }: RolloutWithPlan, color: boolean): string {
  const rows: Cell[][] = [
    ['Config', config],
    ['Record', record],
  ]
  if (progress === null) rows.push(['Stage', 'the rollout of this content has not begun'])
  else {
    const state = progress.halted ? 'halted' : progress.finished ? 'finished' : 'under way'
    rows.push(['Generation', String(progress.generation)])
    rows.push(['Stage', { text: `${progress.stage} of ${progress.lastStage}, ${state}`, tone: progress.halted ? 'bad' : 'plain' }])
    rows.push(['Open to', describeShare(progress)])
    if (!progress.finished) rows.push(['Proofs', `${progress.proofs} of ${progress.needed}`])
    if (progress.claimed.length > 0) rows.push(['On trial', progress.claimed.join(', ')])
    if (progress.silent.length > 0) rows.push(['Silent', { text: progress.silent.join(', '), tone: 'warning' }])
    for (const { node, reason } of progress.vetoes)
      rows.push(['Veto', { text: `${isGuard(node) ? 'rollout status' : node}: ${reason}`, tone: 'bad' }])
  }
  for (const [name, text] of describePlan(plan)) rows.push([name, text])
  const more = turn.waitSeconds === null ? '' : ` (in ${showSeconds(turn.waitSeconds)})`
  rows.push(['This node', `${TURN_WORDS[turn.kind]}: ${turn.detail}${more}`])
  return `${alignColumns(rows, color).join('\n')}\n`
}
