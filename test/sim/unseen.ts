/**
 * Whether nobody can see that kubelet hangs: the config file that named its health port was lost
 * while it ran, and so was the agent that had read it.
 */
import type { SimWorld } from './sim-world.ts'

export function isUnseen({ unit, files, lostStates }: SimWorld): boolean {
  if (lostStates === 0 || unit.process === undefined) return false
  return unit.activity === 'running' && files.read(unit.process.configPath) === undefined
}
