// SPDX-License-Identifier: Apache-2.0
/**
 * One request to the API server, as somebody: the administrator impersonates, or a token speaks for
 * itself. For what kubectl 1.20 cannot send: a patch of a subresource.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import type { ControlPlane } from '../lab/control-plane.ts'

export type Who =
  | { readonly kind: 'user'; readonly name: string; readonly groups: readonly string[] }
  | { readonly kind: 'token'; readonly token: string }

const PATCHES = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  /** Server-side apply; JSON is YAML too. */
  apply: 'application/apply-patch+yaml',
} as const

export interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
  /** The kind of patch in the body of a PATCH. Default: a merge patch. */
  readonly patch?: keyof typeof PATCHES
  /** Default: nothing is changed. */
  readonly forReal?: boolean
}

export interface Answer {
  readonly status: number
  /** Of a refusal; else empty. */
  readonly message: string
  /** Of what was granted; else empty. */
  readonly body: string
}

/** Thousands of requests are asked here, and no server is restarted meanwhile. */
const connections = new Agent({ keepAlive: true })

export function ask(plane: ControlPlane, who: Who, { method, path, body, patch = 'merge', forReal }: Asked): Promise<Answer> {
  const { users } = JSON.parse(readFileSync(plane.adminKubeconfig, 'utf8'))
  const { 'client-certificate': certificate, 'client-key': key } = users[0].user
  const identity = who.kind === 'user' ? { cert: readFileSync(certificate), key: readFileSync(key) } : {}
  const headers: Record<string, string | string[]> = {
    ...(who.kind === 'user'
      ? { 'Impersonate-User': who.name, 'Impersonate-Group': [...who.groups] }
      : { Authorization: `Bearer ${who.token}` }),
    ...(body && { 'Content-Type': method === 'PATCH' ? PATCHES[patch] : 'application/json' }),
  }
  const url = new URL(path, plane.server)
  if (forReal !== true && method !== 'GET') url.searchParams.set('dryRun', 'All')
  if (method === 'PATCH' && patch === 'apply') {
    url.searchParams.set('fieldManager', 'somebody')
    url.searchParams.set('force', 'true')
  }
  return new Promise((resolve, reject) => {
    const options = { method, headers, ca: readFileSync(plane.caFile), ...identity, agent: connections, timeout: 10_000 }
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const status = response.statusCode ?? 0
        const text = Buffer.concat(chunks).toString()
        resolve({ status, ...(status < 400 ? { message: '', body: text } : { message: text, body: '' }) })
      })
    })
    sent.on('error', reject)
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path} is not answered`)))
    sent.end(body && JSON.stringify(body))
  })
}
