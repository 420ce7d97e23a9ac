// SPDX-License-Identifier: Apache-2.0
/**
 * `greedy.mjs PORT`: eight clients that send 3,000 requests at once, never read an answer, and come
 * back when they are disconnected. PORT 0: of a server of their own, which answers as little.
 */
import { createServer } from 'node:http'
import { connect } from 'node:net'

const CLIENTS = 8
const REQUESTS = Buffer.from('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3000))

function attack(port) {
  const socket = connect({ host: '127.0.0.1', port }).pause()
  socket.on('error', () => {}).on('close', () => setTimeout(attack, 10, port))
  socket.write(REQUESTS)
}

const [, , wanted = '0'] = process.argv
const own = createServer((_, response) => response.end('metric 1\n')).listen(0, '127.0.0.1', () => {
  const port = Number(wanted) || own.address().port
  for (let client = 0; client < CLIENTS; client += 1) attack(port)
})
