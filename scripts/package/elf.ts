// SPDX-License-Identifier: Apache-2.0
/**
 * Checks that the system that is asked for covers the libraries that a binary needs, as `readelf`
 * lists them. dpkg-shlibdeps would need the libraries of the binary's architecture, which are not
 * on a build machine of another one. Pure.
 */

/**
 * The sonames that each dependency in debian/control provides, and the newest version of each
 * symbol set.
 */
const PROMISED: Readonly<Record<string, readonly string[]>> = {
  'libc6 (>= 2.28)': [
    'libc.so.6',
    'libm.so.6',
    'libdl.so.2',
    'libpthread.so.0',
    'ld-linux-x86-64.so.2',
    'ld-linux-aarch64.so.1',
    'GLIBC_2.28',
  ],
  'libgcc-s1 | libgcc1 (>= 1:3.4)': ['libgcc_s.so.1', 'GCC_3.4'],
  'libstdc++6 (>= 7)': ['libstdc++.so.6', 'GLIBCXX_3.4.24', 'CXXABI_1.3.11'],
}

/** The libraries that a system must have. */
export interface Requirement {
  /** The file that says so to its users. */
  readonly statedIn: string
  /** Sonames, and the newest version of each symbol set. */
  readonly promised: readonly string[]
}

export function requiredBy(control: string): Requirement {
  const promised = Object.entries(PROMISED).flatMap(([dependency, provided]) => (control.includes(` ${dependency},\n`) ? provided : []))
  return { statedIn: 'packaging/deb/control', promised }
}

/** A workstation with glibc 2.28, which came after GCC 8. */
export const WORKSTATION: Requirement = { statedIn: 'docs/plugin.md', promised: [...Object.values(PROMISED).flat(), 'GCC_4.2.0'] }

/** The needs of the binary that the requirement does not cover. Empty: nothing is missing. */
export function unmetNeeds(dynamicSection: string, versionNeeds: string, { promised }: Requirement): string[] {
  const libraries = [...dynamicSection.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name]) => name ?? '')
  if (libraries.length === 0) return ['no library found: the output of readelf is not understood']
  const symbols = [...new Set([...versionNeeds.matchAll(/Name: ([A-Z]+_[0-9.]+)\b/g)].map(([, name]) => name ?? ''))]
  return [
    ...libraries.filter((name) => !promised.includes(name)),
    ...symbols.filter((name) => !promised.some((provided) => covers(provided, name))),
  ]
}

function covers(promised: string, needed: string): boolean {
  const [set, version = ''] = promised.split('_')
  const [neededSet, neededVersion = ''] = needed.split('_')
  return set === neededSet && compareVersions(neededVersion, version) <= 0
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number))
  for (let index = 0; index < Math.max(left?.length ?? 0, right?.length ?? 0); index += 1) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
