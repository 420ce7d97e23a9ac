/**
 * `rollout`: how far the rollout of the assigned config has come, and this node's turn. Reads the
 * record from the cluster, and what the running agent knew last. Changes nothing.
 */
import type { Desired } from '../../decision/desired.ts'
import { configOf, ROLLOUT_OFF } from '../../decision/staging.ts'
import { hashConfig } from '../../rollout/config-hash.ts'
import { parsePlan } from '../../rollout/plan.ts'
import { type Progress, progressOf } from '../../rollout/progress.ts'
import { observe } from '../../rollout/silence.ts'
import { findRecordRef, getRecord } from '../../source/rollout/read-record.ts'
import { type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from '../command.ts'
import { formatJson } from '../format-json.ts'
import { documentRollout, type RolloutDocument } from '../rollout-document.ts'
import { renderRollout } from '../rollout-text.ts'

export const rolloutCommand: NodeCommand = {
  name: 'rollout',
  takes: 'node',
  group: 'Inspect',
  summary: "show how far the config's rollout has come, and this node's turn",
  description:
    'Reads from the cluster what is assigned to this node and the record of its rollout, and shows the stage, the witnesses, the ' +
    'vetoes, and why this node goes or waits, as the running agent knew it last. Changes nothing.',
  options: [OUTPUT],
  examples: [
    ['rollout', 'find out what this node waits for'],
    ["rollout -o json | jq -r '.turn.detail'", 'get the reason in a script'],
  ],
  execute: showRollout,
}

async function showRollout(context: CommandContext, options: OptionValues): Promise<ExitCode> {
  const { terminal } = context
  const desired = await context.fetchDesired()
  const found = await readRollout(context, desired)
  if (typeof found === 'string') {
    terminal.err(`${found}\n`)
    return EXIT.failed
  }
  terminal.out(options.output === 'json' ? formatJson(found) : renderRollout(found, terminal.color))
  return EXIT.fine
}

/** @returns a sentence: there is no rollout, or it cannot be read */
async function readRollout(context: CommandContext, desired: Desired): Promise<RolloutDocument | string> {
  if (desired.kind === 'unknown') return `it is not known what is assigned to this node: ${desired.detail}`
  if (desired.kind !== 'config-map') return 'no ConfigMap is assigned to this node, so there is no rollout'
  const { ref, object } = desired
  if (object.kind !== 'found') return `ConfigMap ${configOf(ref)} cannot be read`
  const known = documentRollout(await context.observe(desired))
  const annotated = object.rollout?.record
  if (annotated === ROLLOUT_OFF || (annotated === undefined && known === null)) return `ConfigMap ${configOf(ref)} has no rollout`
  const record = findRecordRef({ config: ref, record: annotated })
  if (typeof record === 'string') return record
  const read = await getRecord(context.api, record)
  if (read.kind === 'unavailable') return read.detail
  const turn = known?.turn ?? { kind: 'unknown', detail: 'the agent has not taken this config over yet', waitSeconds: null }
  const plan = parsePlan(object.rollout?.plan)
  if (!plan.ok) return plan.problem
  const hash = hashConfig(object.data, ref.kubeletConfigKey)
  const { record: content, uid: recordUid, resourceVersion } = read
  const { retry } = plan.plan
  const sighting = { record: content, recordUid, resourceVersion, configUid: object.uid, hash, retry, nowUs: 0, contactUs: 0 }
  // Only the running agent has watched for long enough to know who is silent.
  const progress: Progress | undefined = progressOf(plan.plan, read.record, hash, observe(undefined, sighting))
  const silent = known?.progress?.generation === progress?.generation ? (known?.progress?.silent ?? []) : []
  return { config: configOf(ref), record: record.name, turn, progress: progress === undefined ? null : { ...progress, silent } }
}
