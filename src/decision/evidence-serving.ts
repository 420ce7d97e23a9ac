/**
 * Evidence `serving`: kubelet's TLS port knows the node's client certificate. Without it, logs,
 * exec and the metrics of this node are gone while all else is well. Pure.
 *
 * The node's identity is known to kubelet and may do nothing there: 403 (`AlwaysAllow`: 200). With
 * anonymous requests allowed, a certificate that kubelet does not trust is 403 too, but of another
 * user.
 */
import { doubtful, type KindStanding, no, perhapsNo, uncompared, unknown, yes } from './evidence.ts'
import type { NotAsked, ServingAnswer } from './evidence-facts.ts'
import type { EvidenceView, ProcessEvidence, ServingBefore, ServingSeen } from './evidence-state.ts'

const ANONYMOUS = 'system:anonymous'
/** Within that of an answer of the API server, kubelet reaches it too. */
const SLACK_US = 15e6

/** undefined: it was not asked. */
export function foldServing(
  before: ServingSeen | undefined,
  answer: ServingAnswer | NotAsked,
  atUs: number,
  wallMs: number,
): ServingSeen | undefined {
  if (answer.kind === 'not-asked') return before
  const now =
    answer.kind === 'answered'
      ? { status: answer.status, user: answer.user, detail: `HTTP ${answer.status}`, noCertificate: false }
      : { status: undefined, user: undefined, detail: answer.detail.slice(0, 200), noCertificate: answer.kind === 'no-certificate' }
  const isSame =
    before !== undefined &&
    before.status === now.status &&
    before.user === now.user &&
    (before.noCertificate ?? false) === now.noCertificate
  const valid = answer.kind === 'answered' ? answer.valid : undefined
  const isOutdated = valid !== undefined && !(valid.fromMs <= wallMs && wallMs < valid.untilMs)
  return {
    ...now,
    isOutdated,
    sinceUs: isSame ? before.sinceUs : atUs,
    lastUs: atUs,
    serverUpSinceUs: isSame ? before.serverUpSinceUs : undefined,
  }
}

/**
 * The API server was asked. Its first answer counts: where it is asked often, the latest one is
 * always young.
 *
 * @param isReachable it answered, and took the agent's credentials
 */
export function noteServer(before: ServingSeen | undefined, atUs: number, isReachable: boolean): ServingSeen | undefined {
  if (before === undefined || (before.serverUpSinceUs !== undefined) === isReachable) return before
  return isReachable && atUs <= before.sinceUs ? before : { ...before, serverUpSinceUs: isReachable ? atUs : undefined }
}

export function judgeServing({ process, baseline, policy, servesFromUs = Number.POSITIVE_INFINITY }: EvidenceView): KindStanding {
  const { serving, servingTaken, reachableSinceUs } = process
  if (servingTaken !== undefined) return doubtful(servingTaken)
  if (serving === undefined) return unknown('not asked')
  const before = baseline?.serving
  const isDemoted = isKnownUser(before) && before?.user !== ANONYMOUS && serving.user === ANONYMOUS
  if (isKnownUser(serving) && !isDemoted) return yes("kubelet's TLS port knows the node's certificate", serving.sinceUs)
  const detail = describe(serving, isDemoted)
  const isStranger = serving.status === 401 || isDemoted
  if (isStranger && serving.isOutdated === true) return unknown(`${detail}; the certificate has run out, or is not valid yet`)
  if (isStranger && process.unauthorizedUs !== undefined) return unknown(`${detail}; the API server refuses it, too`)
  if (asksServer(serving) && reachableSinceUs === undefined) return unknown(`${detail}; the API server is not reachable`)
  if (!isKnownUser(before)) {
    const isKnown = before !== undefined && baseline?.ofPromoted === true
    return isKnown ? unknown(`${detail}; it was no otherwise before`) : uncompared(detail)
  }
  if (serving.noCertificate === true)
    return doubtful(`${detail}; its CertificateSigningRequest has to be approved (serverTLSBootstrap)`, serving.sinceUs)
  if (asksServer(serving) && !wasServerUp(serving)) return doubtful(detail, serving.sinceUs)
  // Only the API server says whether the certificate is still good.
  const isUntold = isStranger && !wasServerUp(serving)
  if (isUntold && isServerAsked(process)) return doubtful(detail, serving.sinceUs)
  const sinceUs = serving.status === undefined ? Math.max(serving.sinceUs, servesFromUs) : serving.sinceUs
  const isLong = serving.lastUs - sinceUs >= policy.toleranceUs
  if (!isLong) return doubtful(detail, serving.sinceUs)
  return isUntold ? perhapsNo(detail, serving.sinceUs) : no(detail, serving.sinceUs)
}

/** Not where the settings switch all such evidence off. */
function isServerAsked({ lease, node, pods }: ProcessEvidence): boolean {
  return lease !== undefined || node !== undefined || pods !== undefined
}

/** Whether it takes an answer of the API server to tell whose fault the answer of the port is. */
export function needsServersWord({ status, user }: ServingSeen): boolean {
  return status === 401 || user === ANONYMOUS || (status !== undefined && status >= 500)
}

/** What the port answers depends on the API server, which kubelet asks about each request. */
function asksServer({ status }: ServingSeen): boolean {
  return status !== undefined && status >= 500
}

/**
 * The API server has answered the agent in the meantime, for long enough for kubelet to try again.
 */
function wasServerUp({ lastUs, serverUpSinceUs }: ServingSeen): boolean {
  return serverUpSinceUs !== undefined && lastUs - serverUpSinceUs >= SLACK_US
}

export function isKnownUser(answer: ServingBefore | undefined): boolean {
  return answer?.status === 403 || answer?.status === 200
}

function describe({ status, detail, noCertificate }: ServingSeen, isDemoted: boolean): string {
  if (noCertificate === true) return "kubelet's TLS port has no certificate yet"
  if (isDemoted) return "kubelet's TLS port no longer knows the node's certificate and takes the agent for an anonymous user"
  if (status === undefined) return `kubelet's TLS port does not answer: ${detail}`
  if (status === 401) return "kubelet's TLS port no longer knows the node's certificate (HTTP 401)"
  return `kubelet's TLS port answers ${detail}`
}
