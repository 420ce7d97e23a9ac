/**
 * Parses the listening TCP sockets of /proc/net/tcp and /proc/net/tcp6. Pure. Format:
 * Documentation/networking/proc_net_tcp.rst of the kernel. Addresses are 32-bit words in the byte
 * order of the machine.
 */

export interface ListeningSocket {
  /** `0.0.0.0` and `::` mean all addresses. An IPv4-mapped IPv6 address is given as IPv4. */
  readonly address: string
  readonly port: number
  /** Of the process that made it. */
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
