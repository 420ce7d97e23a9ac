/** How to reach the API server and as whom: what a kubeconfig comes to, as types. The values hold secrets and are never logged. */
import type { Agent } from 'node:http'

export type KubeconfigReading = { readonly kind: 'ok'; readonly credentials: Credentials } | KubeconfigProblem

/** `incomplete`: it names a file that is not there, as before TLS bootstrap. `detail` never quotes the file. */
export interface KubeconfigProblem {
  readonly kind: 'absent' | 'unreadable' | 'malformed' | 'incomplete'
  readonly detail: string
}

export interface Credentials {
  readonly server: URL
  /** Reads certificate and token files afresh and asks an exec plugin where there is one. */
  access(): Promise<AccessOutcome>
  /** The node that the client certificate is for (`system:node:NAME`, which the Node authorizer asks for); undefined: it is for none. */
  nodeName(): string | undefined
  /** SHA-256 of each certificate authority; empty: the system's are trusted, or none is asked for. */
  authorityHashes(): readonly string[]
}

export type AccessOutcome = { readonly ok: true; readonly access: Access } | { readonly ok: false; readonly detail: string }

export interface Access {
  readonly headers: Readonly<Record<string, string>>
  readonly tls: TlsMaterial
  /** Set when a proxy is in between; made anew for each request. */
  readonly proxyAgent: Agent | undefined
}

export interface TlsMaterial {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly servername: string | undefined
  readonly rejectUnauthorized: boolean
}
