// SPDX-License-Identifier: Apache-2.0
/** Selects what is worth a line of the timeline, and shortens it. Pure. */

import type { ConfigStatus } from '../src/report/status.ts'
import { openPercent, type Plan } from '../src/rollout/plan.ts'
import type { Entry, RolloutRecord } from '../src/rollout/record.ts'
import type { ConfigSource } from '../src/subject/config-source.ts'
import type { LogLine } from './agent-process.ts'

/** Prefixes of the agent's log lines that are shown; warnings and errors are always shown. */
const SHOWN = [
  'kubelet-cfg-agent ',
  'drop-in: ',
  'successfully downloaded ',
  'activated ',
  'in-trial: ',
  'paused: ',
  'updated last-known-good config to ',
  'verdict confirmed: ',
  'dropped verdicts',
  'Node.Spec.ConfigSource is empty, ',
  'settled: local',
]

/** undefined: not shown. */
export function tellLog({ level, msg, detail }: LogLine): { readonly text: string; readonly isTrouble: boolean } | undefined {
  const isTrouble = level === 'warn' || level === 'error'
  const isShown = isTrouble || msg.endsWith(' can be read again') || SHOWN.some((prefix) => msg.startsWith(prefix))
  return isShown ? { text: detail === undefined ? msg : `${msg}: ${detail}`, isTrouble } : undefined
}

/** One line, and a second one for an error. */
export function tellStatus(status: ConfigStatus | 'absent'): readonly string[] {
  if (status === 'absent') return ['no status.config']
  const { assigned, active, lastKnownGood, error } = status
  const isEmpty = assigned === 'local' && active === 'local' && lastKnownGood === 'local' && error === ''
  if (isEmpty) return ['status.config is {}']
  const sources = `assigned ${nameSource(assigned)}, active ${nameSource(active)}, last-known-good ${nameSource(lastKnownGood)}`
  return error === '' ? [sources] : [sources, `error: ${error}`]
}

/** The words that nodes have written to the record of a rollout since. */
export function tellRecord(plan: Plan, before: RolloutRecord, after: RolloutRecord): readonly string[] {
  const { state } = after
  if (state === undefined) return []
  const isNew = before.state?.generation !== state.generation
  const words = [...after.entries]
    .filter(([node, entry]) => entry.generation === state.generation && !isSame(before, node, entry))
    .map(([node, entry]) => tellEntry(node, entry))
  const isOpened = !isNew && before.state?.stage !== state.stage
  return [...(isNew ? [`rollout ${state.generation} begins`] : []), ...words, ...(isOpened ? [tellStage(plan, state.stage)] : [])]
}

function isSame(before: RolloutRecord, node: string, entry: Entry): boolean {
  const other = before.entries.get(node)
  return other?.generation === entry.generation && other.kind === entry.kind
}

function tellEntry(node: string, entry: Entry): string {
  switch (entry.kind) {
    case 'claim':
      return `${node} starts it, and says so first`
    case 'proof':
      return `${node} has proved it: its trial has passed`
    case 'veto':
      return `${node} says that it failed: ${entry.reason}`
  }
}

function tellStage(plan: Plan, stage: number): string {
  const percent = openPercent(plan, stage)
  if (percent === 0) return `stage ${stage} opens: one more node may start it`
  return `stage ${stage} opens: ${percent === 100 ? 'all nodes' : `${percent} % of the nodes`} may start it`
}

/** How the timeline names a version of a ConfigMap. */
export function nameSource(source: ConfigSource | undefined): string {
  if (source === undefined) return '?'
  return source === 'local' ? 'local' : `${source.name}@${source.resourceVersion}`
}

/** Shortens sources and UIDs, and makes paths relative to the demo's directory. */
export function shorten(text: string, directory: string): string {
  return text
    .replaceAll(
      /\/api\/v1\/namespaces\/[^/]+\/configmaps\/([^ ,]+), UID: [^ ,]+, ResourceVersion: (\w+)(, KubeletConfigKey: \w+)?/g,
      '$1@$2',
    )
    .replaceAll(/[-\w]+\/([-.\w]+):[-.\w]+@(\w+)/g, '$1@$2')
    .replaceAll(`${directory}/`, '')
    .replaceAll(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '$1')
}
