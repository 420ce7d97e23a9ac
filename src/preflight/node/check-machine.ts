/**
 * Checks the candidate against kernel settings, swap and cgroups. Pure. Rules:
 * `NewContainerManager` and `setupKernelTunables`, pkg/kubelet/cm/container_manager_linux.go;
 * `enforceNodeAllocatableCgroups`, node_container_manager_linux.go. Names of cgroups as in
 * cgroup_manager_linux.go: kubelet looks for a slice with the systemd driver, and for the path as
 * written with the other driver. This check accepts either.
 */
import type { RowName } from '../change/field-rows.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import type { Surroundings } from './surroundings.ts'

export function checkMachine(view: NodeView, found: Surroundings): NodeProblem[] {
  return [...checkSwap(view, found), ...checkCgroups(view, found), ...checkKernel(view, found)]
}

function checkSwap(view: NodeView, { swapBytes, cgroupVersion }: Surroundings): NodeProblem[] {
  const complaints: NodeProblem[] = []
  if (view.is('failSwapOn') && swapBytes !== undefined && swapBytes > 0) {
    complaints.push({
      rule: 'node/swap',
      severity: 'refuse',
      at: 'failSwapOn',
      problem: `${view.called('failSwapOn')} is true${view.isDefault('failSwapOn') ? ' by default' : ''}, and swap is on: kubelet does not start`,
      advice: 'turn swap off, or set failSwapOn to false',
    })
  }
  if (view.value('memorySwap.swapBehavior') === 'LimitedSwap' && cgroupVersion === 1 && view.gate('NodeSwap') !== false) {
    // NodeSwap is on from 1.30; before, its effect changed between versions.
    const certain = view.minor !== undefined && view.minor >= 30
    complaints.push({
      rule: 'node/swap',
      severity: certain ? 'refuse' : 'warn',
      at: 'memorySwap.swapBehavior',
      problem: `LimitedSwap needs cgroup v2, and this machine has v1${certain ? ': kubelet does not start' : ''}`,
      advice: 'set swapBehavior to NoSwap, or boot the machine with cgroup v2',
    })
  }
  return complaints
}

function checkCgroups(view: NodeView, found: Surroundings): NodeProblem[] {
  const complaints = missingCgroups(view, found)
  // The default is true from 1.35 on, and the field does not exist before 1.31: without a known
  // version the default does not count.
  const certain = view.minor !== undefined
  if (found.cgroupVersion === 1 && view.is('failCgroupV1') && (certain || !view.isDefault('failCgroupV1'))) {
    complaints.push({
      rule: 'node/cgroup',
      severity: certain ? 'refuse' : 'warn',
      at: 'failCgroupV1',
      problem: `failCgroupV1 is true${view.isDefault('failCgroupV1') ? ' by default' : ''}${certain ? '' : ' in late versions'}, and this machine has cgroup v1: kubelet does not start`,
      advice: 'set failCgroupV1 to false, or boot the machine with cgroup v2',
    })
  }
  complaints.push(...checkOomKill(view, found))
  // From 1.28 on kubelet may get the driver from the container runtime
  // (KubeletCgroupDriverFromCRI). A driver that kubelet already runs with gets no warning.
  const isChange = !view.isDefault('cgroupDriver') || view.running('cgroupDriver') === 'systemd'
  if (found.cgroupVersion === 2 && view.value('cgroupDriver') === 'cgroupfs' && isChange && view.minor !== undefined && view.minor < 28) {
    complaints.push({
      rule: 'node/cgroup',
      severity: 'warn',
      at: 'cgroupDriver',
      problem: 'cgroupDriver is cgroupfs on cgroup v2, where systemd manages the same cgroups',
      advice: 'set cgroupDriver to systemd, here and in the container runtime, with the node drained',
    })
  }
  return complaints
}

/** `validateKubeletOSConfiguration`, pkg/kubelet/apis/config/validation, from 1.32 on. */
function checkOomKill(view: NodeView, { cgroupVersion }: Surroundings): NodeProblem[] {
  if (cgroupVersion !== 1 || view.value('singleProcessOOMKill') !== false || view.isDefault('singleProcessOOMKill')) return []
  const certain = view.minor !== undefined
  return [
    {
      rule: 'node/cgroup',
      severity: certain ? 'refuse' : 'warn',
      at: 'singleProcessOOMKill',
      problem: `singleProcessOOMKill is false, and this machine has cgroup v1: kubelet ${certain ? 'does' : '1.32 and later do'} not start`,
      advice: 'remove it, or boot the machine with cgroup v2',
    },
  ]
}

/** The fields that name a cgroup, where kubelet requires that it exists. */
export function requiredCgroups(view: NodeView): { readonly at: RowName; readonly spellings: readonly string[] }[] {
  const enforced = view.texts('enforceNodeAllocatable')
  const rows: readonly (readonly [RowName, boolean])[] = [
    ['cgroupRoot', view.is('cgroupsPerQOS')],
    ['systemReservedCgroup', enforced.some((name) => name.startsWith('system-reserved'))],
    ['kubeReservedCgroup', enforced.some((name) => name.startsWith('kube-reserved'))],
  ]
  return rows.flatMap(([at, required]) => {
    const name = required ? view.text(at) : undefined
    const spellings = name === undefined ? [] : at === 'cgroupRoot' ? spellRoot(name) : spellCgroup(name)
    return spellings.length === 0 ? [] : [{ at, spellings }]
  })
}

/** `a/b`: as written, and as systemd nests slices, `a.slice/a-b.slice`. */
export function spellCgroup(name: string): string[] {
  const parts = name.split('/').filter((part) => part !== '')
  if (parts.length === 0 || parts.some((part) => part === '..' || part === '.')) return []
  const plain = parts.map((part) => part.replace(/\.slice$/, ''))
  return [...new Set([parts.join('/'), nestSlices(plain), nestSlices((plain.at(-1) ?? '').split('-'))])]
}

/**
 * Kubelet takes the root for a path of cgroupfs. Systemd nests slices by the dashes in their names,
 * so kubelet replaces those of the path (`ToSystemd`, pkg/kubelet/cm/cgroup_manager_linux.go).
 */
function spellRoot(name: string): string[] {
  const spellings = spellCgroup(name)
  const [plain] = spellings
  return plain === undefined ? [] : [...new Set([...spellings, nestSlices(plain.replaceAll('-', '_').split('/'))])]
}

function nestSlices(words: readonly string[]): string {
  return words.map((_, at) => `${words.slice(0, at + 1).join('-')}.slice`).join('/')
}

function missingCgroups(view: NodeView, { cgroups }: Surroundings): NodeProblem[] {
  return requiredCgroups(view)
    .filter(({ spellings }) => spellings.every((name) => cgroups.get(name) === false))
    .map(({ at }) => ({
      rule: 'node/cgroup',
      severity: 'refuse',
      at,
      problem: `${view.called(at)} names a cgroup that does not exist: kubelet does not start`,
      advice: 'create the cgroup first, or name one that exists',
    }))
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
  return [
    {
      rule: 'node/kernel',
      severity: 'refuse',
      at: 'protectKernelDefaults',
      problem: `${view.called('protectKernelDefaults')} is true, and ${list}: kubelet does not start`,
      advice: `set them in sysctl.d(5): ${wrong.map(([name, required]) => `${name} = ${required}`).join(', ')}`,
    },
  ]
}
