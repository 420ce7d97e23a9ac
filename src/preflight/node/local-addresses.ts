/**
 * Parses the addresses that a process on this machine can bind to. Pure. Sources:
 * /proc/net/fib_trie, the kernel's routes for IPv4 (net/ipv4/fib_trie.c): bind(2) accepts what has
 * a route of the type LOCAL, as `127.0.0.0/8` has; and /proc/net/if_inet6 (net/ipv6/addrconf.c),
 * one address in each line.
 */

/** In bits: an IPv4 address has 32, an IPv6 address 128. */
export interface LocalNetwork {
  readonly bits: string
  readonly prefixLength: number
}

export function parseFibTrie(text: string): LocalNetwork[] {
  const networks: LocalNetwork[] = []
  let bits: string | undefined
  for (const line of text.split('\n')) {
    const [, leaf] = /^\s*\|-- (\d+\.\d+\.\d+\.\d+)$/.exec(line) ?? []
    if (leaf !== undefined) bits = readIpv4(leaf)
    const [, length] = /^\s*\/(\d+) \w+ LOCAL\b/.exec(line) ?? []
    if (length !== undefined && bits !== undefined) networks.push({ bits, prefixLength: Number(length) })
  }
  return networks
}

export function parseIfInet6(text: string): LocalNetwork[] {
  return text.split('\n').flatMap((line) => {
    const [, hex] = /^([0-9a-f]{32}) /.exec(line) ?? []
    return hex === undefined ? [] : [{ bits: hexToBits(hex), prefixLength: 128 }]
  })
}

/** Addresses that cannot be parsed count as local: nothing is known about them. */
export function isLocalAddress(address: string, networks: readonly LocalNetwork[]): boolean {
  const bits = address.includes(':') ? readIpv6(address) : readIpv4(address)
  if (bits === undefined) return true
  return networks.some((network) => network.bits.length === bits.length && bits.startsWith(network.bits.slice(0, network.prefixLength)))
}

function readIpv4(text: string): string | undefined {
  const bytes = text.split('.').map(Number)
  if (bytes.length !== 4 || !bytes.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)) return undefined
  return bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('')
}

/** undefined also for an address with a zone. */
function readIpv6(text: string): string | undefined {
  if (!URL.canParse(`http://[${text}]`)) return undefined
  // The canonical form of RFC 5952: lower case, and at most one `::`.
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [left, right] = [groups(head), groups(tail ?? '')]
  const middle = Array.from({ length: tail === undefined ? 0 : 8 - left.length - right.length }, () => '0')
  return hexToBits([...left, ...middle, ...right].map((group) => group.padStart(4, '0')).join(''))
}

function hexToBits(hex: string): string {
  return [...hex].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('')
}
