// SPDX-License-Identifier: Apache-2.0
/**
 * The address and credentials that a kubeconfig gives. Pure. The values hold secrets and are never
 * logged.
 */

import { createHash, X509Certificate } from 'node:crypto'
import type { Agent } from 'node:http'
import type { RequestOptions } from 'node:https'

/** Who this program is to whom it asks: the kubeconfig as it is now. */
export interface ClientIdentity {
  current(): KubeconfigReading
}

export type KubeconfigReading = { readonly kind: 'ok'; readonly credentials: Credentials } | KubeconfigProblem

/**
 * `incomplete`: it names a file that does not exist, as before TLS bootstrap. `detail` never quotes
 * the file.
 */
export interface KubeconfigProblem {
  readonly kind: 'absent' | 'unreadable' | 'malformed' | 'incomplete'
  readonly detail: string
}

/** `execute`: a plugin. */
export interface NamedFile {
  readonly path: string
  readonly need: 'read' | 'execute'
}

export interface Credentials {
  readonly server: URL
  /** Reads certificate and token files again, and runs the exec plugin if there is one. */
  access(): Promise<AccessOutcome>
  /**
   * The node of the client certificate (`system:node:NAME`, as the Node authorizer requires);
   * undefined: it names no node.
   */
  nodeName(): string | undefined
  /**
   * SHA-256 of each certificate authority and of its public key; empty: the system's are trusted,
   * or the server is not verified.
   */
  authorityHashes(): readonly string[]
}

export type AccessOutcome = { readonly ok: true; readonly access: Access } | { readonly ok: false; readonly detail: string }

export interface Access {
  readonly headers: Readonly<Record<string, string>>
  readonly tls: TlsMaterial
  /**
   * The proxy's address and agent, both set if there is one. The agent opens tunnels; it is another
   * one each time.
   */
  readonly proxyUrl: string | undefined
  readonly proxyAgent: Agent | undefined
}

export interface TlsMaterial {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly servername: string | undefined
  readonly rejectUnauthorized: boolean
}

/** The options that client-node makes for a request, as an Access. */
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

const CERTIFICATE = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g

/**
 * Identifies a cluster by the certificate authorities that its kubeconfig trusts: the SHA-256 of
 * each certificate and of its public key (SPKI, RFC 5280). During a rotation, a kubeconfig holds
 * the old and the new authority, and an authority that is renewed keeps its key, so two sets that
 * share a hash mean the same cluster. Hex, sorted, without duplicates. Hashes the DER form, so line
 * breaks and comments in the PEM file do not matter.
 */
export function hashCertificates(pem: string): string[] {
  const hashes = [...pem.matchAll(CERTIFICATE)].flatMap(([, base64 = '']) => {
    const certificate = Buffer.from(base64, 'base64')
    const key = readPublicKey(certificate)
    return [certificate, ...(key === undefined ? [] : [key])].map((der) => createHash('sha256').update(der).digest('hex'))
  })
  return [...new Set(hashes)].sort()
}

/** The same, but a text like the last one is not hashed again: that takes 1 ms. */
export function rememberHashes(): (pem: string) => readonly string[] {
  let last: { readonly pem: string; readonly hashes: readonly string[] } | undefined
  return (pem) => {
    if (last?.pem !== pem) last = { pem, hashes: hashCertificates(pem) }
    return last.hashes
  }
}

/** undefined: OpenSSL does not know the certificate or its kind of key. */
function readPublicKey(certificate: Uint8Array): Buffer | undefined {
  try {
    return new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' })
  } catch {
    return undefined
  }
}
