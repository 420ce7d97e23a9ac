// SPDX-License-Identifier: Apache-2.0
import { LastingFaults } from '../../src/checkpoint/lasting-faults.ts'
import type { Log } from '../../src/ports/log.ts'
import { silentLog } from './silent-log.ts'

/** By default time stands still: no fault ever lasts. */
export function faultsOver(nowUs: () => number = () => 0, log: Log = silentLog()): LastingFaults {
  return new LastingFaults({ now: () => ({ bootId: 'b', monotonicUs: nowUs(), wallMs: 0 }) }, log)
}
