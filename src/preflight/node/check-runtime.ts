// SPDX-License-Identifier: Apache-2.0
/**
 * Guards what kubelet has in common with its container runtime: the sockets, and the cgroup driver.
 * Pure. Kubelet does not start without a runtime and its image service (`PreInitRuntimeService`,
 * pkg/kubelet/kubelet.go).
 * With another cgroup driver than the runtime's it starts, but no pod does.
 *
 * From 1.31 on kubelet takes the driver that the runtime tells it (gate KubeletCgroupDriverFromCRI,
 * alpha in 1.28). A runtime that does not tell leaves it to the config (`getCgroupDriverFromCRI`,
 * cmd/kubelet/app/server.go): containerd before 2.0, CRI-O before 1.28.
 */
import { toSocketPath } from '../../kubelet/config-file.ts'
import type { CgroupDriver } from '../../ports/probes.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import type { RuntimeFacts, Surroundings } from './surroundings.ts'

/** The candidate's. undefined: not a Unix socket, or unknown. */
export function runtimeSocket(view: NodeView): string | undefined {
  return toSocket(endpointOf(view))
}

/** The candidate's, where it is not that of the container runtime. */
export function imageSocket(view: NodeView): string | undefined {
  // Before 1.27 only a flag names the socket, so no candidate changes it.
  const socket = namesEndpoint(view) ? toSocket(view.text('imageServiceEndpoint')) : undefined
  return socket === runtimeSocket(view) ? undefined : socket
}

export function checkRuntime(view: NodeView, { imageService, runtime }: Surroundings): NodeProblem[] {
  return [
    ...(runtime === undefined ? [] : [...checkEndpoint(view, runtime), ...checkCgroupDriver(view, runtime)]),
    ...(imageService === undefined ? [] : checkImageService(view, imageService)),
  ]
}

function checkImageService(view: NodeView, { fault }: Pick<RuntimeFacts, 'fault'>): NodeProblem[] {
  const socket = imageSocket(view)
  if (fault === undefined || fault.why === 'not-allowed' || socket === undefined) return []
  // Without an image service of its own, what runs has that of its container runtime.
  const moves = view.knowsRunning && socket !== toSocket(view.running('imageServiceEndpoint'))
  const at = 'imageServiceEndpoint'
  if (fault.why === 'not-trusted') return [distrust(moves, view, at, fault)]
  const problem = `${view.called(at)}: no image service answers (${fault.detail}); kubelet does not start without it`
  const advice = moves ? 'start that image service first, or remove the field' : 'check that the image service is running'
  return [{ ...weighSilence(moves), at, problem, advice }]
}

/** Kubelet would hand its containers to whoever has the socket. */
function distrust(moves: boolean, view: NodeView, at: NodeProblem['at'], { detail }: { readonly detail: string }): NodeProblem {
  const problem = `${view.called(at)}: ${detail}; kubelet would let another account than root run its containers`
  const advice = 'let the socket and each directory above it belong to root, and let nobody else write to them'
  return { ...weighSilence(moves), at, problem, advice }
}

function checkEndpoint(view: NodeView, { fault }: RuntimeFacts): NodeProblem[] {
  // Before 1.27 only a flag names the socket, so no candidate changes it.
  if (fault === undefined || fault.why === 'not-allowed' || !namesEndpoint(view)) return []
  const before = toSocket(view.running('containerRuntimeEndpoint'))
  const moves = before !== undefined && before !== runtimeSocket(view)
  const at = 'containerRuntimeEndpoint'
  if (fault.why === 'not-trusted') return [distrust(moves, view, at, fault)]
  const problem = `${view.called(at)}: no container runtime answers (${fault.detail}); kubelet does not start without one`
  const other = 'start that container runtime first, or name the one that is running'
  return [{ ...weighSilence(moves), at, problem, advice: moves ? other : 'check that the container runtime is running' }]
}

/**
 * A service that kubelet uses already may be down for a while, which is not the config's fault. One
 * that the config moves to must run.
 */
function weighSilence(moves: boolean): Pick<NodeProblem, 'rule' | 'severity'> {
  return moves ? { rule: 'guard/runtime-endpoint', severity: 'refuse' } : { rule: 'node/runtime-endpoint', severity: 'warn' }
}

function checkCgroupDriver(view: NodeView, { cgroup }: RuntimeFacts): NodeProblem[] {
  const driver = view.text('cgroupDriver')
  if (cgroup === undefined || driver === undefined || driver === cgroup.driver) return []
  const at = 'cgroupDriver'
  const name = view.called(at)
  if (cgroup.from === 'answer' && asksRuntime(view)) {
    const problem = `${name} ${driver} has no effect: kubelet takes ${cgroup.driver}, as its container runtime tells it`
    const advice = `set cgroupDriver to ${cgroup.driver}`
    return view.isDefault(at) ? [] : [{ rule: 'node/cgroup-driver', severity: 'warn', at, problem, advice }]
  }
  // A node that already runs like that is not made worse.
  const before = view.running(at)
  const severity = before === undefined || before === driver ? 'warn' : 'refuse'
  const source = cgroup.from === 'answer' ? 'tells' : 'has in its config file'
  const problem = `${name} is ${driver}, but the container runtime uses ${cgroup.driver}, as it ${source}: no pod could start`
  const advice = `set cgroupDriver to ${cgroup.driver}, or change the container runtime first`
  return [{ rule: 'guard/cgroup-driver', severity, at, problem, advice }]
}

/** The driver that kubelet uses. undefined: the runtime may tell it another one than its config. */
export function driverOf(view: NodeView, runtime: RuntimeFacts | undefined): CgroupDriver | undefined {
  if (runtime?.cgroup?.from === 'answer' && asksRuntime(view)) return runtime.cgroup.driver
  if (asksRuntime(view) && runtime?.cgroup?.from !== 'file') return undefined
  return view.text('cgroupDriver') === 'systemd' ? 'systemd' : 'cgroupfs'
}

const CRI_GATE = 'KubeletCgroupDriverFromCRI'

/** Where the version is unknown, kubelet is given the benefit of the doubt. */
function asksRuntime(view: NodeView): boolean {
  const { minor } = view
  const gate = view.gate(CRI_GATE)
  if (minor === undefined || minor >= 34) return true
  return minor >= 31 ? gate !== false : minor >= 28 && gate === true
}

function namesEndpoint({ minor }: NodeView): boolean {
  return minor !== undefined && minor >= 27
}

function endpointOf(view: NodeView): unknown {
  return view.flag('container-runtime-endpoint') ?? (namesEndpoint(view) ? view.text('containerRuntimeEndpoint') : undefined)
}

function toSocket(endpoint: unknown): string | undefined {
  if (typeof endpoint !== 'string') return undefined
  const path = toSocketPath(endpoint)
  return path.startsWith('/') && /^[\x21-\x7e]{1,107}$/.test(path) && !path.endsWith('/dockershim.sock') ? path : undefined
}
