/** What listens on TCP, out of /proc/net/tcp and /proc/net/tcp6. Pure. Format: Documentation/networking/proc_net_tcp.rst of the kernel; addresses are in its byte order, word by word. */

export interface ListeningSocket {
  /** `0.0.0.0` and `::` for all; an IPv4 address in IPv6 clothes is the IPv4 one. */
  readonly address: string
  readonly port: number
  readonly inode: string
}

const LISTEN = '0A'

export function parseListeners(text: string): ListeningSocket[] {
  return text.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
    const [, address = '', port = ''] = /^((?:[0-9A-F]{8}){1,4}):([0-9A-F]{4})$/.exec(local) ?? []
    if (state !== LISTEN || inode === undefined || address === '') return []
    return [{ address: readAddress(address), port: Number.parseInt(port, 16), inode }]
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
  // The spelling of RFC 5952, as a config would have it.
  return new URL(`http://[${groups}]`).hostname.slice(1, -1)
}
