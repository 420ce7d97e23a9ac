// SPDX-License-Identifier: Apache-2.0
/**
 * The CPU manager of a simulated kubelet: writes its state when it starts, and does not start with
 * that of another policy. The unit sets the state aside before (`ExecStartPre=`), unless the agent
 * has said that nothing can differ.
 */
import { cpuPolicyOf } from './behaviour.ts'
import { DIRECTORY } from './paths.ts'
import type { SimUnitWorld } from './sim-unit-world.ts'

const STATE = '/var/lib/kubelet/cpu_manager_state'

export class SimManagers {
  /** How often kubelet met a state with which it does not start. */
  met = 0
  /** How often one was set aside. */
  aside = 0
  readonly #world: Pick<SimUnitWorld, 'kind' | 'readText' | 'writeText'>
  /** Of the state. undefined: there is none. */
  #policy: 'none' | 'static' | undefined

  constructor(world: Pick<SimUnitWorld, 'kind' | 'readText' | 'writeText'>) {
    this.#world = world
  }

  /** @param text of the config that kubelet is about to start with */
  beforeStart(text: string): void {
    if (!this.#world.kind.managers || this.#world.readText(`${DIRECTORY}/states-fit`) !== undefined || this.#fits(text)) return
    this.aside += 1
    this.#policy = undefined
    // Until kubelet writes it anew, nothing is there, which says as much.
    this.#write('none')
  }

  /** @returns whether kubelet exits for it */
  dies(text: string): boolean {
    if (!this.#world.kind.managers) return false
    if (!this.#fits(text)) {
      this.met += 1
      return true
    }
    if (this.#policy === undefined) this.#write(cpuPolicyOf(text))
    this.#policy = cpuPolicyOf(text)
    return false
  }

  #fits(text: string): boolean {
    return this.#policy === undefined || this.#policy === cpuPolicyOf(text)
  }

  #write(policy: string): void {
    this.#world.writeText(STATE, JSON.stringify({ policyName: policy, defaultCpuSet: '' }))
  }
}
