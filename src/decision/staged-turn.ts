/**
 * Whether a config that has a rollout may be activated here, by what the worker for the record knows. A turn that was read counts for a few seconds only: before a start, the record and then the
 * config are read at their newest (R3). Falling back, local and what an operator requests on the
 * node never wait for it (R5). Pure.
 */
import type { RolloutTurn } from '../rollout/view.ts'
import { SECOND_US } from '../values/durations.ts'
import type { ConfigSource, ContentHash } from './config-source.ts'
import type { Snapshot } from './snapshot.ts'
import { configOf, findStaging, latestContent } from './staging.ts'
import { hasPassed } from './trial.ts'

/** How long a turn counts after it was read. */
export const TURN_COUNTS_US = 10 * SECOND_US

const UNREAD: RolloutTurn = { kind: 'wait', detail: 'the record of its rollout has not been read yet' }

/** @returns undefined: this config has no rollout */
export function findStagedTurn(snapshot: Snapshot, source: ConfigSource, content: ContentHash): RolloutTurn | undefined {
  const { rollout, now } = snapshot
  const staging = findStaging(snapshot, source)
  const staged = staging && latestContent(staging)
  if (source === 'local' || staging === undefined || staged === undefined) return undefined
  if (staged.content === content && staged.requested === true) return { kind: 'go', detail: 'an operator requested it on the node' }
  if (rollout === undefined || rollout.config !== configOf(source) || rollout.hash !== staged.hash || staged.content !== content)
    return UNREAD
  const { turn, confirmedAtUs } = rollout
  if (turn.kind !== 'go') return turn
  const isFresh = confirmedAtUs !== undefined && now.monotonicUs - confirmedAtUs <= TURN_COUNTS_US
  return isFresh ? turn : { kind: 'wait', detail: 'the agent confirms the turn with a fresh read of the record and the config' }
}

export function isHeldByRollout(snapshot: Snapshot, { source, content }: { source: ConfigSource; content: ContentHash }): boolean {
  const turn = findStagedTurn(snapshot, source, content)
  return turn !== undefined && turn.kind !== 'go'
}

/** Whether the record has a claim of this node for what kubelet runs, whose trial has passed without a proof. */
export function owesProof(snapshot: Snapshot): boolean {
  const { assigned, running, rollout } = snapshot
  if (running.kind !== 'known' || assigned.kind !== 'source' || assigned.source === 'local' || rollout === undefined) return false
  const staging = findStaging(snapshot, assigned.source)
  const staged = staging && latestContent(staging)
  if (staged === undefined || staged.content !== running.content || staged.proved === true || !hasPassed(snapshot, running.key))
    return false
  const { config, hash, turn } = rollout
  return config === configOf(assigned.source) && hash === staged.hash && turn.kind === 'go' && turn.asks === 'proof'
}
