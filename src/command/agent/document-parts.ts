// SPDX-License-Identifier: Apache-2.0
/**
 * The parts that the documents and texts of several commands share: the agent, the unit, sources of
 * configs, and the rollout. Pure.
 */

import { PHASES } from '../../decision/phases.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import { findStaging } from '../../decision/staging.ts'
import type { Progress } from '../../rollout/progress.ts'
import type { RolloutTurn } from '../../rollout/view.ts'
import { type ConfigSource, describeVersion, type HeldSource, sameSource } from '../../subject/config-source.ts'
import type { UnitActivity } from '../../subject/unit-state.ts'
import { formatDuration, SECOND_US } from '../../values/durations.ts'
import { type Cell, type Tone, toned } from '../terminal.ts'
import type { AgentPresence } from './command.ts'
import type { Explanation } from './explain.ts'

export interface AgentDocument {
  /** null: unknown. */
  readonly running: boolean | null
  readonly pid?: number
  /** The directory was removed while the agent ran. Absent: it was not. */
  readonly directory?: 'removed'
}

interface UnitDocument {
  readonly activity: UnitActivity | 'unknown'
  readonly detail: string
}

export type SourceDocument =
  | { readonly kind: 'local' }
  | {
      readonly kind: 'configMap'
      readonly namespace: string
      readonly name: string
      readonly kubeletConfigKey: string
      readonly uid: string
      readonly resourceVersion: string
      /** The hash of this node's overlay that is applied to it. Absent: no overlay. */
      readonly overlay?: string
      /** `missing`: no complete checkpoint of it is on disk. Absent: not read. */
      readonly checkpoint?: 'present' | 'missing'
    }
  /** No kubelet process. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly detail: string }

export function documentAgent(agent: AgentPresence): AgentDocument {
  switch (agent.kind) {
    case 'running':
      return {
        running: true,
        ...(agent.pid !== undefined && { pid: agent.pid }),
        ...(agent.isWithoutDirectory && { directory: 'removed' }),
      }
    case 'absent':
      return { running: false }
    case 'unknown':
      return { running: null }
  }
}

export function documentUnit({ unit, healthz, portTaken }: Pick<Snapshot, 'unit' | 'healthz' | 'portTaken'>): UnitDocument {
  if (unit.kind === 'unknown') return { activity: 'unknown', detail: unit.detail }
  const doubt = healthz?.ok === 'unknown' ? `; ${healthz.detail}` : ''
  const taken = portTaken === undefined ? '' : `; ${portTaken}`
  const unverified = healthz?.unverified === undefined ? '' : `; who answers at the health port is not verified: ${healthz.unverified}`
  return { activity: unit.activity, detail: `${unit.summary}${doubt}${taken}${unverified}` }
}

export function documentSource(source: ConfigSource): SourceDocument {
  if (source === 'local') return { kind: 'local' }
  const { namespace, name, kubeletConfigKey, uid, resourceVersion, overlay } = source
  return { kind: 'configMap', namespace, name, kubeletConfigKey, uid, resourceVersion, ...(overlay !== undefined && { overlay }) }
}

export function documentHeld({ source, content }: HeldSource): SourceDocument {
  const document = documentSource(source)
  return document.kind === 'configMap' ? { ...document, checkpoint: content === undefined ? 'missing' : 'present' } : document
}

export function documentAssigned({ assigned, assignedContent }: Snapshot): SourceDocument {
  return assigned.kind === 'source' ? documentHeld({ source: assigned.source, content: assignedContent }) : unknownDocument(assigned.detail)
}

export function documentActive(snapshot: Snapshot, active: ConfigSource | undefined): SourceDocument {
  const { running, nextStart, unit } = snapshot
  if (running.kind === 'none') return { kind: 'none' }
  if (running.kind === 'unknown') return unknownDocument(running.detail)
  if (active !== undefined) {
    return nextStart.kind === 'known' && sameSource(nextStart.held.source, active) ? documentHeld(nextStart.held) : documentSource(active)
  }
  const process = unit.kind === 'known' ? unit.process : undefined
  if (process?.kind === 'checkpoint')
    return unknownDocument(`a checkpoint that no record names: ${process.uid}/${describeVersion(process)}`)
  if (process?.kind === 'other' && process.configPath !== undefined) return unknownDocument(process.configPath)
  return unknownDocument('neither the local config nor a checkpoint')
}

export function unknownDocument(detail: string): SourceDocument {
  return { kind: 'unknown', detail }
}

export function showSeconds(count: number): string {
  return formatDuration(count * SECOND_US)
}

/** Rounded up, so a remaining time is never 0. */
export function seconds(us: number): number {
  return Math.ceil(us / SECOND_US)
}

export interface RolloutDocument {
  /** `namespace/name` of the ConfigMap. */
  readonly config: string
  /** The name of the record, in the same namespace. */
  readonly record: string
  readonly turn: TurnDocument
  /** null: the record has not been read, or is about another content. */
  readonly progress: Progress | null
}

interface TurnDocument {
  readonly kind: 'go' | 'wait' | 'halted' | 'failed' | 'unknown'
  readonly detail: string
  /** The time of a wait that ends by itself. */
  readonly waitSeconds: number | null
}

export const TURN_WORDS = {
  go: 'has its turn',
  wait: 'waits',
  halted: 'halted',
  failed: 'failed here',
  unknown: 'unknown',
} as const satisfies Record<TurnDocument['kind'], string>

export function documentRollout(snapshot: Snapshot): RolloutDocument | null {
  const { assigned, rollout, now } = snapshot
  const staging = assigned.kind === 'source' ? findStaging(snapshot, assigned.source) : undefined
  if (staging === undefined) return null
  const { config, record } = staging
  const known = rollout?.config === config ? rollout : undefined
  return { config, record, turn: documentTurn(known?.turn, now.monotonicUs), progress: known?.progress ?? null }
}

function documentTurn(turn: RolloutTurn | undefined, nowUs: number): TurnDocument {
  if (turn === undefined) return { kind: 'unknown', detail: 'the agent has not read the record since the node started', waitSeconds: null }
  if (turn.kind !== 'wait-until') return { kind: turn.kind, detail: turn.detail, waitSeconds: null }
  return { kind: 'wait', detail: turn.detail, waitSeconds: Math.max(0, Math.ceil((turn.atUs - nowUs) / SECOND_US)) }
}

/** Source, version, uid. */
export function describeDocument(source: SourceDocument): Cell[] {
  switch (source.kind) {
    case 'local':
      return ['local']
    case 'none':
      return [toned('none: no kubelet process', 'faint')]
    case 'unknown':
      return [toned(`unknown: ${source.detail}`, 'warning')]
    case 'configMap': {
      const name = `${source.namespace}/${source.name}:${source.kubeletConfigKey}`
      const missing = source.checkpoint === 'missing' ? [toned('checkpoint missing', 'bad')] : []
      return [name, describeVersion(source), source.uid, ...missing]
    }
  }
}

/** The agent does so by itself, but not twice within 10 minutes. */
const RESTART = 'systemctl restart kubelet-cfg-agent'

export function describeAgent({ running, pid, directory }: AgentDocument): Cell {
  if (running === null) return toned('unknown', 'warning')
  if (!running) return toned('not running', 'warning')
  const process = pid === undefined ? 'running' : `running (pid ${pid})`
  return directory === undefined ? process : toned(`${process}, and its directory was removed: ${RESTART}`, 'bad')
}

export function toneOfPhase(phase: Explanation['phase']): Tone {
  return phase === 'due' ? 'plain' : PHASES[phase].tone
}
