// SPDX-License-Identifier: Apache-2.0
/** A server of static files, as plain as they come: it knows the types of files by their names. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
}

export interface Served {
  readonly origin: string
  readonly server: Server
}

/** `base`: the path below which the folder is, as in `/docs/`. Nothing else is served. */
export async function serveFolder(folder: string, base: string): Promise<Served> {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://localhost').pathname)
    const name = path.endsWith('/') ? `${path}index.html` : path
    const inside = name.startsWith(base) ? join(folder, normalize(`/${name.slice(base.length)}`)) : undefined
    const body = inside === undefined ? undefined : await readFile(inside).catch(() => undefined)
    if (body === undefined) {
      const page = await readFile(join(folder, '404.html')).catch(() => 'not found')
      response.writeHead(404, { 'content-type': 'text/html; charset=utf-8' }).end(page)
    } else response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}
