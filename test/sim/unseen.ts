// SPDX-License-Identifier: Apache-2.0
/** What nobody can see of the kubelet that runs, since it was lost. */
import type { SimWorld } from './sim-world.ts'

/**
 * Whether nobody can see that kubelet hangs: the config file that named its health port was lost
 * while it ran, before an agent had read it, or so was the record of the port.
 */

export function isUnseen({ unit, files }: SimWorld): boolean {
  if (unit.process?.isPortLost !== true) return false
  return unit.activity === 'running' && files.read(unit.process.configPath) === undefined
}

/**
 * Whether both records are gone that said what kubelet was started with, from a file that is always
 * the same one.
 */
export function isOriginLost({ kind, hasLostRuntime, unit }: SimWorld): boolean {
  return kind.activation !== 'env' && hasLostRuntime && unit.process?.isUntraceable === true
}
