// SPDX-License-Identifier: Apache-2.0
/**
 * Checks the candidate against kernel settings, swap, cgroups and NUMA nodes. Pure. Rules:
 * `NewContainerManager` and `setupKernelTunables`, pkg/kubelet/cm/container_manager_linux.go;
 * `enforceNodeAllocatableCgroups`, node_container_manager_linux.go; `NewManager`,
 * pkg/kubelet/cm/topologymanager. Names of cgroups are in `cgroup-names.ts`.
 */

import { OTHERWISE } from '../../decision/verdict.ts'
import { NANOS, parseQuantity } from '../../kubelet/quantity.ts'
import { isObject } from '../../values/is-object.ts'
import { type CgroupField, pathsOf } from './cgroup-names.ts'
import { driverOf } from './check-runtime.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import type { CgroupUse, Surroundings } from './surroundings.ts'

export function checkMachine(view: NodeView, found: Surroundings): NodeProblem[] {
  return [
    ...checkSwap(view, found),
    ...checkCgroups(view, found),
    ...checkKernel(view, found),
    ...checkNumaNodes(view, found),
    ...checkOpenFiles(view, found),
  ]
}

function checkSwap(view: NodeView, { swapBytes, cgroupVersion }: Surroundings): NodeProblem[] {
  const complaints: NodeProblem[] = []
  if (view.is('failSwapOn') && swapBytes !== undefined && swapBytes > 0) {
    const byDefault = view.isDefault('failSwapOn') ? ' by default' : ''
    const problem = `${view.called('failSwapOn')} is true${byDefault}, and swap is on: kubelet does not start`
    const advice = 'turn swap off, or set failSwapOn to false'
    complaints.push({ rule: 'node/swap', severity: 'refuse', at: 'failSwapOn', problem, advice })
  }
  if (view.value('memorySwap.swapBehavior') === 'LimitedSwap' && cgroupVersion === 1 && view.gate('NodeSwap') !== false) {
    // NodeSwap is on from 1.30; before, its effect changed between versions.
    const certain = view.minor !== undefined && view.minor >= 30
    const problem = `LimitedSwap needs cgroup v2, and this machine has v1${certain ? ': kubelet does not start' : ''}`
    const advice = 'set swapBehavior to NoSwap, or boot the machine with cgroup v2'
    complaints.push({ rule: 'node/swap', severity: certain ? 'refuse' : 'warn', at: 'memorySwap.swapBehavior', problem, advice })
  }
  return complaints
}

function checkCgroups(view: NodeView, found: Surroundings): NodeProblem[] {
  const complaints = missingCgroups(view, found)
  // The default is true from 1.35 on, and the field does not exist before 1.31: without a known
  // version the default does not count.
  const certain = view.minor !== undefined
  if (found.cgroupVersion === 1 && view.is('failCgroupV1') && (certain || !view.isDefault('failCgroupV1'))) {
    const which = `${view.isDefault('failCgroupV1') ? ' by default' : ''}${certain ? '' : ' in late versions'}`
    const problem = `failCgroupV1 is true${which}, and this machine has cgroup v1: kubelet does not start`
    const advice = 'set failCgroupV1 to false, or boot the machine with cgroup v2'
    complaints.push({ rule: 'node/cgroup', severity: certain ? 'refuse' : 'warn', at: 'failCgroupV1', problem, advice })
  }
  complaints.push(...checkOomKill(view, found))
  // From 1.28 on kubelet may get the driver from the container runtime
  // (KubeletCgroupDriverFromCRI). A driver that kubelet already runs with gets no warning.
  const isChange = !view.isDefault('cgroupDriver') || view.running('cgroupDriver') === 'systemd'
  if (found.cgroupVersion === 2 && view.value('cgroupDriver') === 'cgroupfs' && isChange && view.minor !== undefined && view.minor < 28) {
    const problem = 'cgroupDriver is cgroupfs on cgroup v2, where systemd manages the same cgroups'
    const advice = 'set cgroupDriver to systemd, here and in the container runtime, with the node drained'
    complaints.push({ rule: 'node/cgroup', severity: 'warn', at: 'cgroupDriver', problem, advice })
  }
  return complaints
}

/** `validateKubeletOSConfiguration`, pkg/kubelet/apis/config/validation, from 1.32 on. */
function checkOomKill(view: NodeView, { cgroupVersion }: Surroundings): NodeProblem[] {
  if (cgroupVersion !== 1 || view.value('singleProcessOOMKill') !== false || view.isDefault('singleProcessOOMKill')) return []
  const certain = view.minor !== undefined
  const which = certain ? 'does' : '1.32 and later do'
  const problem = `singleProcessOOMKill is false, and this machine has cgroup v1: kubelet ${which} not start`
  const advice = 'remove it, or boot the machine with cgroup v2'
  return [{ rule: 'node/cgroup', severity: certain ? 'refuse' : 'warn', at: 'singleProcessOOMKill', problem, advice }]
}

/** The fields that name a cgroup, where kubelet requires that it exists. */
function requiredCgroups(view: NodeView): { readonly at: CgroupField; readonly name: string }[] {
  const enforced = view.texts('enforceNodeAllocatable')
  const rows: readonly (readonly [CgroupField, boolean])[] = [
    ['cgroupRoot', view.is('cgroupsPerQOS')],
    ['systemReservedCgroup', enforced.some((name) => name.startsWith('system-reserved'))],
    ['kubeReservedCgroup', enforced.some((name) => name.startsWith('kube-reserved'))],
  ]
  return rows.flatMap(([at, required]) => {
    const name = required ? view.text(at) : undefined
    return name === undefined ? [] : [{ at, name }]
  })
}

/** By all paths at which kubelet may look for them. */
export function cgroupsToFind(view: NodeView): string[] {
  return [...new Set(requiredCgroups(view).flatMap(({ at, name }) => pathsOf(at, name, undefined)))].filter((path) => path !== '')
}

function missingCgroups(view: NodeView, { cgroups, runtime }: Surroundings): NodeProblem[] {
  const driver = driverOf(view, runtime)
  return requiredCgroups(view).flatMap(({ at, name }): NodeProblem[] => {
    const paths = pathsOf(at, name, driver)
    const complain = (problem: string, advice: string): NodeProblem[] => [
      { rule: 'node/cgroup', severity: 'refuse', at, problem: `${view.called(at)} ${problem}`, advice },
    ]
    const quoted = JSON.stringify(name.slice(0, 80))
    if (paths.length === 0) return complain(`${quoted} is no name of a cgroup: kubelet does not start`, 'write it as in /kubelet.slice')
    if (!paths.every((path) => cgroups.get(path) === false)) return []
    const place = `/${paths[0]}`
    const isAsWritten = driver === undefined || place === name
    const which = isAsWritten ? '' : ` (to cgroupDriver ${driver} it is ${place})`
    const advice = `create the cgroup ${isAsWritten ? '' : `${place} `}first, or name one that exists`
    return complain(`names a cgroup that does not exist: kubelet does not start${which}`, advice)
  })
}

/** Settings that kubelet writes; with protectKernelDefaults it only compares them. */
export const KERNEL_SETTINGS: ReadonlyMap<string, number> = new Map([
  ['vm.overcommit_memory', 1],
  ['vm.panic_on_oom', 0],
  ['kernel.panic', 10],
  ['kernel.panic_on_oops', 1],
  ['kernel.keys.root_maxkeys', 1_000_000],
  ['kernel.keys.root_maxbytes', 25_000_000],
])

function checkKernel(view: NodeView, { sysctls }: Surroundings): NodeProblem[] {
  if (!view.is('protectKernelDefaults')) return []
  const wrong = [...KERNEL_SETTINGS].filter(([name, required]) => sysctls.has(name) && sysctls.get(name) !== required)
  if (wrong.length === 0) return []
  const list = wrong.map(([name, required]) => `${name} is ${sysctls.get(name)} instead of ${required}`).join(', ')
  const at = 'protectKernelDefaults'
  const problem = `${view.called(at)} is true, and ${list}: kubelet does not start`
  const advice = `set them in sysctl.d(5): ${wrong.map(([name, required]) => `${name} = ${required}`).join(', ')}`
  return [{ rule: 'node/kernel', severity: 'refuse', at, problem, advice }]
}

/** Without the option of its policy that raises it, which came with 1.31. */
const MOST_NUMA_NODES = 8

function checkNumaNodes(view: NodeView, { numaNodes }: Surroundings): NodeProblem[] {
  const policy = view.text('topologyManagerPolicy') ?? 'none'
  const option = view.map('topologyManagerPolicyOptions')['max-allowable-numa-nodes']
  const raised = view.minor === undefined || view.minor >= 31 ? Number(option ?? MOST_NUMA_NODES) : MOST_NUMA_NODES
  if (policy === 'none' || numaNodes === undefined || !(numaNodes.size > raised)) return []
  const at = 'topologyManagerPolicy'
  const problem = `${view.called(at)} is ${policy}, and this machine has ${numaNodes.size} NUMA nodes, more than ${raised}: kubelet does not start`
  const advice =
    view.minor !== undefined && view.minor < 31
      ? 'set it to none'
      : `set it to none, or max-allowable-numa-nodes: "${numaNodes.size}" in topologyManagerPolicyOptions`
  return [{ rule: 'node/numa', severity: 'refuse', at, problem, advice }]
}

/** The most files that a process may be allowed to open. */
export const MOST_FILES = 'fs.nr_open'

/** `RunKubelet`, cmd/kubelet/app/server.go: kubelet only logs that it may not raise its limit. */
function checkOpenFiles(view: NodeView, { sysctls }: Surroundings): NodeProblem[] {
  const [wanted, most] = [view.number('maxOpenFiles'), sysctls.get(MOST_FILES)]
  if (wanted === undefined || most === undefined || wanted <= most) return []
  const problem = `${OTHERWISE} keeps the limit of open files that it has: maxOpenFiles ${wanted} is above ${MOST_FILES}, which is ${most}`
  const advice = `set at most ${most}, or raise ${MOST_FILES} in sysctl.d(5)`
  return [{ rule: 'node/open-files', severity: 'warn', at: 'maxOpenFiles', problem, advice }]
}

/**
 * Guards the cgroups that kubelet limits to their reservation. With `kube-reserved` or
 * `system-reserved` in enforceNodeAllocatable, kubelet sets the limits of the cgroup that the
 * config names to what is reserved (`enforceExistingCgroup`,
 * pkg/kubelet/cm/node_container_manager_linux.go). Below what the cgroup uses, the kernel kills
 * system daemons, or they cannot fork. CPU is only shared out, and so is everything with
 * `-compressible`.
 */
const ENFORCED = [
  { option: 'system-reserved', at: 'systemReserved', cgroup: 'systemReservedCgroup' },
  { option: 'kube-reserved', at: 'kubeReserved', cgroup: 'kubeReservedCgroup' },
] as const
type Enforced = (typeof ENFORCED)[number]

/** The limits that a cgroup's use can exceed. */
const RESOURCES = [
  { key: 'memory', read: ({ memoryBytes }: CgroupUse) => memoryBytes, effect: 'the kernel would kill its processes' },
  { key: 'pid', read: ({ processes }: CgroupUse) => processes, effect: 'its processes could not fork' },
] as const

/** The cgroups to look at, by the paths at which kubelet may look for them. */
export function enforcedCgroups(view: NodeView): string[] {
  return listEnforced(view)
    .flatMap(({ cgroup, name }) => pathsOf(cgroup, name, undefined))
    .filter((path) => path !== '')
}

function listEnforced(view: NodeView): (Enforced & { readonly name: string })[] {
  const options = view.texts('enforceNodeAllocatable')
  return ENFORCED.flatMap((enforced) => {
    const name = view.text(enforced.cgroup)
    return name === undefined || !options.includes(enforced.option) ? [] : [{ ...enforced, name }]
  })
}

export function checkEnforced(view: NodeView, { cgroupUse, runtime }: Surroundings): NodeProblem[] {
  const driver = driverOf(view, runtime)
  return listEnforced(view).flatMap(({ option, at, cgroup, name }) => {
    const use = pathsOf(cgroup, name, driver)
      .map((path) => cgroupUse.get(path))
      .find((found) => found !== undefined)
    return RESOURCES.flatMap(({ key, read, effect }): NodeProblem[] => {
      const limit = view.quantity(at, key)
      const used = use === undefined ? undefined : read(use)
      // A resource that is not reserved is not limited.
      if (limit === undefined || used === undefined || !Object.hasOwn(view.map(at), key) || BigInt(used) * NANOS <= limit) return []
      const before = limitBefore(view, option, at, key)
      const severity = before !== undefined && before <= limit ? 'warn' : 'refuse'
      const problem = `${at}.${key} is ${view.map(at)[key]}, less than the ${show(used, key)} that the cgroup ${name} uses now; with ${option} in enforceNodeAllocatable it becomes the limit: ${effect}`
      const advice = `reserve more, or remove ${option} from enforceNodeAllocatable`
      return [{ rule: 'guard/reservation', severity, at, key, problem, advice }]
    })
  })
}

/** The limit that is in force now. undefined: none, or unknown. */
function limitBefore(view: NodeView, option: string, at: Enforced['at'], key: string): bigint | undefined {
  const options = view.running('enforceNodeAllocatable')
  const reserved = view.running(at)
  const amount = isObject(reserved) ? reserved[key] : undefined
  return Array.isArray(options) && options.includes(option) && amount !== undefined ? parseQuantity(String(amount)) : undefined
}

function show(amount: number, key: string): string {
  return key === 'memory' ? `${(amount / 2 ** 20).toFixed(0)}Mi` : String(amount)
}

/**
 * The subordinate ids of the user `kubelet`, which it gives to pods with user namespaces: from 1.38
 * on it does not start where they end past the last id that the kernel maps, with whatever config.
 * Rules: `MakeUserNsManager`, pkg/kubelet/userns; `getKubeletMappings` and `parseGetSubIdsOutput`,
 * pkg/kubelet/kubelet_pods.go.
 */
const FIRST_MINOR = 38
const LAST_ID = 2 ** 32 - 2
const [USERS, IDS, GROUP_IDS, SWITCH] = ['/etc/passwd', '/etc/subuid', '/etc/subgid', '/etc/nsswitch.conf']
/** Without this program kubelet asks nobody, and takes all ids but the first and last. */
const TOOL = '/usr/bin/getsubids'

export function subordinateNeeds({ minor }: NodeView): { readonly texts: readonly string[]; readonly paths: readonly string[] } {
  return minor === undefined || minor < FIRST_MINOR ? { texts: [], paths: [] } : { texts: [USERS, IDS, GROUP_IDS, SWITCH], paths: [TOOL] }
}

/** Why kubelet does not start on this node. undefined: it does, or that is not known. */
export function findSubordinateFault({ minor }: NodeView, { texts, paths }: Surroundings): string | undefined {
  if (minor === undefined || minor < FIRST_MINOR || paths.get(TOOL) !== 'file') return undefined
  const linesOf = (file: string) => (texts.get(file) ?? '').split('\n')
  const isUser = linesOf(USERS).some((line) => line.startsWith('kubelet:'))
  // Who else may know the ids is not asked.
  const isElsewhere = linesOf(SWITCH).some((line) => /^\s*subid\s*:(?!\s*files\s*$)/.test(line))
  const [ranges, groupRanges] = [IDS, GROUP_IDS].map((file) => linesOf(file).filter((line) => line.startsWith('kubelet:')))
  const [, first, count] = /^kubelet:(\d+):(\d+)\s*$/.exec(ranges?.[0] ?? '') ?? []
  if (!isUser || isElsewhere || first === undefined || ranges?.length !== 1 || ranges.join() !== groupRanges?.join()) return undefined
  const last = Number(first) + Number(count) - 1
  if (last <= LAST_ID) return undefined
  return `kubelet 1.${FIRST_MINOR} and later do not start with any config on this node: the range ${first}:${count} of the user kubelet in ${IDS} ends at ${last}, past the last id ${LAST_ID}; give it a range that ends before, in ${GROUP_IDS} too`
}
