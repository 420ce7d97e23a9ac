// SPDX-License-Identifier: Apache-2.0
/**
 * Where kubelet listens, and how: it loads and validates these values, and exits when it begins to
 * serve. Pure. Sources, 1.20 to 1.37: `startKubelet` and `run` (cmd/kubelet/app/server.go),
 * `ListenAndServeKubeletServer` and `ListenAndServeKubeletReadOnlyServer`
 * (pkg/kubelet/server/server.go); `http2ConfigureServer` of Go's net/http. Which Go a kubelet was
 * built with is not known: its own build files had 1.15 for 1.20, 1.16 for 1.21 and 1.22, 1.17 for
 * 1.23, and later ones since.
 */

import { shorten } from '../../values/cut.ts'
import { hasLeadingZero, meet, readIp } from '../../values/ip-address.ts'
import { type FieldProblem, type FieldRuleInput, isOn, numberOf, quoteText, textOf, textsOf } from './complaint.ts'
import { SUITES } from './single-fields.ts'

export function checkListeners(subject: FieldRuleInput): FieldProblem[] {
  return [...checkAddress(subject), ...checkPorts(subject), ...checkHttp2(subject)]
}

type PortField = 'port' | 'readOnlyPort' | 'healthzPort'

interface Listener {
  readonly at: PortField
  readonly port: number
  readonly isSet: boolean
  readonly address: string
}

/** In the order in which kubelet opens them. */
function listListeners({ config }: FieldRuleInput): Listener[] {
  const server = textOf(config.address) || '0.0.0.0'
  const health = textOf(config.healthzBindAddress) || '127.0.0.1'
  const listener = (at: PortField, initial: number, address: string): Listener => {
    const set = numberOf(config[at], undefined)
    // 0 means the default, but not for the health endpoint.
    const isSet = set !== undefined && (set !== 0 || at === 'healthzPort')
    return { at, port: isSet ? set : initial, isSet, address }
  }
  return [
    ...(isOn(config.enableServer, true) ? [listener('port', 10250, server)] : []),
    listener('readOnlyPort', 0, server),
    listener('healthzPort', 10248, health === 'localhost' ? '127.0.0.1' : health),
  ].filter(({ port }) => port > 0)
}

/** Up to 1.22 kubelet reads it with Go's own `net.ParseIP`, and since then with an older copy. */
const READS_ZEROS_SINCE = 23

function checkAddress(subject: FieldRuleInput): FieldProblem[] {
  const address = textOf(subject.config.address)
  if (address === '' || !listListeners(subject).some(({ at }) => at !== 'healthzPort')) return []
  const path = ['address']
  if (readIp(address) === undefined) {
    const meant = address.trim().split(/[/,;\s]/)[0] ?? ''
    const advice = readIp(meant) === undefined ? 'write an IP address of the node, or 0.0.0.0 for all' : `write ${meant}`
    return [
      { rule: 'value', path, problem: `address ${quoteText(address)} is not an IP address: kubelet cannot listen, and exits`, advice },
    ]
  }
  if (!hasLeadingZero(address)) return []
  const problem = `address ${quoteText(address)} has leading zeros, which a kubelet that was built with Go 1.17 or later does not take`
  return [{ rule: 'value', path, problem, advice: 'remove the zeros', to: READS_ZEROS_SINCE - 1, severity: 'warn' }]
}

/**
 * Only the first of two listeners gets a port. Kubelet exits over the other one, but for its health
 * endpoint, which may be either.
 */
function checkPorts(subject: FieldRuleInput): FieldProblem[] {
  const listeners = listListeners(subject)
  return listeners.flatMap((later, index): FieldProblem[] => {
    const earlier = listeners.slice(0, index).find(({ port, address }) => port === later.port && meet(address, later.address))
    if (earlier === undefined) return []
    const [at, other] = later.isSet ? [later, earlier] : [earlier, later]
    const which = other.isSet ? `that of ${other.at} too` : `the default of ${other.at}`
    const effect = later.at === 'healthzPort' ? 'exits or has no health endpoint' : 'exits'
    const problem = `${at.at} ${at.port} is ${which}: kubelet cannot listen twice on one port, and ${effect}`
    return [{ rule: 'cross', path: [at.at], problem, advice: 'choose another port' }]
  })
}

const NEEDED = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256']
/** The suites of which HTTP/2 approves. */
const APPROVED = /^TLS_(?:ECDHE_(?:RSA|ECDSA)_WITH_(?:AES_\d+_GCM|CHACHA20)_|(?:AES|CHACHA20)_)/
/**
 * Since this minor, Go has looked at the versions of TLS, and at the order of the suites no more.
 */
const LENIENT_SINCE = 24
const TLS_13 = 'VersionTLS13'

/** Kubelet's server speaks HTTP/2, which does not start with some lists of suites. */
function checkHttp2({ config }: FieldRuleInput): FieldProblem[] {
  const suites = textsOf(config.tlsCipherSuites) ?? []
  if (suites.length === 0 || !isOn(config.enableServer, true) || !suites.every((name) => SUITES.includes(name))) return []
  const path = ['tlsCipherSuites']
  const complain = (problem: string, more: Partial<FieldProblem>): FieldProblem => ({ rule: 'cross', path, problem, ...more })
  const isTls13 = textOf(config.tlsMinVersion) === TLS_13
  const early = { to: LENIENT_SINCE - 1, severity: 'warn' } as const
  const exits = "kubelet's server cannot start, and kubelet exits"
  if (!suites.some((name) => NEEDED.includes(name))) {
    const problem = `tlsCipherSuites has none of the suites that HTTP/2 needs: ${exits}`
    const advice = `add ${NEEDED.join(' or ')}`
    if (isTls13) return [complain(`${problem} where it was built with Go 1.16 or earlier`, { ...early, advice })]
    return [complain(problem, { advice: `${advice}, or set tlsMinVersion to ${TLS_13}` })]
  }
  const firstPoor = suites.findIndex((name) => !APPROVED.test(name))
  const late = firstPoor < 0 ? undefined : suites.slice(firstPoor).find((name) => APPROVED.test(name))
  return late === undefined ? [] : [complain(describeOrder(late, suites[firstPoor] ?? ''), { ...early, advice: ORDER })]
}

const ORDER = 'write the suites of HTTP/2 (ECDHE with GCM or CHACHA20) first'

function describeOrder(late: string, poor: string): string {
  return `tlsCipherSuites lists ${shorten(late)} after ${shorten(poor)}, of which HTTP/2 does not approve: a kubelet that was built with Go 1.16 or earlier exits`
}
