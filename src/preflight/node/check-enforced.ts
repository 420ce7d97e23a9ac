/**
 * Guards the cgroups that kubelet limits to their reservation. Pure. With `kube-reserved` or
 * `system-reserved` in enforceNodeAllocatable, kubelet sets the limits of the cgroup that the
 * config names to what is reserved (`enforceExistingCgroup`,
 * pkg/kubelet/cm/node_container_manager_linux.go). Below what the cgroup uses, the kernel kills
 * system daemons, or they cannot fork. CPU is only shared out, and so is everything with
 * `-compressible`.
 */
import { NANOS, parseQuantity } from '../../kubelet/quantity.ts'
import { isObject } from '../../values/is-object.ts'
import type { RowName } from '../change/field-rows.ts'
import { spellCgroup } from './check-machine.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import type { CgroupUse, Surroundings } from './surroundings.ts'

interface Enforced {
  readonly option: string
  readonly at: 'systemReserved' | 'kubeReserved'
  readonly cgroup: RowName
}

const ENFORCED: readonly Enforced[] = [
  { option: 'system-reserved', at: 'systemReserved', cgroup: 'systemReservedCgroup' },
  { option: 'kube-reserved', at: 'kubeReserved', cgroup: 'kubeReservedCgroup' },
]

/** The limits that a cgroup's use can exceed. */
const RESOURCES = [
  { key: 'memory', read: ({ memoryBytes }: CgroupUse) => memoryBytes, effect: 'the kernel would kill its processes' },
  { key: 'pid', read: ({ processes }: CgroupUse) => processes, effect: 'its processes could not fork' },
] as const

/** The cgroups to look at, by the names that kubelet may find them under. */
export function enforcedCgroups(view: NodeView): string[] {
  return listEnforced(view).flatMap(({ spellings }) => spellings)
}

function listEnforced(view: NodeView): (Enforced & { readonly name: string; readonly spellings: readonly string[] })[] {
  const options = view.texts('enforceNodeAllocatable')
  return ENFORCED.flatMap((enforced) => {
    const name = view.text(enforced.cgroup)
    const spellings = name === undefined ? [] : spellCgroup(name)
    return name === undefined || spellings.length === 0 || !options.includes(enforced.option) ? [] : [{ ...enforced, name, spellings }]
  })
}

export function checkEnforced(view: NodeView, { cgroupUse }: Surroundings): NodeProblem[] {
  return listEnforced(view).flatMap(({ option, at, name, spellings }) => {
    const use = spellings.map((spelling) => cgroupUse.get(spelling)).find((found) => found !== undefined)
    return RESOURCES.flatMap(({ key, read, effect }): NodeProblem[] => {
      const limit = view.quantity(at, key)
      const used = use === undefined ? undefined : read(use)
      // What is not reserved is not limited.
      if (limit === undefined || used === undefined || !Object.hasOwn(view.map(at), key) || BigInt(used) * NANOS <= limit) return []
      const before = limitBefore(view, option, at, key)
      return [
        {
          rule: 'guard/reservation',
          severity: before !== undefined && before <= limit ? 'warn' : 'refuse',
          at,
          key,
          problem: `${at}.${key} is ${view.map(at)[key]}, less than the ${show(used, key)} that the cgroup ${name} uses now; with ${option} in enforceNodeAllocatable it becomes the limit: ${effect}`,
          advice: `reserve more, or remove ${option} from enforceNodeAllocatable`,
        },
      ]
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
