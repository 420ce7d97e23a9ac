/** What the records of sources say, or what their absence means, or that they are empty. */
import type { ConfigMapSource, ConfigSource } from '../decision/config-source.ts'
import type { RecordState, SourceName } from '../decision/records.ts'
import type { UnitState } from '../decision/unit-state.ts'
import type { SeenProcess } from '../health/process.ts'
import type { ActivationState } from '../ports/activation.ts'
import type { Records } from '../ports/store.ts'

/** What shows that a checkpoint was assigned once. */
export interface Traces {
  readonly unit: UnitState
  readonly activation: ActivationState
  /** The process that was seen last in this boot. */
  readonly lastProcess: Pick<SeenProcess, 'source'> | undefined
}

/**
 * No record means that nothing was ever assigned. But where kubelet runs, ran in this boot or
 * starts with a checkpoint of this directory, or may run one, the record was lost: what is assigned
 * is then unknown.
 */
export function readAssigned(records: Records, traces: Traces): RecordState {
  const assigned = readSource(records, 'assigned', traces)
  if (assigned.kind === 'damaged' || assigned.source !== 'local' || !isInUse(traces) || records.has('assigned')) return assigned
  return { kind: 'damaged', detail: 'meta/assigned is lost, and kubelet uses a checkpoint of this directory' }
}

/** An empty record may be all that a disk has kept of another one. */
export function readSource(records: Pick<Records, 'read'>, name: SourceName, traces: Traces): RecordState {
  const record = records.read(name)
  if (record.kind === 'damaged' || record.unconfirmed !== true || !isInUse(traces)) return record
  return { kind: 'damaged', detail: `meta/${name} is empty, nothing says that local was recorded, and kubelet uses a checkpoint` }
}

function isInUse({ unit, activation, lastProcess }: Traces): boolean {
  if (unit.kind === 'known' && unit.process.kind === 'checkpoint') return true
  if (activation.kind === 'checkpoint' || (activation.kind === 'unknown' && activation.unrecorded === true)) return true
  // The file that it was started with held something else until then.
  const since = activation.kind === 'local' ? activation.since : undefined
  if (since !== undefined && unit.kind === 'known' && unit.startedAtUs < since.monotonicUs) return true
  return lastProcess?.source !== undefined && lastProcess.source !== 'local'
}

/** The ConfigMaps that the records name. */
export function listNamed(assigned: RecordState, ...fallbacks: readonly ConfigSource[]): readonly ConfigMapSource[] {
  const sources = [...(assigned.kind === 'source' ? [assigned.source] : []), ...fallbacks]
  return sources.flatMap((source) => (source === 'local' ? [] : [source]))
}
