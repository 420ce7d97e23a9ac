// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { parseSockets, type SocketCount, trafficBetween } from '../../../bench/fleet/socket-bytes.ts'

const AGENTS = new Set([41, 42])

/** Output of `ss -tinHOp` (iproute2 6.1) for a connection. */
function line(local: number, peer: number, pid: number, received: number, state = 'ESTAB'): string {
  return (
    `${state} 0      0      127.0.0.1:${local} 127.0.0.1:${peer} users:(("node",pid=${pid},fd=29)) bbr wscale:10,10 rto:204 ` +
    `bytes_sent:210 bytes_acked:211 bytes_received:${received} segs_out:15 segs_in:18 data_segs_out:14 data_segs_in:4 minrtt:0.007\n`
  )
}

t.test("counts the agents' connections to the server, by their local port", async (t) => {
  const text = line(5001, 6443, 41, 1000) + line(5002, 6443, 42, 20)
  t.same(
    [...parseSockets(text, 6443, AGENTS)],
    [
      [5001, { pid: 41, receivedBytes: 1000, sentBytes: 210, receivedSegments: 18 }],
      [5002, { pid: 42, receivedBytes: 20, sentBytes: 210, receivedSegments: 18 }],
    ],
  )
})

t.test('ignores other connections', async (t) => {
  const text =
    line(6443, 5001, 7, 1) +
    line(5003, 6443, 43, 1) +
    line(5004, 443, 41, 1) +
    line(5005, 6443, 41, 1, 'TIME-WAIT') +
    'ESTAB 0 0 127.0.0.1:5006 127.0.0.1:6443 bytes_received:1 segs_in:1\n'
  t.equal(parseSockets(text, 6443, AGENTS).size, 0)
})

t.test('a counter that is missing is 0', async (t) => {
  const text = 'ESTAB 0 0 [::1]:5001 [::1]:6443 users:(("node",pid=41,fd=3)) cubic segs_out:1\n'
  t.equal(parseSockets(text, 6443, AGENTS).get(5001)?.receivedBytes, 0)
})

t.test('counts only the traffic between two samples', async (t) => {
  const count = (receivedBytes: number): SocketCount => ({ pid: 41, receivedBytes, sentBytes: 1, receivedSegments: receivedBytes / 10 })
  const before = new Map([
    [1, count(100)],
    [2, count(700)],
  ])
  const after = new Map([
    [1, count(150)],
    [3, count(30)],
  ])
  t.same(trafficBetween(before, after), { receivedBytes: 80, sentBytes: 1, receivedSegments: 8, opened: 1, closed: 1 })
  t.same(trafficBetween(before, before), { receivedBytes: 0, sentBytes: 0, receivedSegments: 0, opened: 0, closed: 0 })
})
