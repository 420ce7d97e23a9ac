/**
 * Reads objects as the administrator, by a request of its own each: a test that waits asks several
 * times a second, and the servers that it asks are stopped and started meanwhile.
 */
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import type { Cluster } from './identities.ts'

const LIMIT_MS = 10_000

/** Throws if the answer is not a success, or takes too long. */
export function readAsAdministrator({ directory, server, authority }: Cluster, path: string): Promise<string> {
  const identity = {
    ca: readFileSync(authority.certificateFile),
    cert: readFileSync(join(directory, 'admin', 'tls.crt')),
    key: readFileSync(join(directory, 'admin', 'tls.key')),
  }
  return new Promise((resolve, reject) => {
    const request = get(`${server}${path}`, { ...identity, agent: false, signal: AbortSignal.timeout(LIMIT_MS) }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`${path}: ${response.statusCode} ${text}`))
      })
      response.on('error', reject)
    })
    request.on('error', reject)
  })
}
