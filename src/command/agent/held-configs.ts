/**
 * The configs that this node holds: what is assigned, what runs, and what it can fall back to. Each
 * content once, with all that it is here. Pure but for the readers that are passed in.
 */
import type { ConfigMapSource, ConfigSource, ContentHash, HeldSource } from '../../decision/config-source.ts'
import { describeSource, LOCAL } from '../../decision/config-source.ts'
import { findRunning } from '../../decision/held-sources.ts'
import { listLeft } from '../../decision/left.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import type { KnownUnit } from '../../decision/unit-state.ts'
import type { InspectedConfig } from '../../preflight/inspection.ts'
import { readConfigOf } from './active-config.ts'
import type { CommandContext } from '../command.ts'

/** In the order in which a node falls back. `left`: what a return to local left. */
export const FALLBACKS = ['last-known-good', 'previous', 'left', 'local'] as const
export type ConfigRole = 'assigned' | 'active' | (typeof FALLBACKS)[number]

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
