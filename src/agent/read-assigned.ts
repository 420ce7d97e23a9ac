/** What is assigned, as the record says, or as its absence means. */
import type { ConfigMapSource, ConfigSource } from '../decision/config-source.ts'
import type { RecordState } from '../decision/records.ts'
import type { UnitState } from '../decision/unit-state.ts'
import type { ActivationState } from '../ports/activation.ts'
import type { Records } from '../ports/store.ts'

/**
 * No record means that nothing was ever assigned. But where kubelet runs or starts with a
 * checkpoint of this directory, the record was lost: what is assigned is then unknown.
 */
export function readAssigned(records: Records, unit: UnitState, activation: ActivationState): RecordState {
  const assigned = records.read('assigned')
  const isInUse = (unit.kind === 'known' && unit.process.kind === 'checkpoint') || activation.kind === 'checkpoint'
  if (assigned.kind === 'damaged' || assigned.source !== 'local' || !isInUse || records.has('assigned')) return assigned
  return { kind: 'damaged', detail: 'meta/assigned is lost, and kubelet uses a checkpoint of this directory' }
}

/** The ConfigMaps that the records name. */
export function listNamed(assigned: RecordState, ...fallbacks: readonly ConfigSource[]): readonly ConfigMapSource[] {
  const sources = [...(assigned.kind === 'source' ? [assigned.source] : []), ...fallbacks]
  return sources.flatMap((source) => (source === 'local' ? [] : [source]))
}
