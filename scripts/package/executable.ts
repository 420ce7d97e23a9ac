// SPDX-License-Identifier: Apache-2.0
/**
 * For which platform a program is, by its first bytes: ELF (elf(5)) for Linux, Mach-O (loader.h of
 * XNU) for macOS. Pure.
 */

/** As in `linux/amd64`; undefined: not known. @param head at least 20 bytes */
export function platformOf(head: Buffer): string | undefined {
  if (head.length < 20) return undefined
  // 64 bits, little-endian, as are both processors.
  if (head.readUInt32BE(0) === 0x7f454c46 && head.readUInt16BE(4) === 0x0201) return named('linux', ELF_MACHINES, head.readUInt16LE(18))
  if (head.readUInt32LE(0) === 0xfeedfacf) return named('darwin', MACH_CPUS, head.readUInt32LE(4))
  return undefined
}

const ELF_MACHINES: ReadonlyMap<number, string> = new Map([
  [62, 'amd64'],
  [183, 'arm64'],
])
const MACH_CPUS: ReadonlyMap<number, string> = new Map([
  [0x0100_0007, 'amd64'],
  [0x0100_000c, 'arm64'],
])

function named(os: string, processors: ReadonlyMap<number, string>, code: number): string | undefined {
  const arch = processors.get(code)
  return arch === undefined ? undefined : `${os}/${arch}`
}
