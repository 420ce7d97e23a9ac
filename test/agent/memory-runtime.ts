/** The records of /run in memory: what ends with a simulated boot. */

import type { ObservationRecord, RestartRecord, SpreadRecord } from '../../src/decision/records.ts'
import type { RolloutKnowledge } from '../../src/decision/staging-state.ts'
import type { EvidenceRecord } from '../../src/evidence/kinds.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import type { RuntimeRecords } from '../../src/ports/store.ts'

export function createRuntime(): RuntimeRecords {
  let health: HealthRecord | undefined
  let restarts: readonly RestartRecord[] = []
  let evidence: EvidenceRecord | undefined
  let spread: SpreadRecord | undefined
  let observation: ObservationRecord | undefined
  let turn: RolloutKnowledge | undefined
  return {
    health: () => health,
    writeHealth: (record) => {
      health = record
    },
    restarts: () => restarts,
    writeRestarts: (records) => {
      restarts = records
    },
    spread: () => spread,
    writeSpread: (record) => {
      spread = record
    },
    observation: () => observation,
    writeObservation: (record) => {
      observation = record
    },
    rolloutTurn: () => turn,
    writeRolloutTurn: (knowledge) => {
      turn = knowledge
    },
    evidence: () => evidence,
    writeEvidence: (record) => {
      evidence = record
    },
  }
}
