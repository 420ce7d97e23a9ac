/**
 * The address and credentials that a kubeconfig gives, as types. The values hold secrets and are
 * never logged.
 */
import type { Agent } from 'node:http'

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
  /** Both are set if there is a proxy. The agent opens tunnels; it is another one each time. */
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
