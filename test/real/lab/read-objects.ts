// SPDX-License-Identifier: Apache-2.0
/**
 * Reads objects as the administrator. A test that waits asks several times a second, and a
 * connection for each question would take most of its CPU. The servers that it asks are stopped and
 * started meanwhile.
 */
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { getText } from './get-text.ts'
import type { Cluster } from './identities.ts'

const LIMIT_MS = 10_000

const agents = new WeakMap<Cluster, Agent>()

/** Throws if the answer is not a success, or takes too long. */
export function readAsAdministrator(cluster: Cluster, path: string): Promise<string> {
  const agent = agents.get(cluster) ?? createAgent(cluster)
  agents.set(cluster, agent)
  return getText(`${cluster.server}${path}`, () => ({ agent, signal: AbortSignal.timeout(LIMIT_MS) }))
}

function createAgent({ directory, authority }: Cluster): Agent {
  const identity = {
    ca: readFileSync(authority.certificateFile),
    cert: readFileSync(join(directory, 'admin', 'tls.crt')),
    key: readFileSync(join(directory, 'admin', 'tls.key')),
  }
  // A server that is away is asked again and again, each time on a new connection.
  return new Agent({ keepAlive: true, secureContext: createSecureContext(identity) })
}
