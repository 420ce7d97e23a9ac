// SPDX-License-Identifier: Apache-2.0
/**
 * Which kinds of evidence the node has shown to lack, or to have, with the kubelet that runs: the
 * truth that the agent's evidence is compared with.
 */
import { OPTIONAL_KINDS, type OptionalKind } from '../../src/evidence/kinds.ts'
import { behaviourOf } from './behaviour.ts'
import type { SimWorld } from './sim-world.ts'

/** Kubelet renews its Lease so often, and twice for a yes. */
const RENEWED_TWICE_US = 10e6

export class NodeWork {
  readonly #world: SimWorld
  #invocationId = ''
  readonly #lacked = new Set<OptionalKind>()
  readonly #shown = new Set<OptionalKind>()

  constructor(world: SimWorld) {
    this.#world = world
  }

  check(): void {
    const { unit } = this.#world
    if (unit.invocationId !== this.#invocationId) {
      this.#lacked.clear()
      this.#shown.clear()
    }
    this.#invocationId = unit.invocationId
    if (unit.process === undefined) return
    for (const kind of OPTIONAL_KINDS) {
      if (this.#lacks(kind, unit.process.text)) this.#lacked.add(kind)
      else if (this.#isShown(kind, unit.process.healthyFromUs)) this.#shown.add(kind)
    }
  }

  hasLacked(kind: OptionalKind): boolean {
    return this.#lacked.has(kind)
  }

  hasShown(kind: OptionalKind): boolean {
    return this.#shown.has(kind)
  }

  #lacks(kind: OptionalKind, text: string): boolean {
    const { unit, troubles } = this.#world
    const behaviour = behaviourOf(text)
    switch (kind) {
      case 'runtime':
        return !unit.runtime.isUp(unit.runtime.endpointOf(text))
      case 'lease':
        return behaviour === 'loses-lease'
      case 'ready':
        return behaviour === 'not-ready' || troubles.has('not-ready')
      case 'serving':
        return behaviour === 'breaks-serving'
      case 'static-pods':
        return behaviour === 'loses-static-pods'
      case 'pods':
        return behaviour === 'refuses-pods'
    }
  }

  #isShown(kind: OptionalKind, healthyFromUs: number): boolean {
    const { unit, nowUs, cluster, troubles } = this.#world
    if (!unit.isHealthy()) return false
    const isServerUp = cluster.isUp(nowUs) && !troubles.has('api-busy')
    if (kind === 'lease') return isServerUp && nowUs - healthyFromUs >= RENEWED_TWICE_US
    return kind === 'ready' ? isServerUp : kind !== 'pods'
  }
}
