// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the kernel's counters of TCP connections from `ss -tinHOp` (ss(8)): one line per
 * connection, `bytes_received` of tcp_info (RFC 4898, tcpEStatsAppHCThruOctetsReceived). It counts
 * everything that TCP carries: TLS records, HTTP headers and chunk sizes, but not the headers of
 * TCP and IP, which follow from the number of segments. Pure.
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

/** The connections of these processes to this port. */
export function parseSockets(text: string, peerPort: number, pids: ReadonlySet<number>): SocketCounts {
  const counts = new Map<number, SocketCount>()
  for (const line of text.split('\n')) {
    const [, local, peer, owner] = LINE.exec(line) ?? []
    const pid = Number(owner)
    if (Number(peer) !== peerPort || !pids.has(pid)) continue
    const counter = (name: string): number => Number(new RegExp(`\\b${name}:(\\d+)`).exec(line)?.[1] ?? 0)
    counts.set(Number(local), {
      pid,
      receivedBytes: counter('bytes_received'),
      sentBytes: counter('bytes_sent'),
      receivedSegments: counter('segs_in'),
    })
  }
  return counts
}

export interface Traffic {
  readonly receivedBytes: number
  readonly sentBytes: number
  readonly receivedSegments: number
  /** Connections opened in between; their traffic is counted. */
  readonly opened: number
  /** Connections closed in between; their traffic is not counted. */
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
