/**
 * The exec plugin of a kubeconfig: how it is run, and what its output says. Pure. Rules:
 * `Authenticator`, k8s.io/client-go/plugin/pkg/client/auth/exec. The library would run it without
 * limits of time and output: a plugin that prints without end would end the agent. What a plugin
 * prints is never quoted, since it may be a credential.
 */
import { resolve } from 'node:path'
import { isObject } from '../values/is-object.ts'

export interface ExecPlugin {
  /** A path, or a name that is looked up in PATH. */
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface ExecCredential {
  readonly token: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  /** undefined: it has no expiry. */
  readonly expiresAtMs: number | undefined
}

/** A token has to fit into a header (RFC 9110, 5.5). */
const TOKEN = /^[\x21-\x7e]+$/

/**
 * @param directory of the kubeconfig, to which a path is relative
 * @param env of this process
 * @returns undefined: the user has no plugin
 */
export function findExecPlugin(
  exec: unknown,
  cluster: { readonly server: string; readonly caData?: string; readonly tlsServerName?: string },
  { directory, env }: { readonly directory: string; readonly env: ExecPlugin['env'] },
): ExecPlugin | undefined {
  if (!isObject(exec) || typeof exec.command !== 'string') return undefined
  const details = { server: cluster.server, 'certificate-authority-data': cluster.caData, 'tls-server-name': cluster.tlsServerName }
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec.provideClusterInfo === true ? { cluster: details } : {}) },
  }
  return {
    file: exec.command.includes('/') ? resolve(directory, exec.command) : exec.command,
    args: listOf(exec.args).filter(isText),
    // The plugin must not get the agent's notify socket.
    env: { ...env, ...readVariables(exec.env), KUBERNETES_EXEC_INFO: JSON.stringify(info), NOTIFY_SOCKET: undefined },
  }
}

function readVariables(env: unknown): Readonly<Record<string, string>> {
  const named = listOf(env).flatMap((each) =>
    isObject(each) && isText(each.name) ? [[each.name, isText(each.value) ? each.value : '']] : [],
  )
  return Object.fromEntries(named)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** undefined: there is none in what it printed. */
export function readCredential(text: string): ExecCredential | undefined {
  const status = readStatus(text)
  if (status === undefined) return undefined
  const [token, cert, key] = [status.token, status.clientCertificateData, status.clientKeyData].map((each) =>
    isText(each) && each !== '' ? each : undefined,
  )
  // Without either, the request would be that of an anonymous client.
  if (token === undefined ? cert === undefined || key === undefined : !TOKEN.test(token)) return undefined
  const expiresAtMs = isText(status.expirationTimestamp) ? Date.parse(status.expirationTimestamp) : Number.NaN
  return { token, cert, key, expiresAtMs: Number.isNaN(expiresAtMs) ? undefined : expiresAtMs }
}

function readStatus(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    return isObject(answer) && isObject(answer.status) ? answer.status : undefined
  } catch {
    // The engine's error quotes the text.
    return undefined
  }
}
