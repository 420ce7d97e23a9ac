/**
 * Evidence `runtime`: the container runtime answers the calls that kubelet makes. Its silence is
 * the config's fault only if the config moved kubelet to another endpoint. Pure.
 */
import { doubtful, type KindStanding, no, uncompared, unknown, yes } from './evidence.ts'
import type { NotAsked, RuntimeAnswer } from './evidence-facts.ts'
import { hasChangedEndpoint } from './evidence-ready.ts'
import type { EvidenceView, RuntimeSeen } from './evidence-state.ts'

/** undefined: it was not asked. */
export function foldRuntime(before: RuntimeSeen | undefined, answer: RuntimeAnswer | NotAsked, atUs: number): RuntimeSeen | undefined {
  if (answer.kind === 'not-asked') return before
  const { endpoint, detail } = answer
  const answers = answer.kind === 'answered'
  const isSame = before !== undefined && before.answers === answers && before.endpoint === endpoint
  const wasSilent = !answers || before?.wasSilent === true
  const hasAnswered = answers || hasAnsweredAt(before, endpoint)
  return { endpoint, answers, sinceUs: isSame ? before.sinceUs : atUs, lastUs: atUs, detail: detail.slice(0, 200), wasSilent, hasAnswered }
}

export function hasAnsweredAt(seen: RuntimeSeen | undefined, endpoint: string): boolean {
  return seen?.endpoint === endpoint && seen.hasAnswered === true
}

export function judgeRuntime({ process, baseline, policy }: EvidenceView): KindStanding {
  const { runtime } = process
  if (runtime === undefined) return unknown('not asked')
  const { endpoint, sinceUs, lastUs } = runtime
  if (runtime.answers) return yes('the container runtime answers', sinceUs)
  const detail = `the container runtime does not answer at ${endpoint}: ${runtime.detail}`
  if (baseline?.endpoint === undefined) return uncompared(detail)
  if (!hasChangedEndpoint(baseline, endpoint)) return unknown(detail)
  return lastUs - sinceUs >= policy.toleranceUs ? no(detail, sinceUs) : doubtful(detail, sinceUs)
}
