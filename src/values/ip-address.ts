/**
 * IP addresses as Go reads them (`ParseIPSloppy`, k8s.io/utils/net; `net.ParseIP` up to Go 1.16):
 * zeros may lead a number, and an IPv6 address has no zone. Pure.
 */

/** An IPv4 address has 32 bits, an IPv6 address 128. undefined: it is none of them. */
export function ipToBits(text: string): string | undefined {
  return text.includes(':') ? readIpv6(text) : readIpv4(text)
}

function readIpv4(text: string): string | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255)) return undefined
  return parts.map((part) => Number(part).toString(2).padStart(8, '0')).join('')
}

function readIpv6(text: string): string | undefined {
  if (!/^[\da-f:.]{1,60}$/i.test(text) || !URL.canParse(`http://[${text}]`)) return undefined
  // The canonical form of RFC 5952: lower case, and at most one `::`.
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [left, right] = [groups(head), groups(tail ?? '')]
  const middle = Array.from({ length: tail === undefined ? 0 : 8 - left.length - right.length }, () => '0')
  return hexToBits([...left, ...middle, ...right].map((group) => group.padStart(4, '0')).join(''))
}

export function hexToBits(hex: string): string {
  return [...hex].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('')
}
