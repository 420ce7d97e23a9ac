/** The records of /run in memory: what ends with a simulated boot. */
import type { HealthRecord, RestartRecord, SpreadRecord } from '../../src/agent/model.ts'
import type { RuntimeRecords } from '../../src/agent/ports.ts'

export function createRuntime(): RuntimeRecords {
  let health: HealthRecord | undefined
  let restarts: readonly RestartRecord[] = []
  let spread: SpreadRecord | undefined
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
  }
}
