/**
 * What this node's kubelet makes of its local config, as the agent asks before a return to it. No
 * policy counts, since the file is the administrator's. Pure but for what is passed in.
 */
import { describeObstacle, toResult } from '../../preflight/agent-preflight.ts'
import type { CommandContext } from '../command.ts'
import { withoutChanges } from '../upgrade-judgement.ts'

export type LocalJudgement =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: 'load' | 'validate'; readonly detail: string }
  /** The local config cannot be judged, which says nothing about it. */
  | { readonly kind: 'unjudged'; readonly detail: string }

export type LocalReaders = Pick<CommandContext, 'readLocalConfig' | 'inspect' | 'settings'>

export async function judgeLocal({ readLocalConfig, inspect, settings }: LocalReaders): Promise<LocalJudgement> {
  const view = await readLocalConfig()
  if (view.kind === 'unusable' && view.why === 'none') return { kind: 'accepted' }
  if (view.kind === 'unusable' && view.why === 'missing') return { kind: 'refused', reason: 'load', detail: view.detail }
  if (view.kind !== 'found') return { kind: 'unjudged', detail: view.detail }
  const { path, text } = view
  const deep = settings.preflight === 'start' ? 'if-possible' : 'no'
  const options = { kubelet: undefined, version: undefined, unknownKeys: 'warn', deep, node: true } as const
  const report = withoutChanges(await inspect({ name: path, files: { [path]: text }, key: path, localPath: path }, options), [])
  const obstacle = describeObstacle(report)
  if (obstacle !== undefined) return { kind: 'refused', reason: 'load', detail: obstacle.message }
  const result = toResult(report)
  if (result.kind === 'refused') return { kind: 'refused', reason: result.reason, detail: result.detail }
  return { kind: 'accepted' }
}
