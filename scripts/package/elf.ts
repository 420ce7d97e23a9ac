/**
 * What a binary needs of a system's libraries, read from what `readelf` prints, and whether that is what packaging/deb/control promises. The
 * tools that find this out by themselves need the libraries of the architecture, which are not on a machine of another one. Pure.
 */

/** What debian/control depends on: sonames, and the newest version of each symbol set that the versions named there have. */
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

/** What the binary needs and the control file does not promise. Empty: all is well. */
export function unmetNeeds(dynamicSection: string, versionNeeds: string, control: string): string[] {
  const promised = Object.entries(PROMISED).flatMap(([dependency, provided]) => (control.includes(` ${dependency},\n`) ? provided : []))
  const libraries = [...dynamicSection.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name]) => name ?? '')
  if (libraries.length === 0) return ['it seems to need no library at all: the output of readelf is not understood']
  const symbols = [...new Set([...versionNeeds.matchAll(/Name: ([A-Z]+_[0-9.]+)\b/g)].map(([, name]) => name ?? ''))]
  return [...libraries.filter((name) => !promised.includes(name)), ...symbols.filter((name) => !promised.some((one) => covers(one, name)))]
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
