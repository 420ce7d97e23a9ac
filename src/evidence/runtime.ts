// SPDX-License-Identifier: Apache-2.0
/**
 * Evidence `runtime`: the container runtime answers the calls that kubelet makes. Its silence is
 * the config's fault only if the config moved kubelet to another endpoint. Pure.
 */
import { isFlag, isNumber, isText, optional, type Shaped, shape, type TypeOf } from '../values/json-shape.ts'
import { type Contract, doubtful, type KindStanding, type NotAsked, no, uncompared, unknown, type View, yes } from './kind.ts'

interface RuntimeAnswer {
  readonly kind: 'answered' | 'silent'
  readonly endpoint: string
  readonly detail: string
}

const isRuntimeSeen = shape({
  endpoint: isText,
  answers: isFlag,
  sinceUs: isNumber,
  lastUs: isNumber,
  detail: isText,
  /** Since the process started. */
  wasSilent: optional(isFlag),
  /** At this endpoint, since the process started. */
  hasAnswered: optional(isFlag),
})
export type RuntimeSeen = TypeOf<typeof isRuntimeSeen>
const SEEN = { runtime: optional(isRuntimeSeen) }
const TAKEN = {
  /** The container runtime's endpoint that kubelet used. */
  endpoint: optional(isText),
  /** The runtime did not answer there, as long as that process ran. undefined: not known. */
  isRuntimeSilent: optional(isFlag),
}
export type RuntimeTaken = Shaped<typeof TAKEN>
type RuntimeView = View<Shaped<typeof SEEN>, RuntimeTaken>

export const RUNTIME = {
  kind: 'runtime',
  loss: 'the container runtime did not answer',
  asksServer: false,
  seen: SEEN,
  taken: TAKEN,
  firstUs: () => 0,
  gapUs: ({ process, policy: { trialUs } }) => (process.runtime?.answers === true ? trialUs / 10 : Math.min(10e6, trialUs / 20)),
  /** One that has answered is down for a while. One that never has may not be there at all. */
  take(answer, { process }) {
    if (answer.kind === 'not-asked') return {}
    const { endpoint } = answer
    return { endpoint, isRuntimeSilent: answer.kind === 'silent' && !hasAnsweredAt(process.runtime, endpoint) }
  },
  fold: (answer, { process, atUs }) => ({ runtime: foldRuntime(process.runtime, answer, atUs) }),
  skip: ({ runtime }, later) => ({ runtime: runtime && { ...runtime, sinceUs: later(runtime.sinceUs) } }),
  judge: judgeRuntime,
  carry: ({ endpoint }) => ({ endpoint }),
  /** A move to another container runtime broke nothing where that one answered. */
  join(earlier, { endpoint, isRuntimeSilent }) {
    const isMoveDone = endpoint !== undefined && isRuntimeSilent === false
    return { endpoint: isMoveDone ? endpoint : (earlier.endpoint ?? endpoint) }
  },
} as const satisfies Contract<RuntimeAnswer | NotAsked, Shaped<typeof SEEN>, RuntimeTaken>

/** undefined: it was not asked. */
function foldRuntime(before: RuntimeSeen | undefined, answer: RuntimeAnswer | NotAsked, atUs: number): RuntimeSeen | undefined {
  if (answer.kind === 'not-asked') return before
  const { endpoint, detail } = answer
  const answers = answer.kind === 'answered'
  const isSame = before !== undefined && before.answers === answers && before.endpoint === endpoint
  const wasSilent = !answers || before?.wasSilent === true
  const hasAnswered = answers || hasAnsweredAt(before, endpoint)
  return { endpoint, answers, sinceUs: isSame ? before.sinceUs : atUs, lastUs: atUs, detail: detail.slice(0, 200), wasSilent, hasAnswered }
}

function hasAnsweredAt(seen: RuntimeSeen | undefined, endpoint: string): boolean {
  return seen?.endpoint === endpoint && seen.hasAnswered === true
}

export function judgeRuntime({ process, baseline, policy }: RuntimeView): KindStanding {
  const { runtime } = process
  if (runtime === undefined) return unknown('not asked')
  const { endpoint, sinceUs, lastUs } = runtime
  if (runtime.answers) return yes('the container runtime answers', sinceUs)
  const detail = `the container runtime does not answer at ${endpoint}: ${runtime.detail}`
  if (baseline?.endpoint === undefined) return uncompared(detail)
  if (!hasChangedEndpoint(baseline, endpoint)) return unknown(detail)
  return lastUs - sinceUs >= policy.toleranceUs ? no(detail, sinceUs) : doubtful(detail, sinceUs)
}

/** The way back to the runtime of before a config that was on trial is no move either. */
export function hasChangedEndpoint(baseline: RuntimeView['baseline'], endpoint: string | undefined): boolean {
  if (baseline?.endpoint === undefined || endpoint === undefined) return false
  return baseline.endpoint !== endpoint && baseline.earlier?.endpoint !== endpoint
}
