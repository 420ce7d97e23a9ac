// SPDX-License-Identifier: Apache-2.0
/**
 * Whether nobody can see that kubelet hangs: the config file that named its health port was lost
 * while it ran, before an agent had read it, or so was the record of the port.
 */
import type { SimWorld } from './sim-world.ts'

export function isUnseen({ unit, files }: SimWorld): boolean {
  if (unit.process?.isPortLost !== true) return false
  return unit.activity === 'running' && files.read(unit.process.configPath) === undefined
}
