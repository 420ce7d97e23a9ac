// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about what kubelet needs to start, and may get from its config, its defaults or its flags.
 * They need no fact of the node. Pure. Off the node, where the flags are not known, a finding about
 * something that is missing only warns. Rules, 1.20 to 1.37: `NewManager` of
 * pkg/kubelet/cm/cpumanager; `validateReservedMemory` of pkg/kubelet/cm/memorymanager;
 * `InitializeTLS` (cmd/kubelet/app/server.go) and `ListenAndServeKubeletServer`
 * (pkg/kubelet/server); `GetAddressAndDialer` (pkg/kubelet/util, later k8s.io/cri-client/pkg/util).
 */

import { LOADED_BEFORE } from '../node/check-files.ts'
import { compareSums, listReservations, reservedCpu } from '../node/check-reservations.ts'
import { type NodeView, usesCpuManager, usesMemoryManager } from '../node/node-view.ts'
import { type FieldProblem, otherwise, quoteText, type WholeInput } from './complaint.ts'

export function checkSupplied({ view, unseen }: WholeInput): FieldProblem[] {
  // On a node, the rule that looks for the cgroup judges it (`node/cgroup`).
  const elsewhere = unseen === undefined ? [] : [checkUnits]
  const complaints = [checkStaticCpu, checkStaticMemory, checkPair, checkEndpoints, ...elsewhere].flatMap((check) => check(view))
  return complaints.map((complaint) => ({ ...complaint, atStart: true }))
}

/** With the static CPU policy kubelet starts only if some CPU is reserved. */
function checkStaticCpu(view: NodeView): FieldProblem[] {
  if (view.value('cpuManagerPolicy') !== 'static' || !usesCpuManager(view)) return []
  if (view.text('reservedSystemCPUs') !== undefined || view.isUnknown('reservedSystemCPUs') || reservedCpu(view) !== 0n) return []
  const isRounded = view.quantity('systemReserved', 'cpu') !== 0n || view.quantity('kubeReserved', 'cpu') !== 0n
  const reserved = isRounded ? 'this kubelet rounds what is reserved to 0 CPUs' : 'no CPU is reserved'
  const problem = `${view.called('cpuManagerPolicy')} is static, but ${reserved}: kubelet does not start`
  const advice = 'set cpu to at least 1m in systemReserved or kubeReserved, or set reservedSystemCPUs'
  return [{ rule: 'static-policy', path: ['cpuManagerPolicy'], problem, advice, supplied: true }]
}

/**
 * With the static memory policy the reservations of the NUMA nodes must add up to the total
 * reservation. The total reservation of huge pages is always 0.
 */
function checkStaticMemory(view: NodeView): FieldProblem[] {
  const usage = usesMemoryManager(view)
  if (view.value('memoryManagerPolicy') !== 'Static' || usage === 'no' || view.isUnknown('reservedMemory')) return []
  const reservations = listReservations(view)
  const path = [reservations.length === 0 ? 'memoryManagerPolicy' : 'reservedMemory']
  const complaint = { rule: 'static-policy', path, unsure: usage === 'maybe' } as const
  const pages = reservations.flatMap(({ limits }) => Object.entries(limits)).find(([name, size]) => name.startsWith('hugepages-') && size)
  if (pages !== undefined) {
    const problem = `reservedMemory reserves ${pages[0]}: kubelet does not start, as no other field can reserve them too`
    return [{ ...complaint, problem, advice: `remove ${pages[0]} from its limits` }]
  }
  const sums = compareSums(view, undefined)
  if (sums === undefined) return []
  const why = reservations.length === 0 ? 'memoryManagerPolicy Static needs reservedMemory, which is not set: ' : ''
  return [{ ...complaint, problem: `${why}${sums.problem}`, advice: sums.advice, supplied: true }]
}

/** With only one of the two set, kubelet fails to load the other. From 1.36 on it loads neither. */
function checkPair(view: NodeView): FieldProblem[] {
  if (!view.is('enableServer')) return []
  const [certificate, key] = [view.text('tlsCertFile'), view.text('tlsPrivateKeyFile')]
  if ((certificate === undefined) === (key === undefined)) return []
  const [at, other] =
    certificate === undefined ? (['tlsPrivateKeyFile', 'tlsCertFile'] as const) : (['tlsCertFile', 'tlsPrivateKeyFile'] as const)
  if (view.isUnknown(other)) return []
  const alone = `${view.called(at)} is set but ${other} is not`
  const advice = `set ${other} as well, or neither`
  if (view.minor === undefined || view.minor < LOADED_BEFORE)
    return [
      {
        ...{ rule: 'certificate-pair', path: [at], problem: `${alone}: kubelet cannot start its server`, advice },
        ...{ to: LOADED_BEFORE - 1, supplied: true },
      },
    ]
  if (view.is('serverTLSBootstrap')) return []
  return [{ ...otherwise('otherwise/no-certificate', [at], `its server refuses every connection: ${alone}`, advice), supplied: true }]
}

/** Kubelet has taken the endpoints from its config since this minor. */
const ENDPOINTS_SINCE = 27

function checkEndpoints(view: NodeView): FieldProblem[] {
  return (['containerRuntimeEndpoint', 'imageServiceEndpoint'] as const).flatMap((at): FieldProblem[] => {
    const endpoint = view.text(at) ?? ''
    const [, scheme = 'unix'] = /^([a-z][a-z\d+.-]*):/i.exec(endpoint) ?? []
    if (scheme.toLowerCase() === 'unix') return []
    const problem = `${view.called(at)} ${quoteText(endpoint)} is no Unix socket, and kubelet on Linux does not start with another: ${scheme} is not supported`
    const advice = 'name a socket, as in unix:///run/containerd/containerd.sock'
    return [{ rule: 'endpoint', path: [at], problem, advice, from: ENDPOINTS_SINCE }]
  })
}

/** With systemd kubelet enforces slices alone: `ParseSystemdToCgroupName`, pkg/kubelet/cm. */
function checkUnits(view: NodeView): FieldProblem[] {
  if (view.value('cgroupDriver') !== 'systemd') return []
  const enforced = view.texts('enforceNodeAllocatable')
  return (['system', 'kube'] as const).flatMap((name): FieldProblem[] => {
    const at = `${name}ReservedCgroup` as const
    const [, unit] = /(?:^|\/)([^/]{1,80}\.(?:service|scope|socket))\/?$/.exec(view.text(at) ?? '') ?? []
    if (unit === undefined || !enforced.some((option) => option.startsWith(`${name}-reserved`))) return []
    const problem = `${view.called(at)} names ${unit}, and kubelet with cgroupDriver systemd looks for the slice ${unit}.slice: without it, it exits`
    return [{ rule: 'value', path: [at], problem, advice: 'name a slice, as in /kubelet.slice', severity: 'warn' }]
  })
}
