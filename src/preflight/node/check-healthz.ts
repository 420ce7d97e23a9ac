/**
 * Guards kubelet's health endpoint, by which it is supervised. Pure. Kubelet runs on without it:
 * it logs the error and tries again every 5 s (`run`, cmd/kubelet/app/server.go).
 * A fault that the running kubelet has too only gets a warning.
 */
import { findForeign } from './check-endpoints.ts'
import { isLocalAddress } from './local-addresses.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import type { Surroundings } from './surroundings.ts'

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
  return [
    {
      rule: 'guard/healthz',
      severity: isChange && isOther && foreign.certain ? 'refuse' : 'warn',
      at: 'healthzPort',
      problem: `${view.called('healthzPort')} ${port} is in use by ${isOther ? 'another process' : 'some process'}: kubelet cannot serve its health endpoint there`,
      advice: 'choose a free port, or stop the process that listens there',
    },
  ]
}

/** The addresses that need no look at the machine: all, and those of the loopback. */
const ALWAYS = /^(?:0\.0\.0\.0|::|127\.\d+\.\d+\.\d+|::1)$/
const ADDRESS = /^(?:[\d.]+|[\da-fA-F.]*:[\da-fA-F:.]*)$/

/** undefined: the address needs no look at the machine. */
export function healthzAddress(view: NodeView): string | undefined {
  const address = view.text('healthzBindAddress')
  // A name is resolved by kubelet.
  return address === undefined || ALWAYS.test(address) || !ADDRESS.test(address) ? undefined : address
}

function checkAddress(view: NodeView, { localAddresses }: Surroundings): NodeProblem[] {
  const address = healthzAddress(view)
  if (address === undefined || localAddresses === undefined || isLocalAddress(address, localAddresses)) return []
  return [
    {
      rule: 'guard/healthz',
      severity: view.running('healthzBindAddress') === address ? 'warn' : 'refuse',
      at: 'healthzBindAddress',
      problem: `${view.called('healthzBindAddress')} ${address} is not an address of this machine: kubelet cannot serve its health endpoint there`,
      advice: 'name an address of this machine, as a rule 127.0.0.1',
    },
  ]
}
