/**
 * Checks the ports that the candidate names: a port may be in use. Pure. Rule: `startKubelet`,
 * cmd/kubelet/app/server.go: kubelet exits if it cannot listen on a port other than its health port
 * (see check-healthz.ts). A port that the running kubelet's config names counts as kubelet's own
 * even if the owner of the socket is unknown.
 */
import type { NodeProblem, NodeView } from './node-view.ts'
import type { Listener, Surroundings } from './surroundings.ts'

const SERVER_PORTS = ['port', 'readOnlyPort'] as const
const PORTS = [...SERVER_PORTS, 'healthzPort'] as const

export function checkPorts(view: NodeView, found: Surroundings): NodeProblem[] {
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
