// SPDX-License-Identifier: Apache-2.0
/** The system bus of the benchmark, on which systemd says when something happens to the unit. */
import { createServer, type Socket } from 'node:net'
import { BusReader } from '../../src/systemd/bus-message.ts'
import { encodeMessage } from '../../test/systemd/bus-messages.ts'

export interface BenchBus {
  /** A property of the unit has changed. */
  signal(): void
  close(): void
}

const SYSTEMD = ':1.0'
const BEGIN = Buffer.from('BEGIN\r\n')

/** @param path of its socket: at most 107 characters */
export async function startBus(path: string): Promise<BenchBus> {
  const listeners = new Set<Socket>()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('close', () => listeners.delete(socket))
    answer(socket, () => listeners.add(socket))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    signal() {
      for (const socket of listeners) socket.write(encodeMessage({ type: 'signal', sender: SYSTEMD, member: 'PropertiesChanged' }))
    },
    close() {
      for (const socket of listeners) socket.destroy()
      server.close()
    },
  }
}

/** Lets the client in, and answers all its calls. */
function answer(socket: Socket, onBegin: () => void): void {
  const reader = new BusReader()
  let greeting = Buffer.alloc(0)
  let hasBegun = false
  let calls = 0
  const hear = (chunk: Buffer) => {
    for (const { type } of reader.read(chunk)) {
      if (type !== 'call') continue
      // A client numbers its calls from 1 on.
      calls += 1
      socket.write(encodeMessage({ type: 'return', sender: SYSTEMD, replySerial: calls }))
    }
  }
  socket.once('data', () => socket.write('OK 0\r\n'))
  socket.on('data', (chunk) => {
    if (hasBegun) return hear(chunk)
    greeting = Buffer.concat([greeting, chunk])
    const at = greeting.indexOf(BEGIN)
    if (at < 0) return
    hasBegun = true
    onBegin()
    hear(greeting.subarray(at + BEGIN.length))
  })
}
