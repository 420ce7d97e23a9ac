// SPDX-License-Identifier: Apache-2.0
/**
 * Checks where kubelet is reached, and how it reaches the API server. Pure. A port may be in use:
 * kubelet exits if it cannot listen on a port other than its health port (`startKubelet`,
 * cmd/kubelet/app/server.go). A port that the running kubelet's config names counts as kubelet's
 * own even if the owner of the socket is unknown.
 */
import { hasLeadingZero, meet, readIp } from '../../values/ip-address.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import { isLocalAddress, type Listener, type Surroundings } from './surroundings.ts'

const SERVER_PORTS = ['port', 'readOnlyPort'] as const
const PORTS = [...SERVER_PORTS, 'healthzPort'] as const

export function checkPorts(view: NodeView, found: Surroundings): NodeProblem[] {
  return [
    ...checkServerAddress(view, found),
    ...SERVER_PORTS.flatMap((at): NodeProblem[] => {
      const port = view.number(at) ?? 0
      const foreign =
        port === 0 || (at === 'port' && !view.is('enableServer')) ? undefined : findForeign(view, port, view.text('address'), found)
      if (foreign === undefined) return []
      const { owner, certain } = foreign
      const problem = `${view.called(at)} ${port} is in use by ${nameOwner(owner === 'other')}: kubelet does not start`
      return [{ rule: 'node/port', severity: owner === 'other' && certain ? 'refuse' : 'warn', at, problem, advice: FREE }]
    }),
  ]
}

/**
 * The address of kubelet's server. undefined: it has none, or its address needs no look at the
 * machine.
 */
export function serverAddress(view: NodeView): string | undefined {
  const isServing = view.is('enableServer') || (view.number('readOnlyPort') ?? 0) > 0
  return isServing ? addressToFind(view, 'address') : undefined
}

function checkServerAddress(view: NodeView, { localAddresses }: Surroundings): NodeProblem[] {
  const address = serverAddress(view)
  if (address === undefined || localAddresses === undefined || isLocalAddress(address, localAddresses)) return []
  const problem = `${view.called('address')} ${address} is not an address of this machine: kubelet does not start`
  // The network of a machine that boots may come later.
  const severity = view.running('address') === address ? 'warn' : 'refuse'
  return [{ rule: 'node/address', severity, at: 'address', problem, advice: 'name an address of this machine, or 0.0.0.0 for all' }]
}

const FREE = 'choose a free port, or stop the process that listens there'
const nameOwner = (isOther: boolean) => (isOther ? 'another process' : 'some process')

/**
 * A listener on this port that is not known to be the running kubelet. Not `certain`: [::] may be
 * for IPv6 only, which /proc/net/tcp6 does not show.
 */
function findForeign(
  view: NodeView,
  port: number,
  address: string | undefined,
  { listeners }: Surroundings,
): { readonly owner: Listener['owner']; readonly certain: boolean } | undefined {
  if (address === undefined || listeners === undefined) return undefined
  const taken = listeners.filter((listener) => listener.port === port && meet(listener.address, address))
  const isOwn = PORTS.some((at) => view.running(at) === port)
  const foreign = taken.find(({ owner }) => owner === 'other') ?? (isOwn ? undefined : taken.find(({ owner }) => owner === 'unknown'))
  return foreign && { owner: foreign.owner, certain: !(isIpv6(foreign.address) && !isIpv6(address)) }
}

const isIpv6 = (address: string) => address.includes(':')

/**
 * Guards kubelet's health endpoint, by which it is supervised. Kubelet runs on without it: it logs
 * the error and tries again every 5 s (`run`, cmd/kubelet/app/server.go). A fault that the running
 * kubelet has too only gets a warning.
 */
export function checkHealthz(view: NodeView, found: Surroundings): NodeProblem[] {
  const port = view.number('healthzPort') ?? 0
  return port === 0 ? [] : [...checkPort(view, port, found), ...checkAddress(view, found)]
}

function checkPort(view: NodeView, port: number, found: Surroundings): NodeProblem[] {
  const foreign = findForeign(view, port, view.text('healthzBindAddress'), found)
  if (foreign === undefined) return []
  const before = view.running('healthzBindAddress')
  const wasForeign = typeof before === 'string' && findForeign(view, port, before, found) !== undefined
  const isChange = view.running('healthzPort') !== port || (typeof before === 'string' && !wasForeign)
  // If the owner is unknown, it may be kubelet: the ports of its running config tell, but for those
  // of drop-ins.
  const isOther = foreign.owner === 'other' || (view.knowsRunning && view.flag('config-dir') === undefined)
  const problem = `${view.called('healthzPort')} ${port} is in use by ${nameOwner(isOther)}: kubelet cannot serve its health endpoint there`
  const severity = isChange && isOther && foreign.certain ? 'refuse' : 'warn'
  return [{ rule: 'guard/healthz', severity, at: 'healthzPort', problem, advice: FREE }]
}

/** The addresses that need no look at the machine: all, and those of the loopback. */
const ALWAYS = /^(?:0\.0\.0\.0|::|127\.\d+\.\d+\.\d+|::1)$/
const ADDRESS = /^(?:[\d.]+|[\da-fA-F.]*:[\da-fA-F:.]*)$/

/** undefined: the address needs no look at the machine. */
export function healthzAddress(view: NodeView): string | undefined {
  return addressToFind(view, 'healthzBindAddress')
}

function addressToFind(view: NodeView, at: 'address' | 'healthzBindAddress'): string | undefined {
  const address = view.text(at)
  // A name is resolved by kubelet.
  return address === undefined || ALWAYS.test(address) || !ADDRESS.test(address) ? undefined : address
}

function checkAddress(view: NodeView, { localAddresses }: Surroundings): NodeProblem[] {
  const address = healthzAddress(view)
  if (address === undefined || localAddresses === undefined || isLocalAddress(address, localAddresses)) return []
  const at = 'healthzBindAddress'
  const problem = `${view.called(at)} ${address} is not an address of this machine: kubelet cannot serve its health endpoint there`
  const severity = view.running(at) === address ? 'warn' : 'refuse'
  return [{ rule: 'guard/healthz', severity, at, problem, advice: 'name an address of this machine, as a rule 127.0.0.1' }]
}

/**
 * Warns where a config turns kubelet's server off. Kubelet runs on and the node stays Ready, and
 * the evidence `serving` is unknown then: nothing else tells what is lost.
 */
export function checkServer(view: NodeView): NodeProblem[] {
  if (view.running('enableServer') !== true || view.value('enableServer') !== false) return []
  const problem = `${view.called('enableServer')} false ends logs, exec, attach, port forwarding and metrics of this node, and no evidence shows that`
  const advice = 'keep enableServer: true, unless nothing may ask this kubelet'
  return [{ rule: 'node/server-off', severity: 'warn', at: 'enableServer', problem, advice }]
}

/**
 * Without a kubeconfig kubelet has no client of the API server, and exits where it would have to
 * ask whom to let in: `BuildAuthn` and `BuildAuthz`, cmd/kubelet/app/auth.go.
 */
const ASKING = [
  ['authentication.webhook.enabled', true, 'false'],
  ['authorization.mode', 'Webhook', 'AlwaysAllow'],
] as const

export function checkStandalone(view: NodeView): NodeProblem[] {
  const isWhole = view.options.flagsKnown === true && view.flag('config') !== undefined
  if (!isWhole || (view.flag('kubeconfig') ?? '') !== '') return []
  return ASKING.flatMap(([at, asks, other]): NodeProblem[] => {
    if (view.value(at) !== asks) return []
    const which = view.isDefault(at) ? ' by default' : ''
    const problem = `${view.called(at)} is ${asks}${which}, and kubelet has no --kubeconfig: kubelet does not start`
    const advice = `set it to ${other}, or start kubelet with a kubeconfig`
    return [{ rule: 'node/no-client', severity: 'refuse', at, problem, advice }]
  })
}

/**
 * Guards the fields by which kubelet stays in touch with the API server. They need no facts about
 * the node, only what runs there, if it is known. Kubelet starts with any value.
 *
 * `runOnce`: kubelet never talks to the API server, and ends without an error (`RunKubelet`,
 * cmd/kubelet/app/server.go, up to 1.31).
 *
 * `healthzBindAddress`: kubelet is supervised by its health endpoint.
 *
 * `contentType`: a request whose type has no encoder fails with "no serializers registered"
 * (`clientNegotiator.Encoder`, k8s.io/apimachinery/pkg/runtime/negotiate.go, compares the whole
 * text), and there is no watch in YAML. CBOR falls back to JSON where its gate is off
 * (`RESTClientFor`, k8s.io/client-go/rest, since 1.32).
 *
 * `nodeLeaseDurationSeconds`: kubelet renews after a quarter of it
 * (`nodeLeaseRenewIntervalFraction`, pkg/kubelet/kubelet.go). By default node controllers call a
 * node lost after 40 s, from 1.32 on 50 s (`NodeMonitorGracePeriod`), so that one renewal must
 * arrive in that time even if it takes some seconds.
 */
const CBOR = 'application/cbor'
const CBOR_SINCE = 32
const CONTENT_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf', CBOR]

const RENEWALS = 4
const LONGEST_RENEWAL_S = 30

export function checkClient(view: NodeView): NodeProblem[] {
  return [...checkRunOnce(view), ...checkContentType(view), ...checkLease(view), ...checkHealthzName(view)]
}

function checkRunOnce(view: NodeView): NodeProblem[] {
  if (!view.is('runOnce')) return []
  const problem = 'with runOnce, kubelet runs its static pods once and ends: the node would leave the cluster'
  const severity = view.running('runOnce') === true ? 'warn' : 'refuse'
  return [{ rule: 'guard/run-once', severity, at: 'runOnce', problem, advice: 'remove the field' }]
}

const HOST = /^[\w-]{1,63}(?:\.[\w-]{1,63})*\.?$/
/** Since this minor, Go reads no number with leading zeros: it looks for a host of that name. */
const STRICT_SINCE = 23

/** Kubelet looks up a name, and goes on without its health endpoint where there is no such host. */
function checkHealthzName(view: NodeView): NodeProblem[] {
  const at = 'healthzBindAddress'
  const address = view.text(at)
  if (address === undefined || (view.number('healthzPort') ?? 0) <= 0) return []
  const isZeroed = hasLeadingZero(address) && view.minor !== undefined && view.minor >= STRICT_SINCE
  const isName = HOST.test(address) && !/(?:^|\.)\d+\.?$/.test(address)
  if (isName || (readIp(address.split('%')[0] ?? '') !== undefined && !isZeroed)) return []
  const problem = `${view.called(at)} ${JSON.stringify(address.slice(0, 80))} is neither an IP address nor the name of a host: kubelet cannot serve its health endpoint there`
  const advice = 'name an address of this machine, as a rule 127.0.0.1'
  return [{ rule: 'guard/healthz', severity: view.running(at) === address ? 'warn' : 'refuse', at, problem, advice }]
}

function checkContentType(view: NodeView): NodeProblem[] {
  const type = view.text('contentType')
  const isTooNew = type === CBOR && view.minor !== undefined && view.minor < CBOR_SINCE
  if (type === undefined || (CONTENT_TYPES.includes(type) && !isTooNew)) return []
  const at = 'contentType'
  const problem = `${view.called(at)} ${JSON.stringify(type.slice(0, 80))} is unknown to kubelet: it could not talk to the API server`
  const advice = `name one of ${CONTENT_TYPES.filter((name) => name !== CBOR).join(', ')}`
  return [{ rule: 'guard/content-type', severity: view.running(at) === type ? 'warn' : 'refuse', at, problem, advice }]
}

function checkLease(view: NodeView): NodeProblem[] {
  const seconds = view.number('nodeLeaseDurationSeconds')
  if (seconds === undefined || seconds / RENEWALS <= LONGEST_RENEWAL_S) return []
  const at = 'nodeLeaseDurationSeconds'
  const before = view.running(at)
  const severity = typeof before === 'number' && before >= seconds ? 'warn' : 'refuse'
  const problem = `${at} ${seconds} makes kubelet renew its lease only every ${seconds / RENEWALS} s: node controllers would call the node lost in between`
  const advice = `set at most ${LONGEST_RENEWAL_S * RENEWALS}; kubelet renews after a quarter of it`
  return [{ rule: 'guard/node-lease', severity, at, problem, advice }]
}
