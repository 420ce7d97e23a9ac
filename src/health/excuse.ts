// SPDX-License-Identifier: Apache-2.0
/**
 * For how long a container runtime that does not answer excuses kubelet. Kubelet exits without a
 * runtime, every 15 s where the runtime accepts connections and never answers (measured on 1.28.15
 * and 1.36.3), and no config is to blame for that. But a config can kill the runtime, too, for good
 * or for a moment at each start, so the excuse ends.
 *
 * Whoever else has a port of kubelet excuses the same. No config can do that, so this lasts as long
 * as they have the port. Pure.
 */
import { isFlag, isNumber, optional, shape, type TypeOf } from '../values/json-shape.ts'
import type { Fold, Looks } from './looks.ts'
import { type HealthSample, isDown, needsStart } from './sample.ts'
import type { Starts } from './starts.ts'

/**
 * Longer than a runtime takes to be upgraded or restarted, and than kubelet's pod eviction takes.
 */
export const RUNTIME_EXCUSE_US = 600e6

/**
 * A kubelet exits 40 times in that time where its runtime accepts connections and never answers.
 */
const MOST_EXCUSED_EXITS = 60

const isExcusedExits = shape({
  count: isNumber,
  /** When the first of them was seen. */
  sinceUs: isNumber,
})
type ExcusedExits = TypeOf<typeof isExcusedExits>

export const isExcuse = shape({
  /**
   * Kubelet went down while the container runtime did not answer, and has not run since. Systemd
   * may give up kubelet for that reason alone.
   */
  excused: isFlag,
  /**
   * The container runtime did not answer when this invocation was first seen, or a look before. It
   * has not been healthy since.
   */
  beganExcused: optional(isFlag),
  /** Since when the container runtime has not answered, as far as it was probed. */
  runtimeDownSinceUs: optional(isNumber),
  /**
   * On whatever kubelet, since the subject ran for a whole trial, an operator paused the agent, or
   * all was forgiven.
   */
  excusedExits: optional(isExcusedExits),
})
export type Excuse = TypeOf<typeof isExcuse>

/** Failures that are excused at this look. */
export interface Excused {
  /** Failures of the subject. */
  readonly subject: boolean
  /** Failures of the process that runs, or ran last. */
  readonly process: boolean
  /** The start of this invocation of the unit, since its runtime was silent when it began. */
  readonly start: boolean
  /** Kubelet is down, since its runtime is silent. */
  readonly down: boolean
  /** Since when the container runtime has not answered. */
  readonly silentSinceUs: number | undefined
}

export function findExcused(fold: Fold<Excuse & Looks>, starts: Pick<Starts, 'startedSinceUs' | 'subjectSinceUs'>): Excused {
  const { known, ofContent, ofProcess, sample, unit, nowUs, interval } = fold
  const sinceUs = interval.gap ? nowUs : (known?.runtimeDownSinceUs ?? nowUs)
  const silentSinceUs = sample.runtimeUp === false ? sinceUs : undefined
  const excusedExits = ofContent?.excusedExits
  const subject = isExcused({ runtimeDownSinceUs: silentSinceUs, excusedExits, ...starts }, sample)
  // A process that is new may have begun, and have ended, before the runtime answered.
  const beganNow = subject || (wasSilent(fold) && !isExcuseUsedUp(excusedExits, nowUs))
  const start = ofProcess === undefined ? beganNow : ofProcess.beganExcused === true
  // Rule 40: systemd may give kubelet up at the very exit of which the runtime answers again.
  const isGivenUp = needsStart(unit.activity) && start
  // Rule 39: a kubelet that went down without its runtime is excused until it runs again.
  const down = isDown(unit.activity) && (subject || isGivenUp || ofProcess?.excused === true)
  return { subject, process: excuses(sinceUs, excusedExits, sample), start, down, silentSinceUs }
}

interface News {
  /** Kubelet needs its runtime no longer to start. */
  readonly isUp: boolean
  /** Kubelet has run for a whole trial. */
  readonly isSettled: boolean
  /** How many exits are excused that are new. */
  readonly exits: number
}

export function foldExcuse({ ofContent, nowUs }: Fold<Excuse>, excused: Excused, { isUp, isSettled, exits }: News): Excuse {
  const { count = 0, sinceUs = nowUs } = ofContent?.excusedExits ?? {}
  const excusedExits = exits === 0 ? ofContent?.excusedExits : { count: count + exits, sinceUs }
  return {
    excused: excused.down,
    beganExcused: excused.start && !isUp,
    runtimeDownSinceUs: excused.silentSinceUs,
    excusedExits: isSettled ? undefined : excusedExits,
  }
}

/**
 * The runtime did not answer at the last look, and excused that. Rule 41: after a gap, that look
 * still tells how a process began that was started just after it.
 */
function wasSilent({ known, unit, interval, policy }: Fold<Excuse & Looks>): boolean {
  if (known?.runtimeDownSinceUs === undefined) return false
  const { runtimeDownSinceUs, lastSampleUs } = known
  const isJustAfter = unit.startedAtUs >= lastSampleUs && unit.startedAtUs - lastSampleUs <= policy.toleranceUs
  return (!interval.gap || isJustAfter) && lastSampleUs - runtimeDownSinceUs < RUNTIME_EXCUSE_US
}

/** Rule 38: a runtime that answers now and then does not excuse for ever, either. */
export function isExcuseUsedUp(excused: ExcusedExits | undefined, nowUs: number): boolean {
  return excused !== undefined && excused.count >= MOST_EXCUSED_EXITS && nowUs - excused.sinceUs >= RUNTIME_EXCUSE_US
}

type ExcusedSubject = Pick<Excuse, 'runtimeDownSinceUs' | 'excusedExits'> & Pick<Starts, 'startedSinceUs' | 'subjectSinceUs'>

/**
 * Whether the subject of the record is excused. Rule 36: what replaces a config that may have
 * killed the runtime has the whole excuse, from its first start. The same config on another kubelet
 * replaces nothing.
 */
export function isExcused(
  { runtimeDownSinceUs, excusedExits, startedSinceUs, subjectSinceUs }: ExcusedSubject,
  sample: ExcusingSample,
): boolean {
  const sinceUs = Math.max(runtimeDownSinceUs ?? sample.at.monotonicUs, startedSinceUs ?? subjectSinceUs)
  return excuses(sinceUs, excusedExits, sample)
}

type ExcusingSample = Pick<HealthSample, 'at' | 'runtimeUp' | 'changesRuntime' | 'portTaken'>

/** @param sinceUs of the silence of the runtime, or of what it is to excuse, whichever is later */
function excuses(
  sinceUs: number,
  excusedExits: ExcusedExits | undefined,
  { at, runtimeUp, changesRuntime, portTaken }: ExcusingSample,
): boolean {
  if (portTaken !== undefined) return true
  // Rule 37: a config that names another runtime is not excused by that of the fallback.
  if (runtimeUp !== false || changesRuntime === true) return false
  return !isExcuseUsedUp(excusedExits, at.monotonicUs) && at.monotonicUs - sinceUs < RUNTIME_EXCUSE_US
}
