// SPDX-License-Identifier: Apache-2.0
/**
 * The path at which kubelet looks for a cgroup that its config names. Pure. Sources, 1.20 to 1.37:
 * `ParseCgroupfsToCgroupName`, `ParseSystemdToCgroupName` and `ToSystemd`,
 * pkg/kubelet/cm/cgroup_manager_linux.go; `ExpandSlice`, cgroups/systemd of opencontainers.
 */
import type { CgroupDriver } from '../../ports/probes.ts'

/** `PATH_MAX` of Linux. */
const LONGEST = 4096

export type CgroupField = 'cgroupRoot' | 'systemReservedCgroup' | 'kubeReservedCgroup'

/**
 * Below the root of the hierarchy, and empty for the root itself. Empty list: there can be no such
 * cgroup, and with systemd kubelet panics over the name.
 * @param driver undefined: either may be in use
 */
export function pathsOf(at: CgroupField, name: string, driver: CgroupDriver | undefined): string[] {
  if (name.length > LONGEST) return []
  const paths = [
    ...(driver === 'systemd' ? [] : [toPath(name)]),
    ...(driver === 'cgroupfs' ? [] : [at === 'cgroupRoot' ? toRootSlice(name) : toSlice(name)]),
  ]
  return [...new Set(paths.filter((path) => path !== undefined))]
}

/** As written. */
function toPath(name: string): string {
  const parts: string[] = []
  for (const part of name.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

/** Only the last part of the path counts, and it is a slice even if it does not say so. */
function toSlice(name: string): string | undefined {
  const last = name.replace(/\/+$/, '').split('/').at(-1) ?? ''
  return nestSlices(last.replace(/\.slice$/, '').split('-'))
}

/** The parts of the path become those of one name, with underscores for their own dashes. */
function toRootSlice(name: string): string | undefined {
  const path = name.replace(/^\//, '')
  return path === '' ? '' : nestSlices(path.split('/').map((part) => part.replaceAll('-', '_')))
}

/** systemd.slice(5): `a-b.slice` is within `a.slice`. undefined: no slice can have this name. */
function nestSlices(words: readonly string[]): string | undefined {
  if (words.includes('')) return words.join('-') === '-' ? '' : undefined
  return words.map((_, at) => `${words.slice(0, at + 1).join('-')}.slice`).join('/')
}
