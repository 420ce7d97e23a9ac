/**
 * What `status -o json` and `rollout -o json` say of a rollout. Fields are added, never renamed or
 * removed. Pure.
 */
import type { Snapshot } from '../../decision/snapshot.ts'
import { findStaging } from '../../decision/staging.ts'
import type { Progress } from '../../rollout/progress.ts'
import type { RolloutTurn } from '../../rollout/view.ts'
import { SECOND_US } from '../../values/durations.ts'

export interface RolloutDocument {
  /** `namespace/name` of the ConfigMap. */
  readonly config: string
  /** The name of the record, in the same namespace. */
  readonly record: string
  readonly turn: TurnDocument
  /** null: the record has not been read, or is about another content. */
  readonly progress: Progress | null
}

export interface TurnDocument {
  readonly kind: 'go' | 'wait' | 'halted' | 'failed' | 'unknown'
  readonly detail: string
  /** Of a wait that ends by itself. */
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
