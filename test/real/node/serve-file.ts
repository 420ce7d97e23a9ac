// SPDX-License-Identifier: Apache-2.0
/** One file over HTTP, as nodes fetch a package. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'

interface Served {
  readonly url: string
  readonly sha256: string
  close(): void
}

/** A node is on the network of this machine. */
export async function serveFile(file: string): Promise<Served> {
  const bytes = await readFile(file)
  const server = createServer((_, response) => response.end(bytes))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/${basename(file)}`,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
