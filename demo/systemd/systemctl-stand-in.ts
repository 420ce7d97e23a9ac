// SPDX-License-Identifier: Apache-2.0
/**
 * A stand-in for the `systemctl` command: a script that sends its arguments to this process over
 * loopback and prints the answer. In Bash, because it starts in 3 ms; Node.js would take 40. A
 * secret in the script keeps out other users of the machine.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'

export interface SystemctlAnswer {
  readonly code: number
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** Writes the script to `path`. The caller closes the server. */
export async function serveSystemctl(path: string, answer: (words: readonly string[]) => SystemctlAnswer): Promise<Server> {
  const secret = randomBytes(16).toString('hex')
  const server = createServer((socket) => {
    let received = ''
    socket.setEncoding('utf8')
    socket.on('error', () => socket.destroy())
    socket.on('data', (text: string) => {
      received += text
      if (!received.endsWith('\n')) return
      const [given, ...words] = received.trimEnd().split(' ')
      if (given !== secret) return socket.destroy()
      const { code, stream, text: output } = answer(words)
      return socket.end(`${code} ${stream}\n${output}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  writeFileSync(path, script(port, secret), { mode: 0o700 })
  return server
}

function script(port: number, secret: string): string {
  return `#!/bin/bash
# Stands in for systemctl: forwards the command to the simulated systemd.
exec 3<>/dev/tcp/127.0.0.1/${port} || exit 1
printf '%s\\n' "${secret} $*" >&3
read -r code stream <&3
[ "$stream" = stdout ] || exec 1>&2
# The rest at once: line by line, Bash reads one byte at a time.
IFS= read -r -N 1000000 text <&3
printf '%s' "$text"
exit "$code"
`
}
