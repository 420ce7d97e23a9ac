/**
 * The subordinate ids of the user `kubelet`, which it gives to pods with user namespaces: from 1.38
 * on it does not start where they end past the last id that the kernel maps, with whatever config.
 * Pure. Rules: `MakeUserNsManager`, pkg/kubelet/userns; `getKubeletMappings` and
 * `parseGetSubIdsOutput`, pkg/kubelet/kubelet_pods.go.
 */
import type { NodeView } from './node-view.ts'
import type { Surroundings } from './surroundings.ts'

const FIRST_MINOR = 38
const LAST_ID = 2 ** 32 - 2
const [USERS, IDS, GROUP_IDS, SWITCH] = ['/etc/passwd', '/etc/subuid', '/etc/subgid', '/etc/nsswitch.conf']
/** Without it kubelet asks nobody, and takes all ids but the first and last. */
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
  return `kubelet 1.${FIRST_MINOR} and later start with no config on this node: the range ${first}:${count} of the user kubelet in ${IDS} ends at ${last}, past the last id ${LAST_ID}; give it a range that ends before, in ${GROUP_IDS} too`
}
