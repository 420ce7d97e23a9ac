// SPDX-License-Identifier: Apache-2.0
/**
 * Judges who listens at a port by the listening sockets of its network namespace. Pure. The kernel
 * hands a connection to the most specific of them: the address itself, then all addresses of IPv4,
 * then all addresses of both.
 *
 * A kubelet that is told to listen at all addresses does so for IPv4 and IPv6 at once (Go's
 * `net.Listen`). It cannot where somebody else listens at any of them.
 */
import type { HealthTarget, PortHolder } from '../ports/probes.ts'

/**
 * @param kubeletUids undefined: not known
 * @returns undefined: nobody listens there
 */
export function judgeHolder(
  sockets: readonly ListeningSocket[],
  { host, port }: HealthTarget,
  kubeletUids: readonly number[] | undefined,
): PortHolder | undefined {
  const address = canonicalAddress(host)
  if (address === undefined) return { kind: 'untold', detail: `${host} is not an IP address` }
  const atPort = sockets.filter((socket) => socket.port === port)
  const wildcards = address.includes(':') ? ['::'] : ['0.0.0.0', '::']
  const mostSpecific = [LOOPBACK.get(address) ?? address, ...wildcards]
    .map((wanted) => atPort.filter((socket) => socket.address === wanted))
    .find((each) => each.length > 0)
  const found = mostSpecific ?? (isWildcard(address) ? atPort : [])
  if (found.length === 0) return undefined
  const inodes = found.map(({ inode }) => inode)
  const foreign = found.find(({ uid }) => uid !== 0 && kubeletUids?.includes(uid) !== true)
  if (foreign === undefined && mostSpecific === undefined) return { kind: 'unseen', detail: 'root listens at another address' }
  if (foreign === undefined) return { kind: 'own', inodes }
  return kubeletUids === undefined
    ? { kind: 'untold', detail: `uid ${foreign.uid} listens there, and the uid of kubelet cannot be read` }
    : { kind: 'stranger', uid: foreign.uid, inodes }
}

/** To which of all addresses a connection goes that names none. */
const LOOPBACK = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/** Told to listen there, kubelet listens at all addresses. */
export function isWildcard(address: string): boolean {
  return LOOPBACK.has(address)
}

/** As `parseListeners` has it. undefined: it is none. */
export function canonicalAddress(host: string): string | undefined {
  if (/^[\d.]+$/.test(host)) return host
  if (!host.includes(':') || !URL.canParse(`http://[${host}]`)) return undefined
  const address = new URL(`http://[${host}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(address) ?? []
  if (high === undefined || low === undefined) return address
  return [high, low].flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]).join('.')
}

/**
 * Parses the listening TCP sockets of /proc/net/tcp and /proc/net/tcp6. Format:
 * Documentation/networking/proc_net_tcp.rst of the kernel. Addresses are 32-bit words in the byte
 * order of the machine.
 */
export interface ListeningSocket {
  /** `0.0.0.0` and `::` mean all addresses. An IPv4-mapped IPv6 address is given as IPv4. */
  readonly address: string
  readonly port: number
  /** The user of the process that made the socket. */
  readonly uid: number
  readonly inode: string
}

const LISTEN = '0A'

export function parseListeners(text: string): ListeningSocket[] {
  return text.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , uid, , inode] = line.trim().split(/\s+/)
    const [, address = '', port = ''] = /^((?:[0-9A-F]{8}){1,4}):([0-9A-F]{4})$/.exec(local) ?? []
    if (state !== LISTEN || inode === undefined || address === '') return []
    return [{ address: readAddress(address), port: Number.parseInt(port, 16), uid: Number(uid), inode }]
  })
}

function readAddress(hex: string): string {
  const words = (hex.match(/.{8}/g) ?? []).map((word) => (word.match(/../g) ?? []).reverse())
  const bytes = words.flat()
  const isMapped = bytes.length === 16 && bytes.slice(0, 12).join('') === '00000000000000000000ffff'.toUpperCase()
  if (bytes.length === 4 || isMapped)
    return bytes
      .slice(-4)
      .map((byte) => Number.parseInt(byte, 16))
      .join('.')
  const groups = (bytes.join('').match(/.{4}/g) ?? []).join(':')
  // The canonical form of RFC 5952.
  return new URL(`http://[${groups}]`).hostname.slice(1, -1)
}
