// SPDX-License-Identifier: Apache-2.0
/**
 * How a simulated node is set up: its unit, its kind of activation, and how the cluster assigns.
 */
import type { SwitchedChannel } from '../../src/decision/channels.ts'
import type { WhenRefused } from '../../src/decision/snapshot.ts'
import type { ActivationKind } from '../../src/subject/unit-state.ts'
import { seededRandom } from './random.ts'

export interface NodeKind {
  readonly activation: ActivationKind
  /**
   * `Type=` of kubelet's unit. A `notify` unit is `activating` until kubelet says that it is ready.
   */
  readonly unit: 'simple' | 'notify'
  /** `StartLimitBurst=`: systemd gives up after so many automatic restarts. */
  readonly startLimit: number
  /** `Restart=`. */
  readonly restart: 'always' | 'on-failure'
  /** `RestartSec=`. */
  readonly restartSeconds: number
  /** Systemd tells how long it waits before a restart. */
  readonly tellsWait: boolean
  readonly channel: SwitchedChannel
  /** The ConfigMaps hold parts, which are merged over the local config. */
  readonly parts: boolean
  /** The agent asks for evidence in a trial. */
  readonly evidence: boolean
  readonly whenRefused: WhenRefused
  /**
   * A second agent is there, which waits for the lock: it takes over at once when the first one
   * dies.
   */
  readonly standby: boolean
  /** The agent may read kubelet's journal. */
  readonly journal: boolean
  /** The agent asks its container runtime in the background, and goes by the latest answer. */
  readonly remembersRuntime: boolean
  /** There is a system bus, on which the agent hears what happens to kubelet's unit. */
  readonly signals: boolean
  /**
   * Kubelet has a CPU manager, which does not start with the state of another policy, and its unit
   * sets that aside.
   */
  readonly managers: boolean
}

/** The node of the documentation, and of most schedules. */
export const PLAIN_NODE: NodeKind = {
  activation: 'env',
  unit: 'simple',
  startLimit: Number.POSITIVE_INFINITY,
  restart: 'always',
  restartSeconds: 10,
  tellsWait: false,
  channel: 'config-source',
  parts: false,
  evidence: false,
  whenRefused: 'stay',
  standby: false,
  journal: false,
  remembersRuntime: false,
  signals: false,
  managers: false,
}

export function makeNodeKind(seed: number): NodeKind {
  const random = seededRandom(seed ^ 0x40de)
  return {
    // No draw of its own, which would change all that is drawn after it.
    activation: random.chance(0.35) ? (seed % 2 === 0 ? 'drop-in' : 'file') : 'env',
    unit: random.chance(0.25) ? 'notify' : 'simple',
    startLimit: random.chance(0.2) ? 6 : Number.POSITIVE_INFINITY,
    restart: seededRandom(seed ^ 0x4e57).chance(0.25) ? 'on-failure' : 'always',
    tellsWait: true,
    restartSeconds: seededRandom(seed ^ 0x4e5ec).pick([10, 10, 5, 90]),
    channel: random.pick(['config-source', 'config-source', 'config-source', 'label', 'annotation', 'selector'] as const),
    evidence: random.chance(0.3),
    whenRefused: random.chance(0.25) ? 'last-known-good' : 'stay',
    standby: random.chance(0.15),
    parts: random.chance(0.25),
    remembersRuntime: true,
    journal: seededRandom(seed ^ 0x10e7).chance(0.6),
    signals: seededRandom(seed ^ 0xb05).chance(0.7),
    // They have schedules of their own.
    managers: false,
  }
}
