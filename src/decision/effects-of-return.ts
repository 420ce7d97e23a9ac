/** What a return to local does beside what any change does: what ran stays on record. Pure. */
import type { ConfigSource } from './config-source.ts'
import { type Effect, forgetLeft } from './effects.ts'
import { chooseLeft, isLocalAssigned, listLeft } from './left.ts'
import { put } from './record-table.ts'
import type { Snapshot } from './snapshot.ts'
import type { ReadyWiring } from './unit-state.ts'

export function leave(snapshot: Snapshot): readonly Effect[] {
  const sources = chooseLeft(snapshot)
  return sources.length === 0 ? forgetLeft(snapshot) : [put('left', { sources })]
}

/**
 * Local takes away what was staged, so this comes after it. Last: local may be the last resort on a
 * disk that is full.
 */
export function prepareWayBack(snapshot: Snapshot, fallback: ConfigSource | undefined, wiring: ReadyWiring): readonly Effect[] {
  const left = isLocalAssigned(snapshot) ? listLeft(snapshot).flatMap(({ source }) => (source === 'local' ? [] : [source])) : []
  if (left.length === 0) return []
  const { localConfig, proven } = snapshot
  return [
    ...(proven === undefined ? [] : [put('proven', undefined)]),
    put('left', { sources: left, ...(localConfig !== undefined && { localConfig }) }),
    ...(fallback === undefined ? [] : [{ kind: 'stage-fallback', fallback, wiring } as const]),
  ]
}
