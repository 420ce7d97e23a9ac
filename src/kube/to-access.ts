/** What client-node puts into the options of a request, as an Access. Pure. */
import type { Agent } from 'node:http'
import type { RequestOptions } from 'node:https'
import type { Access } from './access.ts'

export function toAccess(options: RequestOptions, proxyUrl: string | undefined): Access {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value)
  if (typeof options.auth === 'string') headers.Authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`
  return {
    headers,
    tls: {
      ca: pemOf(options.ca),
      cert: pemOf(options.cert),
      key: pemOf(options.key),
      servername: options.servername,
      rejectUnauthorized: options.rejectUnauthorized ?? true,
    },
    proxyUrl: proxyUrl || undefined,
    proxyAgent: proxyUrl ? (options.agent as Agent) : undefined,
  }
}

function pemOf(material: unknown): string | undefined {
  return material === undefined || material === null ? undefined : String(material)
}
