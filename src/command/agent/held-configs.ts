// SPDX-License-Identifier: Apache-2.0
/**
 * The configs that this node holds: what is assigned, what runs, and what it can fall back to. Each
 * content once, with all that it is here. Pure but for the readers that are passed in.
 */

import { findRunning } from '../../decision/held-sources.ts'
import { listLeft } from '../../decision/left.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import { describeObstacle, toResult } from '../../preflight/agent-preflight.ts'
import type { InspectedConfig } from '../../preflight/inspection.ts'
import {
  type ConfigMapSource,
  type ConfigSource,
  type ContentHash,
  describeSource,
  type HeldSource,
  LOCAL,
} from '../../subject/config-source.ts'
import type { KnownUnit } from '../../subject/unit-state.ts'
import { type ConfigRole, withoutChanges } from '../upgrade-judgement.ts'
import type { CommandContext } from './command.ts'
import { readConfigOf } from './config-text.ts'

export interface HeldConfig {
  readonly name: string
  /** In the order of the type. */
  readonly roles: readonly ConfigRole[]
  readonly config:
    | ({ readonly ok: true } & Pick<InspectedConfig, 'files' | 'key' | 'localPath'>)
    | { readonly ok: false; readonly detail: string }
}

type Readers = Pick<CommandContext, 'checkpoints' | 'files'>

/** Kubelet's local config counts where kubelet has a file for it. */
export function listHeldConfigs(snapshot: Snapshot, unit: KnownUnit, readers: Readers): readonly HeldConfig[] {
  const { assigned, assignedContent, lastKnownGood, previous } = snapshot
  const running = findRunning(snapshot)
  const held: readonly (readonly [ConfigRole, HeldSource])[] = [
    ...(assigned.kind === 'source' ? [['assigned', { source: assigned.source, content: assignedContent }] as const] : []),
    ...(running === undefined ? [] : [['active', running] as const]),
    ['last-known-good', lastKnownGood],
    ['previous', previous],
    ...listLeft(snapshot).map((held) => ['left', held] as const),
    ['local', LOCAL],
  ]
  const groups = new Map<ContentHash | ConfigSource, { readonly source: ConfigSource; readonly roles: ConfigRole[] }>()
  for (const [role, { source, content }] of held) {
    if (source === 'local' && unit.localConfigPath === undefined) continue
    const key = content ?? describeSource(source)
    const group = groups.get(key) ?? { source, roles: [] }
    group.roles.push(role)
    groups.set(key, group)
  }
  return [...groups.values()].map(({ source, roles }) => ({
    name: source === 'local' ? (unit.localConfigPath ?? source) : describeSource(source),
    roles,
    config: source === 'local' ? readLocal(snapshot, unit, readers) : readCheckpoint(source, readers),
  }))
}

function readLocal(snapshot: Snapshot, unit: KnownUnit, readers: Readers): HeldConfig['config'] {
  const read = readConfigOf('local', snapshot, unit, readers)
  return read.ok ? { ok: true, files: { kubelet: read.text }, key: 'kubelet', localPath: unit.localConfigPath } : read
}

function readCheckpoint(source: ConfigMapSource, { checkpoints }: Readers): HeldConfig['config'] {
  const files = checkpoints.data(source.uid, source.resourceVersion, source.overlay)
  return files === undefined ? { ok: false, detail: 'its checkpoint is missing' } : { ok: true, files, key: source.kubeletConfigKey }
}

export type LocalJudgement =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: 'load' | 'validate'; readonly detail: string }
  /** The local config cannot be judged, which says nothing about it. */
  | { readonly kind: 'unjudged'; readonly detail: string }

type LocalReaders = Pick<CommandContext, 'readLocalConfig' | 'inspect' | 'settings'>

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
