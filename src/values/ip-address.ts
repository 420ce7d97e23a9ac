// SPDX-License-Identifier: Apache-2.0
/**
 * IP addresses as kubelet reads them, with leading zeros. Pure. Source: `ParseIPSloppy` of
 * k8s.io/utils/net, which is `net.ParseIP` of Go up to 1.16.
 */

/** In characters. No address in use is as long. */
const LONGEST = 100

/**
 * In bits: an IPv4 address has 32, also one that is mapped into IPv6, and an IPv6 address 128.
 * undefined: not an address, or one with a zone.
 */
export function readIp(text: string): string | undefined {
  if (text.length > LONGEST) return undefined
  return text.includes(':') ? readIpv6(text) : readIpv4(text)
}

/**
 * Whether only one of two listeners on these addresses can have a port. To listen on all IPv4
 * addresses, Go listens on all of IPv6, too. Of names nothing is known.
 */
export function meet(one: string, other: string): boolean {
  const [a, b] = [readIp(one), readIp(other)]
  return [a, b].some((bits) => bits?.includes('1') === false) || (a !== undefined && a === b)
}

/** In one of the numbers between dots. Go itself takes them up to 1.16 only. */
export function hasLeadingZero(text: string): boolean {
  return /(?:^|[.:])0\d+(?=\.)|\.0\d+$/.test(text)
}

function readIpv4(text: string): string | undefined {
  const bytes = text.split('.')
  if (bytes.length !== 4 || !bytes.every((byte) => /^\d+$/.test(byte) && Number(byte) <= 255)) return undefined
  return bytes.map((byte) => Number(byte).toString(2).padStart(8, '0')).join('')
}

export function hexToBits(hex: string): string {
  return [...hex].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('')
}

const GROUPS = 8
const MAPPED = `${'0'.repeat(80)}${'1'.repeat(16)}`

function readIpv6(text: string): string | undefined {
  const [head = '', tail, ...others] = withoutDots(text).split('::')
  const [left, right] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')))
  const groups = [...(left ?? []), ...(right ?? [])]
  const isLength = tail === undefined ? groups.length === GROUPS : groups.length < GROUPS
  if (others.length > 0 || !isLength || !groups.every((group) => /^0*[\da-f]{1,4}$/i.test(group))) return undefined
  const zeros = Array.from({ length: GROUPS - groups.length }, () => '0')
  const bits = [...(left ?? []), ...zeros, ...(right ?? [])]
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0'))
    .join('')
  return bits.startsWith(MAPPED) ? bits.slice(MAPPED.length) : bits
}

/** The last two groups may be written as an IPv4 address. */
function withoutDots(text: string): string {
  const [, before = '', dotted = ''] = /^(.*:)([^:]*\.[^:]*)$/.exec(text) ?? []
  const bits = dotted === '' ? undefined : readIpv4(dotted)
  if (bits === undefined) return text
  const group = (from: number) => Number.parseInt(bits.slice(from, from + 16), 2).toString(16)
  return `${before}${group(0)}:${group(16)}`
}
