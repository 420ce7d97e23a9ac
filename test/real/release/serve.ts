// SPDX-License-Identifier: Apache-2.0
/** A web server on loopback for a directory, which can be changed for another. */
import { strict as assert } from 'node:assert'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, normalize } from 'node:path'

export interface FileServer {
  readonly url: string
  /** The directory that is served from now on. */
  directory: string
  /** Paths of the requests that were answered with a file. */
  readonly served: string[]
}

export async function withFileServer(work: (server: FileServer) => Promise<void>): Promise<void> {
  const served: string[] = []
  const http = createServer((request, response) => {
    const path = normalize(request.url ?? '/')
    readFile(join(server.directory, path)).then(
      (bytes) => {
        served.push(path)
        response.end(bytes)
      },
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const address = http.address()
  assert(address !== null && typeof address === 'object')
  const server: FileServer = { url: `http://127.0.0.1:${address.port}`, directory: '/nonexistent', served }
  try {
    await work(server)
  } finally {
    http.closeAllConnections()
    http.close()
  }
}
