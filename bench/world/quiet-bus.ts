/** A system bus on which systemd answers who subscribes to its signals, and then says nothing. */
import { createServer, type Socket } from 'node:net'
import { BusReader } from '../../src/systemd/bus-message.ts'
import { encodeMessage } from '../../test/systemd/bus-messages.ts'

export interface QuietBus {
  readonly path: string
  close(): void
}

/** @param path of its socket: at most 107 characters */
export async function startQuietBus(path: string): Promise<QuietBus> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    answer(socket)
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    path,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function answer(socket: Socket): void {
  const reader = new BusReader()
  const begin = Buffer.from('BEGIN\r\n')
  let greeting: Buffer | undefined = Buffer.alloc(0)
  let calls = 0
  const hear = (chunk: Buffer) => {
    for (const { type } of reader.read(chunk)) {
      if (type !== 'call') continue
      // A client numbers its calls from 1 on.
      calls += 1
      socket.write(encodeMessage({ type: 'return', sender: ':1.0', replySerial: calls }))
    }
  }
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    if (greeting === undefined) return hear(chunk)
    const before = greeting.length
    greeting = Buffer.concat([greeting, chunk])
    if (before === 0) socket.write('OK 0\r\n')
    const at = greeting.indexOf(begin)
    if (at < 0) return
    const first = greeting.subarray(at + begin.length)
    greeting = undefined
    hear(first)
  })
}
