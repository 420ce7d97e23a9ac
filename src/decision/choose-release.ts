// SPDX-License-Identifier: Apache-2.0
/**
 * The config that kubelet starts with once the agent is gone, when nothing watches that start and
 * nothing can roll it back. Pure; decided on the same records and verdicts as the loop's steps.
 */
import { type ConfigSource, describeSource, type HeldSource, LOCAL, sameSource } from '../subject/config-source.ts'
import type { KnownUnit, ReadyWiring } from '../subject/unit-state.ts'
import { listLeft } from './left.ts'
import type { Snapshot } from './snapshot.ts'
import { findVerdict } from './verdict.ts'

export type Release =
  /** The next start is safe as it is. */
  | { readonly kind: 'keep'; readonly why: string }
  | { readonly kind: 'activate'; readonly target: ConfigSource; readonly wiring: ReadyWiring; readonly why: string }
  /** Return to local wherever the agent has activated something: the unit could use it later. */
  | { readonly kind: 'withdraw'; readonly why: string }
  /** The config of the next start cannot be read. */
  | { readonly kind: 'unknown'; readonly detail: string }

export function chooseRelease(snapshot: Snapshot): Release {
  const { unit } = snapshot
  if (unit.kind === 'unknown') return { kind: 'unknown', detail: unit.detail }
  const { wiring } = unit
  if (wiring.kind === 'broken') {
    const why = `the unit does not take its config from the agent as it should (${wiring.detail})`
    return { kind: 'withdraw', why }
  }
  return wiring.leavesWithAgent ? restoreOriginal(snapshot, wiring) : leaveProven(snapshot, unit, wiring)
}

/** The place belongs to the administrator. Without the agent, nothing would restore it. */
function restoreOriginal({ nextStart }: Snapshot, wiring: ReadyWiring): Release {
  if (nextStart.kind === 'unknown') return nextStart
  const { source } = nextStart.held
  if (source === 'local') return { kind: 'keep', why: 'kubelet starts with its local config next' }
  return {
    kind: 'activate',
    target: 'local',
    wiring,
    why: wiring.replacesLocalFile
      ? `${describeSource(source)} is in the place of a file that belongs to this machine`
      : `${describeSource(source)} is in a directory that belongs to this machine`,
  }
}

function leaveProven(snapshot: Snapshot, unit: KnownUnit, wiring: ReadyWiring): Release {
  const { nextStart } = snapshot
  const { source, content } = chooseRefuge(snapshot, unit)
  if (nextStart.kind === 'unknown') return { kind: 'activate', target: source, wiring, why: nextStart.detail }
  const next = nextStart.held
  if (next.source === 'local') return { kind: 'keep', why: 'kubelet starts with its local config next' }
  const same = sameSource(next.source, source) || next.content === content
  if (same && next.content !== undefined) {
    const isLeft = listLeft(snapshot).some(({ source: left }) => sameSource(left, next.source))
    const what = isLeft ? 'what it runs, since its local config is not usable' : 'last-known-good'
    return { kind: 'keep', why: `kubelet starts with ${what} next, ${describeSource(next.source)}` }
  }
  return { kind: 'activate', target: source, wiring, why: `${describeSource(next.source)} is not proven` }
}

/**
 * The first of last-known-good, previous, what a return to local left, and local that has a
 * checkpoint and has neither failed nor been refused on this kubelet.
 */
function chooseRefuge(snapshot: Snapshot, unit: KnownUnit): HeldSource {
  const { lastKnownGood, previous } = snapshot
  const isFit = ({ content }: HeldSource) => content !== undefined && findVerdict(snapshot, content, unit) === undefined
  return [lastKnownGood, previous, ...listLeft(snapshot)].find(isFit) ?? LOCAL
}
