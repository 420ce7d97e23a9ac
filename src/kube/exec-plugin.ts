// SPDX-License-Identifier: Apache-2.0
/**
 * The exec plugin of a kubeconfig: how it is run, and what its output says. Pure. Rules:
 * `Authenticator`, k8s.io/client-go/plugin/pkg/client/auth/exec. The library would run it without
 * limits of time and output: a plugin that prints without end would end the agent. The output of a
 * plugin is never quoted, since it may be a credential.
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

/**
 * The facts about the cluster that a plugin may be told: `ConfigToExecCluster`,
 * k8s.io/client-go/rest.
 */
interface PluginCluster {
  readonly server: string
  readonly tlsServerName?: string | undefined
  readonly skipTLSVerify?: boolean | undefined
  readonly proxyUrl?: string | undefined
  /** In base64, also where the kubeconfig names a file. Throws if that cannot be read. */
  authority(): string | undefined
  /** The section of the kubeconfig about the cluster, for what client-node drops. */
  readonly section: Readonly<Record<string, unknown>>
}

/** The extension of a cluster that is meant for plugins. */
export const PLUGIN_EXTENSION = 'client.authentication.k8s.io/exec'

/** A token has to fit into a header (RFC 9110, 5.5). */
const TOKEN = /^[\x21-\x7e]+$/

/**
 * @param directory of the kubeconfig, to which a path is relative
 * @param env of this process
 * @returns undefined: the user has no plugin
 */
export function findExecPlugin(
  exec: unknown,
  cluster: PluginCluster,
  { directory, env }: { readonly directory: string; readonly env: ExecPlugin['env'] },
): ExecPlugin | undefined {
  if (!isObject(exec) || typeof exec.command !== 'string') return undefined
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec.provideClusterInfo === true && { cluster: describeCluster(cluster) }) },
  }
  return {
    file: exec.command.includes('/') ? resolve(directory, exec.command) : exec.command,
    args: listOf(exec.args).filter(isText),
    // The plugin must not get the agent's notify socket.
    env: { ...env, ...readVariables(exec.env), KUBERNETES_EXEC_INFO: JSON.stringify(info), NOTIFY_SOCKET: undefined },
  }
}

function describeCluster({ server, tlsServerName, skipTLSVerify, proxyUrl, section, authority }: PluginCluster): object {
  const extension = listOf(section.extensions).find((each) => isObject(each) && each.name === PLUGIN_EXTENSION)
  return {
    server,
    'tls-server-name': tlsServerName || undefined,
    'insecure-skip-tls-verify': skipTLSVerify === true || undefined,
    'certificate-authority-data': readAuthority(authority),
    'proxy-url': proxyUrl || undefined,
    'disable-compression': section['disable-compression'] === true || undefined,
    config: isObject(extension) ? extension.extension : undefined,
  }
}

/** A file that cannot be read is reported where the kubeconfig is used. */
function readAuthority(authority: PluginCluster['authority']): string | undefined {
  try {
    return authority() || undefined
  } catch {
    return undefined
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
