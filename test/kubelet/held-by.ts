// SPDX-License-Identifier: Apache-2.0
/** Ports that all have the same holder. */
import type { PortHolder, PortHolders } from '../../src/ports/probes.ts'

export function heldBy(holder: PortHolder = { kind: 'own', inodes: ['1'] }): PortHolders {
  return { holderOf: () => holder, keeperOf: async () => holder }
}
