// SPDX-License-Identifier: Apache-2.0
/**
 * Reads a kubeconfig file into credentials with the `KubeConfig` of @kubernetes/client-node
 * (certificates, tokens, proxies). Adds what version 1.4 lacks and client-go has: `tokenFile`, and
 * exec plugins with bounds (`exec-plugin.ts`). Errors of client-node quote secrets, such as a line
 * of the file, so their texts are never passed on. The only module that imports client-node, and
 * js-yaml, which client-node uses for the same file.
 */
import { X509Certificate } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { dirname, resolve } from 'node:path'
import { type Cluster, type Context, KubeConfig, type User } from '@kubernetes/client-node'
import { load as parseYaml, YAMLException } from 'js-yaml'
import { type CommandResult, describeEnd, runCommand, succeeded } from '../process/run-command.ts'
import { describeUnreadable, errorCode } from '../values/errors.ts'
import { isObject } from '../values/is-object.ts'
import { quote } from '../values/kubernetes-names.ts'
import type { Access, AccessOutcome, Credentials, KubeconfigProblem, KubeconfigReading, NamedFile } from './access.ts'
import { rememberHashes, toAccess } from './access.ts'
import { type ExecCredential, type ExecPlugin, findExecPlugin, PLUGIN_EXTENSION, readCredential } from './exec-plugin.ts'

/** For how long a credential of an exec plugin is kept at least, whatever its expiry. */
const PLUGIN_MEMORY_MS = 30_000
/**
 * timeout(1) ends a plugin that hangs together with what it has started. macOS, where a person may
 * run one, has none.
 */
const WITHIN_A_MINUTE: readonly string[] = ['timeout', '--kill-after=5', '60']
/** Of a plugin: a certificate and its key, with room to spare. */
const PLUGIN_LIMITS = { timeoutMs: 70_000, maxOutputBytes: 1 << 20 } as const

export function readKubeconfig(path: string, nowMs: () => number): KubeconfigReading {
  const read = readFile(path)
  if (typeof read === 'string') return useKubeconfig(parseFiles([{ path, text: read }]), { context: undefined, isService: true }, nowMs)
  return read.kind === 'absent' ? { kind: 'absent', detail: `kubeconfig ${path} does not exist yet` } : read
}

/**
 * Files that the current context needs besides this one. Empty: this one is missing or malformed.
 */
export function listNamedFiles(path: string): readonly NamedFile[] {
  const read = readFile(path)
  const parsed = typeof read === 'string' ? parseFiles([{ path, text: read }]) : read
  const chosen = 'kind' in parsed ? parsed : chooseContext(parsed, { context: undefined, isService: true })
  if ('kind' in chosen) return []
  const files = listFiles(chosen).map((file) => ({ path: file, need: 'read' }) as const)
  const plugin = chosen.plugin?.file
  // Another one is looked up in the PATH of the service.
  return plugin?.includes('/') === true ? [...files, { path: plugin, need: 'execute' }] : files
}

/** The files and the context that a person names on the command line, as kubectl takes them. */
interface ContextChoice {
  /**
   * Merged: of two entries with one name, the first counts. Files that do not exist are left out.
   */
  readonly files: readonly string[]
  /** undefined: the current one. */
  readonly context: string | undefined
}

/** For a person at a terminal, who can end a plugin that hangs. */
export function readUserKubeconfig({ files, context }: ContextChoice, nowMs: () => number): KubeconfigReading {
  const found: KubeconfigText[] = []
  for (const path of files) {
    const read = readFile(path)
    if (typeof read === 'string') found.push({ path, text: read })
    else if (read.kind !== 'absent') return read
  }
  if (found.length === 0)
    return { kind: 'absent', detail: `no kubeconfig: ${files.join(', ')} does not exist; set KUBECONFIG or give --kubeconfig` }
  return useKubeconfig(parseFiles(found), { context, isService: false }, nowMs)
}

interface KubeconfigText {
  readonly path: string
  readonly text: string
}

function readFile(path: string): string | KubeconfigProblem {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = errorCode(error) ?? String(error)
    const kind = code === 'ENOENT' ? 'absent' : 'unreadable'
    return { kind, detail: `kubeconfig ${path} ${describeUnreadable(code)}` }
  }
}

interface ParsedFiles {
  /** For messages. */
  readonly name: string
  readonly config: KubeConfig
  /** Where each user stands, by name: paths of plugins and token files are relative to it. */
  readonly users: ReadonlyMap<string, { readonly directory: string; readonly document: unknown }>
  /** The document of each cluster, by name, if it has more than client-node reads. */
  readonly clusters: ReadonlyMap<string, unknown>
}

interface UseOptions {
  readonly context: string | undefined
  readonly isService: boolean
}

interface ParsedKubeconfig {
  readonly config: KubeConfig
  readonly cluster: Cluster
  readonly server: URL
  readonly user: MutableUser
  readonly tokenFile: string | undefined
  readonly plugin: ExecPlugin | undefined
  readonly isService: boolean
}
/** `token` is set from its file before each use, and `KubeConfig` takes it from here. */
type MutableUser = { -readonly [K in keyof User]: User[K] }
type MutableCluster = { -readonly [K in keyof Cluster]: Cluster[K] }

function useKubeconfig(parsed: ParsedFiles | KubeconfigProblem, options: UseOptions, nowMs: () => number): KubeconfigReading {
  if ('kind' in parsed) return parsed
  const chosen = chooseContext(parsed, options)
  if ('kind' in chosen) return chosen
  const missing = findMissingFile(chosen)
  if (missing !== undefined) return { kind: 'incomplete', detail: `kubeconfig ${parsed.name} names ${missing}` }
  return { kind: 'ok', credentials: createCredentials(chosen, nowMs) }
}

/** client-node drops these. With a backslash, YAML can write them in other letters. */
const MAY_NAME_MORE = new RegExp(`tokenFile|${PLUGIN_EXTENSION.replaceAll('.', '\\.')}|disable-compression|\\\\`)

function parseFiles(files: readonly KubeconfigText[]): ParsedFiles | KubeconfigProblem {
  const merged = { clusters: new Map<string, Cluster>(), users: new Map<string, User>(), contexts: new Map<string, Context>() }
  const users = new Map<string, { directory: string; document: unknown }>()
  const documents = new Map<string, unknown>()
  let currentContext = ''
  for (const { path, text } of files) {
    const malformed = (what: string): KubeconfigProblem => ({ kind: 'malformed', detail: `kubeconfig ${path} ${what}` })
    const config = new KubeConfig()
    let document: unknown
    try {
      config.loadFromString(text)
      if (MAY_NAME_MORE.test(text)) document = parseYaml(text)
    } catch (error) {
      if (error instanceof YAMLException) return malformed(`is not valid YAML, line ${(error.mark?.line ?? 0) + 1}`)
      return malformed('is incomplete: each cluster, user and context needs a name and its section')
    }
    config.makePathsAbsolute(dirname(path))
    for (const user of config.users) if (!users.has(user.name)) users.set(user.name, { directory: dirname(path), document })
    for (const cluster of config.clusters) if (!documents.has(cluster.name)) documents.set(cluster.name, document)
    addNew(merged.clusters, config.clusters)
    addNew(merged.users, config.users)
    addNew(merged.contexts, config.contexts)
    currentContext = currentContext === '' ? (config.getCurrentContext() ?? '') : currentContext
  }
  const config = new KubeConfig()
  const [clusters, ownUsers, contexts] = [merged.clusters, merged.users, merged.contexts].map((entries) => [...entries.values()])
  config.loadFromOptions({ clusters, users: ownUsers, contexts, currentContext })
  return { name: files.map(({ path }) => path).join(':'), config, users, clusters: documents }
}

function addNew<T extends { readonly name: string }>(known: Map<string, T>, entries: readonly T[]): void {
  for (const entry of entries) if (!known.has(entry.name)) known.set(entry.name, entry)
}

function chooseContext(
  { name, config, users, clusters }: ParsedFiles,
  { context, isService }: UseOptions,
): ParsedKubeconfig | KubeconfigProblem {
  const malformed = (what: string): KubeconfigProblem => ({ kind: 'malformed', detail: `kubeconfig ${name} ${what}` })
  if (context !== undefined) config.setCurrentContext(context)
  if (config.getContextObject(config.getCurrentContext()) === null)
    return malformed(context === undefined ? 'has no context with the name in current-context' : `has no context ${quote(context)}`)
  const cluster = config.getCurrentCluster()
  if (cluster === null) return malformed('has no cluster with the name in its context')
  const user = config.getCurrentUser()
  if (user === null) return malformed('has no user with the name in its context')
  if (!URL.canParse(cluster.server)) return malformed('has a server that is not a URL')
  const { protocol } = new URL(cluster.server)
  if (protocol !== 'https:' && protocol !== 'http:') return malformed('has a server that is not https://')
  // client-node refuses it too, but only at the first request and without the reason.
  if (protocol === 'http:' && !cluster.skipTLSVerify)
    return malformed('has an http:// server, which would send credentials in clear text: use https://')
  dropOverridden(cluster, user)
  const { directory = '/', document } = users.get(user.name) ?? {}
  const exec: unknown = user.exec ?? user.authProvider?.config?.exec ?? undefined
  const section = findSection(clusters.get(cluster.name), 'cluster', cluster.name)
  const authority = () => (cluster.caFile ? readFileSync(cluster.caFile).toString('base64') : cluster.caData)
  const plugin = findExecPlugin(exec, { ...cluster, section, authority }, { directory, env: process.env })
  if (exec !== undefined && plugin === undefined) return malformed('has an exec plugin without a command')
  // client-node would run it.
  if (exec !== undefined) Object.assign(user, { exec: undefined, authProvider: undefined })
  const { tokenFile } = findSection(document, 'user', user.name)
  return {
    config,
    cluster,
    server: new URL(cluster.server),
    user,
    tokenFile: typeof tokenFile === 'string' && tokenFile !== '' ? resolve(directory, tokenFile) : undefined,
    plugin,
    isService,
  }
}

/** In client-node the file wins, in client-go the data (`dataFromSliceOrFile`). */
function dropOverridden(cluster: MutableCluster, user: MutableUser): void {
  if (cluster.caData) delete cluster.caFile
  if (user.certData) delete user.certFile
  if (user.keyData) delete user.keyFile
}

/** The section of a user or cluster in the document of its file. */
function findSection(document: unknown, kind: 'user' | 'cluster', name: string): Readonly<Record<string, unknown>> {
  const entries = isObject(document) ? document[`${kind}s`] : undefined
  const entry: unknown = Array.isArray(entries) ? entries.find((each) => isObject(each) && each.name === name) : undefined
  const section = isObject(entry) ? entry[kind] : undefined
  return isObject(section) ? section : {}
}

function listFiles({ cluster, user, tokenFile }: ParsedKubeconfig): string[] {
  return [cluster.caFile, user.certFile, user.keyFile, tokenFile].flatMap((file) => file || [])
}

function findMissingFile(parsed: ParsedKubeconfig): string | undefined {
  for (const file of listFiles(parsed)) {
    try {
      accessSync(file, constants.R_OK)
    } catch (error) {
      return `${file}, which ${describeUnreadable(errorCode(error) ?? String(error))}`
    }
  }
  return undefined
}

function createCredentials(parsed: ParsedKubeconfig, nowMs: () => number): Credentials {
  const { config, cluster, server, user, tokenFile, plugin, isService } = parsed
  let cached: { readonly credential: ExecCredential; readonly untilMs: number } | undefined
  let underWay: Promise<ExecCredential | string> | undefined
  const hash = rememberHashes()

  const readAccess = async (credential?: ExecCredential): Promise<AccessOutcome> => {
    try {
      if (tokenFile !== undefined) user.token = readFileSync(tokenFile, 'utf8').trim()
      const options: RequestOptions = {}
      await config.applyToHTTPSOptions(options)
      const access = toAccess(options, cluster.proxyUrl)
      return { ok: true, access: credential === undefined ? access : withCredential(access, credential) }
    } catch (error) {
      return { ok: false, detail: describeFailure(error) }
    }
  }
  /** @returns text: why there is no credential */
  const runPlugin = async (run: ExecPlugin): Promise<ExecCredential | string> => {
    const [file = run.file, ...args] = [...(isService ? WITHIN_A_MINUTE : []), run.file, ...run.args]
    const result = await runCommand(file, args, { env: run.env, ...PLUGIN_LIMITS })
    const credential = succeeded(result) ? readCredential(result.stdout) : undefined
    if (credential === undefined) return describePlugin(run, result, isService)
    cached = { credential, untilMs: Math.max(nowMs() + PLUGIN_MEMORY_MS, credential.expiresAtMs ?? 0) }
    return credential
  }
  return {
    server,
    async access() {
      if (plugin === undefined) return readAccess()
      if (cached !== undefined && nowMs() < cached.untilMs) return readAccess(cached.credential)
      // Runs one plugin process at a time, also when it hangs.
      underWay ??= runPlugin(plugin).finally(() => {
        underWay = undefined
      })
      const credential = await underWay
      return typeof credential === 'string' ? { ok: false, detail: credential } : readAccess(credential)
    },
    nodeName() {
      return findNodeName(readPem(user.certFile, user.certData))
    },
    authorityHashes() {
      return hash(readPem(cluster.caFile, cluster.caData))
    },
  }
}

/** Where there are data, no file is left: see `dropOverridden`. */
function readPem(file: string | undefined, base64: string | undefined): string {
  return file ? readFileSync(file, 'utf8') : Buffer.from(base64 ?? '', 'base64').toString()
}

/** `CN=system:node:NAME`, node authorization, "Overview" in the Kubernetes documentation. */
function findNodeName(pem: string): string | undefined {
  try {
    return /^CN=system:node:(\S+)$/m.exec(new X509Certificate(pem).subject)?.[1]
  } catch {
    // No certificate, or an invalid one: its first use reports that.
    return undefined
  }
}

/** The credentials in the kubeconfig itself go before those of its plugin. */
function withCredential(access: Access, { token, cert, key }: ExecCredential): Access {
  const headers = { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...access.headers }
  return { ...access, headers, tls: { ...access.tls, cert: access.tls.cert ?? cert, key: access.tls.key ?? key } }
}

function describePlugin({ file }: ExecPlugin, result: CommandResult, isService: boolean): string {
  if (file.includes('/') && !existsSync(file)) return `the kubeconfig's exec plugin ${file} does not exist`
  const why = succeeded(result) ? '' : ` (${describeEnd(result.end)})`
  const service = isService ? ' (the service has no home directories and no capabilities)' : ''
  return `the kubeconfig's exec plugin ${file} returned no credential${why}; run it by hand to see why${service}`
}

/** Names files, never their content. */
function describeFailure(error: unknown): string {
  const path = isObject(error) && typeof error.path === 'string' ? `${error.path}: ` : ''
  // Thrown by the bundle's stubs, so the text is safe.
  const detail = isObject(error) && error.code === 'ERR_NOT_IN_THIS_BUILD' ? String(error.message) : `${path}${nameError(error)}`
  return `the kubeconfig's credentials cannot be used: ${detail}`
}

/** Never the message, which may quote credentials. */
function nameError(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.name : 'unknown error')
}
