/**
 * What the kernel has counted on TCP connections, out of `ss -tinHOp` (ss(8)): one line a connection, `bytes_received` of tcp_info (RFC 4898,
 * tcpEStatsAppHCThruOctetsReceived). That is everything TCP carried: TLS records, HTTP heads and chunk sizes, but not TCP's and IP's own headers, for which the
 * number of segments tells. Pure.
 */

export interface SocketCount {
  readonly pid: number
  readonly receivedBytes: number
  readonly sentBytes: number
  readonly receivedSegments: number
}
/** By local port. */
export type SocketCounts = ReadonlyMap<number, SocketCount>

const LINE = /^ESTAB\s+\d+\s+\d+\s+\S+:(\d+)\s+\S+:(\d+)\s+users:\(\("[^"]*",pid=(\d+),/

/** Of those whose other end is this port, and that one of these processes holds. */
export function parseSockets(text: string, peerPort: number, pids: ReadonlySet<number>): SocketCounts {
  const counts = new Map<number, SocketCount>()
  for (const line of text.split('\n')) {
    const [, local, peer, owner] = LINE.exec(line) ?? []
    const pid = Number(owner)
    if (Number(peer) !== peerPort || !pids.has(pid)) continue
    const of = (name: string): number => Number(new RegExp(`\\b${name}:(\\d+)`).exec(line)?.[1] ?? 0)
    counts.set(Number(local), {
      pid,
      receivedBytes: of('bytes_received'),
      sentBytes: of('bytes_sent'),
      receivedSegments: of('segs_in'),
    })
  }
  return counts
}

export interface Traffic {
  readonly receivedBytes: number
  readonly sentBytes: number
  readonly receivedSegments: number
  /** New since the first look; what they carried is counted. */
  readonly opened: number
  /** Gone since: what they carried last is not counted. */
  readonly closed: number
}

export function trafficBetween(before: SocketCounts, after: SocketCounts): Traffic {
  const sum = (counts: SocketCounts, what: keyof SocketCount): number =>
    [...counts.values()].reduce((total, count) => total + count[what], 0)
  const stayed = new Map([...before].filter(([port]) => after.has(port)))
  const grown = (what: keyof SocketCount): number => sum(after, what) - sum(stayed, what)
  return {
    receivedBytes: grown('receivedBytes'),
    sentBytes: grown('sentBytes'),
    receivedSegments: grown('receivedSegments'),
    opened: [...after.keys()].filter((port) => !before.has(port)).length,
    closed: before.size - stayed.size,
  }
}
