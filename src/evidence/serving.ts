// SPDX-License-Identifier: Apache-2.0
/**
 * Evidence `serving`: kubelet's TLS port knows the node's client certificate. Without it, logs,
 * exec and the metrics of this node are gone while all else is well. Pure.
 *
 * The node's identity is known to kubelet and may do nothing there: 403 (`AlwaysAllow`: 200). With
 * anonymous requests allowed, a certificate that kubelet does not trust is 403 too, but of another
 * user.
 */
import { isFlag, isNumber, isText, optional, type Shaped, shape, type TypeOf } from '../values/json-shape.ts'
import { type Contract, doubtful, type KindStanding, type NotAsked, no, perhapsNo, uncompared, unknown, type View, yes } from './kind.ts'

export type ServingAnswer =
  /** `user`: whom kubelet takes the agent for, as the text of a 403 says. */
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly user: string | undefined
      /** The client certificate, as it says. undefined: that could not be read. */
      readonly valid?: { readonly fromMs: number; readonly untilMs: number } | undefined
    }
  /**
   * The port speaks TLS, but has no certificate yet: with `serverTLSBootstrap`, someone must
   * approve it.
   */
  | { readonly kind: 'no-certificate'; readonly detail: string }
  /**
   * Nothing listens, or it does not speak TLS. `isSilent`: it does, and the request was not
   * answered in time. Kubelet asks the API server about each request, and waits for it.
   */
  | { readonly kind: 'no-tls'; readonly detail: string; readonly isSilent?: boolean }

const isServingSeen = shape({
  /** undefined: no TLS. */
  status: optional(isNumber),
  /** The port speaks TLS, but has no certificate. */
  noCertificate: optional(isFlag),
  /** The port speaks TLS, and did not answer the request. */
  isSilent: optional(isFlag),
  user: optional(isText),
  /** The client certificate had run out, or was not valid yet, by the clock of the node. */
  isOutdated: optional(isFlag),
  detail: isText,
  /** Since when the same was answered. */
  sinceUs: isNumber,
  lastUs: isNumber,
  /**
   * Since when, within that time, the API server answered each request, and took the agent's
   * credentials.
   */
  serverUpSinceUs: optional(isNumber),
})
export type ServingSeen = TypeOf<typeof isServingSeen>
const SEEN = {
  serving: optional(isServingSeen),
  /** Who had kubelet's TLS port at the last look. undefined: kubelet, as far as is known. */
  servingTaken: optional(isText),
}
const isServingBefore = shape({
  /** undefined: the port was not reachable. */
  status: optional(isNumber),
  user: optional(isText),
  isSilent: optional(isFlag),
  /** Kubelet was not healthy, so it may not have opened the port yet. */
  isEarly: optional(isFlag),
})
const TAKEN = { serving: optional(isServingBefore) }
export type ServingTaken = Shaped<typeof TAKEN>

/** Of the others, only whether the API server was asked. */
type Process = Shaped<typeof SEEN> & { readonly [K in 'lease' | 'node' | 'pods']?: object | undefined }
type ServingView = View<Process, ServingTaken>

const ANONYMOUS = 'system:anonymous'
/** Within that of an answer of the API server, kubelet reaches it too. */
const SLACK_US = 15e6

/** Kubelet's TLS port opens within that after its health port. */
const SERVES_WITHIN_US = 2e6

export const SERVING = {
  kind: 'serving',
  loss: "kubelet's TLS port did not serve the node",
  asksServer: false,
  seen: SEEN,
  taken: TAKEN,
  firstUs: (trialUs) => Math.min(5e6, trialUs / 10),
  gapUs: ({ process, policy: { trialUs } }) => (process.serving?.status === 403 ? trialUs / 10 : Math.min(10e6, trialUs / 20)),
  take(answer, moment) {
    if (answer.kind === 'not-asked') return {}
    return { serving: { ...keep(answer), ...(isEarly(answer, moment) && { isEarly: true }) } }
  },
  /**
   * Kubelet opens its TLS port and its health port together (`run` and `startKubelet` in
   * cmd/kubelet/app/server.go). Right after a boot it is asked again while the restart waits. So it
   * is while kubelet does not reach the API server.
   */
  isTooEarly: (answer, moment) => answer.kind !== 'not-asked' && (asksServer(keep(answer)) || isEarly(answer, moment)),
  fold(answer, { process, atUs, wallMs }) {
    const servingTaken = answer.kind === 'not-asked' && answer.isStrangers === true ? answer.detail : undefined
    return { servingTaken, serving: foldServing(process.serving, answer, atUs, wallMs) }
  },
  skip: ({ serving }, later) => ({ serving: serving && { ...serving, sinceUs: later(serving.sinceUs) } }),
  judge: judgeServing,
  carry: ({ serving }) => ({ serving }),
  join: (earlier, later, isPromoted) => ({
    serving: [earlier.serving, later.serving].find(knowsNode) ?? (isPromoted ? earlier : later).serving,
  }),
  /** A closed TLS port is asked again while a restart waits; for a claim it is an answer. */
  isAnswered: ({ serving }) => serving !== undefined,
} as const satisfies Contract<ServingAnswer | NotAsked, Shaped<typeof SEEN>, ServingTaken, Process>

function isEarly({ kind }: ServingAnswer, { healthyUs }: { readonly healthyUs: number }): boolean {
  return kind === 'no-tls' && healthyUs < SERVES_WITHIN_US
}

function keep(answer: ServingAnswer): NonNullable<ServingTaken['serving']> {
  if (answer.kind === 'answered') return { status: answer.status, user: answer.user }
  return answer.kind === 'no-tls' && answer.isSilent === true ? { isSilent: true } : {}
}

/** undefined: it was not asked. */
function foldServing(
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
  const isSilent = answer.kind === 'no-tls' && answer.isSilent === true ? true : undefined
  const isSame =
    before !== undefined &&
    before.status === now.status &&
    before.user === now.user &&
    (before.noCertificate ?? false) === now.noCertificate &&
    before.isSilent === isSilent
  const valid = answer.kind === 'answered' ? answer.valid : undefined
  const isOutdated = valid !== undefined && !(valid.fromMs <= wallMs && wallMs < valid.untilMs)
  return {
    ...now,
    ...(isSilent && { isSilent }),
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

export function judgeServing({ process, baseline, policy, servesFromUs = Number.POSITIVE_INFINITY }: ServingView): KindStanding {
  const { serving, servingTaken, reachableSinceUs } = process
  if (servingTaken !== undefined) return doubtful(servingTaken)
  if (serving === undefined) return unknown('not asked')
  const before = baseline?.serving
  // Under a config on trial, only what was well is known.
  const was = baseline?.ofPromoted === true ? before : undefined
  if (knowsNode(serving) || (isAnonymous(serving) && was !== undefined && isAnonymous(was)))
    return yes("kubelet's TLS port knows the node's certificate", serving.sinceUs)
  const detail = describe(serving)
  const isStranger = serving.status === 401 || isAnonymous(serving)
  if (isStranger && serving.isOutdated === true) return unknown(`${detail}; the certificate has run out, or is not valid yet`)
  if (isStranger && process.unauthorizedUs !== undefined) return unknown(`${detail}; the API server refuses it, too`)
  if (asksServer(serving) && reachableSinceUs === undefined) return unknown(`${detail}; the API server is not reachable`)
  if (before === undefined || !knowsNode(before)) {
    // A port that waited for the API server shows nothing else of how it was, and one that was not
    // open yet shows nothing.
    const isKnown = was !== undefined && was.isEarly !== true && (!asksServer(was) || asksServer(serving))
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
function isServerAsked({ lease, node, pods }: Process): boolean {
  return lease !== undefined || node !== undefined || pods !== undefined
}

/** Whether it takes an answer of the API server to tell whose fault the answer of the port is. */
export function needsServersWord(serving: ServingSeen): boolean {
  return serving.status === 401 || serving.user === ANONYMOUS || asksServer(serving)
}

/**
 * Whether the answer of the port depends on the API server, which kubelet asks about each request.
 */
function asksServer({ status, isSilent }: Pick<ServingSeen, 'status' | 'isSilent'>): boolean {
  return isSilent === true || (status !== undefined && status >= 500)
}

/**
 * The API server has answered the agent in the meantime, for long enough for kubelet to try again.
 */
function wasServerUp({ lastUs, serverUpSinceUs }: ServingSeen): boolean {
  return serverUpSinceUs !== undefined && lastUs - serverUpSinceUs >= SLACK_US
}

function isAnonymous({ user }: Pick<ServingSeen, 'user'>): boolean {
  return user === ANONYMOUS
}

function knowsNode(answer: ServingTaken['serving']): boolean {
  return answer !== undefined && (answer.status === 403 || answer.status === 200) && !isAnonymous(answer)
}

function describe(serving: ServingSeen): string {
  const { status, detail, noCertificate } = serving
  if (noCertificate === true) return "kubelet's TLS port has no certificate yet"
  if (isAnonymous(serving)) return "kubelet's TLS port no longer knows the node's certificate and takes the agent for an anonymous user"
  if (status === undefined) return `kubelet's TLS port does not answer: ${detail}`
  if (status === 401) return "kubelet's TLS port no longer knows the node's certificate (HTTP 401)"
  return `kubelet's TLS port answers ${detail}`
}
