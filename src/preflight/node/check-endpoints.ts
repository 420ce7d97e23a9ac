/**
 * Checks the ports and sockets that the candidate names: a port may be in use, a container runtime
 * may be down. Pure. Rules: `startKubelet` and `PreInitRuntimeService`, cmd/kubelet/app/server.go
 * and pkg/kubelet/kubelet.go: kubelet exits if it cannot listen on a port other than its health
 * port (see check-healthz.ts), and without a container runtime. A port that the running kubelet's config names counts as
 * kubelet's own even if the owner of the socket is unknown.
 */
import type { NodeProblem, NodeView } from './node-view.ts'
import type { Listener, Surroundings } from './surroundings.ts'

export function checkEndpoints(view: NodeView, found: Surroundings): NodeProblem[] {
  return [...checkPorts(view, found), ...checkRuntime(view, found)]
}

const SERVER_PORTS = ['port', 'readOnlyPort'] as const
const PORTS = [...SERVER_PORTS, 'healthzPort'] as const

function checkPorts(view: NodeView, found: Surroundings): NodeProblem[] {
  return SERVER_PORTS.flatMap((at): NodeProblem[] => {
    const port = view.number(at) ?? 0
    const foreign =
      port === 0 || (at === 'port' && !view.is('enableServer')) ? undefined : findForeign(view, port, view.text('address'), found)
    if (foreign === undefined) return []
    return [
      {
        rule: 'node/port',
        severity: foreign.owner === 'other' && foreign.certain ? 'refuse' : 'warn',
        at,
        problem: `${view.called(at)} ${port} is in use by ${foreign.owner === 'other' ? 'another process' : 'some process'}: kubelet does not start`,
        advice: 'choose a free port, or stop the process that listens there',
      },
    ]
  })
}

/**
 * A listener on this port that is not known to be the running kubelet. Not `certain`: [::] may be
 * for IPv6 only, which /proc/net/tcp6 does not show.
 */
export function findForeign(
  view: NodeView,
  port: number,
  address: string | undefined,
  { listeners }: Surroundings,
): { readonly owner: Listener['owner']; readonly certain: boolean } | undefined {
  if (address === undefined || listeners === undefined) return undefined
  const taken = listeners.filter((listener) => listener.port === port && meets(listener.address, address))
  const isOwn = PORTS.some((at) => view.running(at) === port)
  const foreign = taken.find(({ owner }) => owner === 'other') ?? (isOwn ? undefined : taken.find(({ owner }) => owner === 'unknown'))
  return foreign && { owner: foreign.owner, certain: !(isIpv6(foreign.address) && !isIpv6(address)) }
}

function meets(a: string, b: string): boolean {
  return a === b || isAny(a) || isAny(b)
}

function isAny(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

function isIpv6(address: Listener['address']): boolean {
  return address.includes(':')
}

/**
 * The candidate's container runtime socket. undefined: not a Unix socket, or not set by the config.
 */
export function runtimeSocket(view: NodeView): string | undefined {
  // Before 1.27 only a flag names the socket, so no candidate changes it.
  if (view.minor === undefined || view.minor < 27) return undefined
  const endpoint = view.text('containerRuntimeEndpoint')
  const path = endpoint?.replace(/^unix:\/\//, '')
  return path?.startsWith('/') === true && /^[\x21-\x7e]{1,107}$/.test(path) ? path : undefined
}

function checkRuntime(view: NodeView, { sockets }: Surroundings): NodeProblem[] {
  const socket = runtimeSocket(view)
  const state = socket === undefined ? undefined : sockets.get(socket)
  if (socket === undefined || state === undefined || state === 'accepts') return []
  const before = view.running('containerRuntimeEndpoint')
  // The current runtime may be down for a while, which is not the config's fault; a new one must
  // run.
  const moves = before !== undefined && before !== view.value('containerRuntimeEndpoint')
  return [
    {
      rule: 'node/runtime-endpoint',
      severity: moves ? 'refuse' : 'warn',
      at: 'containerRuntimeEndpoint',
      problem: `${view.called('containerRuntimeEndpoint')}: ${state === 'missing' ? `the socket ${socket} does not exist` : `nothing listens on ${socket}`}; kubelet does not start without a container runtime`,
      advice: moves ? 'start that container runtime first, or name the one that is running' : 'check that the container runtime is running',
    },
  ]
}
