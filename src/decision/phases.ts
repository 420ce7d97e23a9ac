// SPDX-License-Identifier: Apache-2.0
/**
 * The phases in which a pass ends with nothing to do but wait, and what follows from each: how
 * often the node is looked at, and how the phase is reported. A new phase is a row here. Pure.
 */

const SECOND_US = 1e6
/** The agent waits for something that may end without a signal. */
const WAITING_US = 15 * SECOND_US

interface PhaseRow {
  /**
   * How often the node is looked at. `by-illness`: closely while kubelet is ill. `by-age`: the more
   * rarely, the longer kubelet has been healthy.
   */
  readonly looks: number | 'by-illness' | 'by-age'
  /** The tone of the phase's line in `status`. */
  readonly tone: 'good' | 'plain' | 'warning' | 'bad'
  readonly log: 'info' | 'warn'
  /**
   * The reason of the condition `KubeletConfigReady`, with the detail of the wait as its message.
   * undefined: both follow from what runs.
   */
  readonly reason?: 'Preflight' | 'Draining' | 'Waiting' | 'Paused' | 'KubeletStopped' | 'RuntimeDown' | Limit | undefined
  /** The phase may end by itself, at a time that is known and published. */
  readonly ends?: true
  /** Nothing is in the way of what runs. */
  readonly rests?: true
  /**
   * Before the node's own turn to follow a change that nodes share: all of them may come to it at
   * the same moment.
   */
  readonly isBeforeTurn?: true
}
type Limit = 'RestartLimit' | 'Ineffective' | 'NodeAtFault'

const ROWS = {
  /** The wanted config runs, and nothing is on trial. */
  settled: { looks: 'by-illness', tone: 'good', log: 'info', rests: true },
  'in-trial': { looks: 'by-age', tone: 'plain', log: 'info', rests: true },
  /** A fallback runs, because the assigned config failed. */
  'fallen-back': { looks: 'by-age', tone: 'warning', log: 'warn', rests: true },
  /** Another config runs, because preflight refused the assigned one, which never ran. */
  refused: { looks: 'by-age', tone: 'warning', log: 'warn', rests: true },
  /** Preflight is checking the wanted config. */
  preflight: { looks: WAITING_US, tone: 'plain', log: 'info', reason: 'Preflight', isBeforeTurn: true },
  /** The config changes fields that may change on a drained node only. */
  drain: { looks: WAITING_US, tone: 'warning', log: 'warn', reason: 'Draining', isBeforeTurn: true },
  /** A change that nodes share waits for this node's turn, or computed values for their facts. */
  spread: { looks: WAITING_US, tone: 'plain', log: 'info', reason: 'Waiting', ends: true, isBeforeTurn: true },
  /** The config has a rollout, and it is not this node's turn. */
  rollout: { looks: WAITING_US, tone: 'plain', log: 'info', reason: 'Waiting', ends: true, isBeforeTurn: true },
  paused: { looks: WAITING_US, tone: 'warning', log: 'info', reason: 'Paused', rests: true },
  /** An operator stopped kubelet. Its next start uses what is activated. */
  'kubelet-stopped': { looks: WAITING_US, tone: 'warning', log: 'warn', reason: 'KubeletStopped' },
  /** Kubelet would not come back from a restart now: its container runtime does not answer. */
  'runtime-down': { looks: 5 * SECOND_US, tone: 'warning', log: 'warn', reason: 'RuntimeDown' },
  /** Kubelet is starting or stopping. */
  restarting: { looks: SECOND_US, tone: 'plain', log: 'info' },
  /** The hourly limit of restarts is reached. */
  'restart-limit': { looks: 'by-illness', tone: 'warning', log: 'warn', reason: 'RestartLimit', ends: true },
  /** Kubelet was restarted and still runs another config. */
  ineffective: { looks: WAITING_US, tone: 'bad', log: 'warn', reason: 'Ineffective' },
  /** The unit does not take its config from the agent. */
  blocked: { looks: WAITING_US, tone: 'bad', log: 'warn' },
  /** Every fallback failed too: the node is at fault and not the config. */
  'node-at-fault': { looks: 5 * SECOND_US, tone: 'bad', log: 'warn', reason: 'NodeAtFault' },
  /** Something that the decision needs cannot be read. */
  unknown: { looks: 'by-illness', tone: 'warning', log: 'warn' },
} as const satisfies Readonly<Record<string, PhaseRow>>

export type Phase = keyof typeof ROWS
export const PHASES: Readonly<Record<Phase, PhaseRow>> = ROWS
