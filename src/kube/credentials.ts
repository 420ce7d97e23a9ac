/**
 * Reads a kubeconfig file into credentials with the `KubeConfig` of @kubernetes/client-node
 * (certificates, tokens, exec plugins, proxies). Adds what version 1.4 lacks and client-go has:
 * `tokenFile`, `KUBERNETES_EXEC_INFO`, and plugin paths relative to the file. Errors of client-node
 * quote secrets (a line of the file, a plugin's output), so their texts are never passed on. The
 * only module that imports client-node, and js-yaml, which client-node uses for the same file.
 */
import { X509Certificate } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { dirname, resolve } from 'node:path'
import { type Cluster, type Context, KubeConfig, type User } from '@kubernetes/client-node'
import { load as parseYaml, YAMLException } from 'js-yaml'
import { errorCode } from '../values/errors.ts'
import { isObject } from '../values/is-object.ts'
import { quote } from '../values/kubernetes-names.ts'
import type { AccessOutcome, Credentials, KubeconfigProblem, KubeconfigReading, NamedFile } from './access.ts'
import { rememberHashes } from './certificate-hashes.ts'
import { toAccess } from './to-access.ts'

/**
 * An exec plugin whose credential has no expiry runs again after this long, not for each request.
 */
const PLUGIN_MEMORY_MS = 30_000

export function readKubeconfig(path: string, nowMs: () => number): KubeconfigReading {
  const read = readFile(path)
  if (typeof read === 'string') return useKubeconfig(parseFiles([{ path, text: read }]), { context: undefined, runner: BOUNDED }, nowMs)
  return read.kind === 'absent' ? { kind: 'absent', detail: `kubeconfig ${path} does not exist yet` } : read
}

/** What the current context needs besides this file. Empty: the file is missing or malformed. */
export function listNamedFiles(path: string): readonly NamedFile[] {
  const read = readFile(path)
  const parsed = typeof read === 'string' ? parseFiles([{ path, text: read }]) : read
  const chosen = 'kind' in parsed ? parsed : chooseContext(parsed, { context: undefined, runner: DIRECT })
  if ('kind' in chosen) return []
  const plugin: unknown = isObject(chosen.user.exec) ? chosen.user.exec.command : undefined
  const files = listFiles(chosen).map((file) => ({ path: file, need: 'read' }) as const)
  // Another one is looked up in the PATH of the service.
  return typeof plugin === 'string' && plugin.includes('/') ? [...files, { path: plugin, need: 'execute' }] : files
}

/** What a person names on the command line, as kubectl takes it. */
export interface ContextChoice {
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
  return useKubeconfig(parseFiles(found), { context, runner: DIRECT }, nowMs)
}

interface KubeconfigText {
  readonly path: string
  readonly text: string
}

function readFile(path: string): string | KubeconfigProblem {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    const kind = code === 'ENOENT' ? 'absent' : 'unreadable'
    return { kind, detail: `kubeconfig ${path} cannot be read: ${code}` }
  }
}

interface ParsedFiles {
  /** For messages. */
  readonly name: string
  readonly config: KubeConfig
  /** Where each user stands, by name: paths of plugins and token files are relative to it. */
  readonly users: ReadonlyMap<string, { readonly directory: string; readonly document: unknown }>
}

interface UseOptions {
  readonly context: string | undefined
  readonly runner: readonly string[]
}

interface ParsedKubeconfig {
  readonly config: KubeConfig
  readonly cluster: Cluster
  readonly server: URL
  readonly user: MutableUser
  readonly tokenFile: string | undefined
  /** What starts the plugin, without the plugin itself. */
  readonly runner: readonly string[]
}
/** Mutable, since `token` is set from its file before each use: `KubeConfig` takes it from here. */
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

/** client-node drops it. With a backslash, YAML can write it in other letters. */
const MAY_NAME_TOKEN_FILE = /tokenFile|\\/

function parseFiles(files: readonly KubeconfigText[]): ParsedFiles | KubeconfigProblem {
  const merged = { clusters: new Map<string, Cluster>(), users: new Map<string, User>(), contexts: new Map<string, Context>() }
  const users = new Map<string, { directory: string; document: unknown }>()
  let currentContext = ''
  for (const { path, text } of files) {
    const malformed = (what: string): KubeconfigProblem => ({ kind: 'malformed', detail: `kubeconfig ${path} ${what}` })
    const config = new KubeConfig()
    let document: unknown
    try {
      config.loadFromString(text)
      if (MAY_NAME_TOKEN_FILE.test(text)) document = parseYaml(text)
    } catch (error) {
      if (error instanceof YAMLException) return malformed(`is not valid YAML, line ${(error.mark?.line ?? 0) + 1}`)
      return malformed('is incomplete: each cluster, user and context needs a name and its section')
    }
    config.makePathsAbsolute(dirname(path))
    for (const user of config.users) if (!users.has(user.name)) users.set(user.name, { directory: dirname(path), document })
    addNew(merged.clusters, config.clusters)
    addNew(merged.users, config.users)
    addNew(merged.contexts, config.contexts)
    currentContext = currentContext === '' ? (config.getCurrentContext() ?? '') : currentContext
  }
  const config = new KubeConfig()
  const [clusters, ownUsers, contexts] = [merged.clusters, merged.users, merged.contexts].map((entries) => [...entries.values()])
  config.loadFromOptions({ clusters, users: ownUsers, contexts, currentContext })
  return { name: files.map(({ path }) => path).join(':'), config, users }
}

function addNew<T extends { readonly name: string }>(known: Map<string, T>, entries: readonly T[]): void {
  for (const entry of entries) if (!known.has(entry.name)) known.set(entry.name, entry)
}

function chooseContext({ name, config, users }: ParsedFiles, { context, runner }: UseOptions): ParsedKubeconfig | KubeconfigProblem {
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
  adaptPlugin(user, cluster, { directory, runner })
  const tokenFile = findTokenFile(document, user.name)
  return {
    config,
    cluster,
    server: new URL(cluster.server),
    user,
    tokenFile: tokenFile === undefined ? undefined : resolve(directory, tokenFile),
    runner,
  }
}

/** In client-node the file wins, in client-go the data (`dataFromSliceOrFile`). */
function dropOverridden(cluster: MutableCluster, user: MutableUser): void {
  if (cluster.caData) delete cluster.caFile
  if (user.certData) delete user.certFile
  if (user.keyData) delete user.keyFile
}

function findTokenFile(document: unknown, userName: string): string | undefined {
  const users = isObject(document) && Array.isArray(document.users) ? document.users : []
  const entry: unknown = users.find((candidate) => isObject(candidate) && candidate.name === userName)
  const user = isObject(entry) && isObject(entry.user) ? entry.user : {}
  return typeof user.tokenFile === 'string' && user.tokenFile !== '' ? user.tokenFile : undefined
}

/**
 * client-node waits for a plugin without limit. timeout(1) ends one that hangs, which would cut the
 * node off for good.
 */
const BOUNDED: readonly string[] = ['timeout', '--kill-after=5', '60']
/** macOS has no timeout(1). */
const DIRECT: readonly string[] = []

function adaptPlugin(
  user: MutableUser,
  cluster: Cluster,
  { directory, runner }: { readonly directory: string; readonly runner: readonly string[] },
): void {
  const exec: unknown = user.exec
  if (!isObject(exec) || typeof exec.command !== 'string') return
  const details = { server: cluster.server, 'certificate-authority-data': cluster.caData, 'tls-server-name': cluster.tlsServerName }
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec.provideClusterInfo === true ? { cluster: details } : {}) },
  }
  const env: unknown[] = [
    ...(Array.isArray(exec.env) ? exec.env : []),
    { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) },
    // The plugin must not get the agent's notify socket: undefined removes the variable.
    { name: 'NOTIFY_SOCKET', value: undefined },
  ]
  const plugin = exec.command.includes('/') ? resolve(directory, exec.command) : exec.command
  const [command, ...args] = [...runner, plugin, ...(Array.isArray(exec.args) ? exec.args : [])]
  user.exec = { ...exec, env, command, args }
}

function listFiles({ cluster, user, tokenFile }: ParsedKubeconfig): string[] {
  return [cluster.caFile, user.certFile, user.keyFile, tokenFile].flatMap((file) => file || [])
}

function findMissingFile(parsed: ParsedKubeconfig): string | undefined {
  for (const file of listFiles(parsed)) {
    try {
      accessSync(file, constants.R_OK)
    } catch (error) {
      return `${file}, which cannot be read: ${errorCode(error)}`
    }
  }
  return undefined
}

function createCredentials(parsed: ParsedKubeconfig, nowMs: () => number): Credentials {
  const { config, cluster, server, user, tokenFile, runner } = parsed
  let cached: { readonly outcome: AccessOutcome; readonly untilMs: number } | undefined
  let underWay: Promise<AccessOutcome> | undefined
  const hash = rememberHashes()

  const readAccess = async (): Promise<AccessOutcome> => {
    try {
      if (tokenFile !== undefined) user.token = readFileSync(tokenFile, 'utf8').trim()
      const options: RequestOptions = {}
      await config.applyToHTTPSOptions(options)
      const access = toAccess(options, cluster.proxyUrl)
      // Without them, the request would be that of an anonymous client.
      const isAnonymous = access.headers.Authorization === undefined && access.tls.cert === undefined
      if (isObject(user.exec) && isAnonymous) throw new Error('the plugin returned neither a token nor a certificate')
      return { ok: true, access }
    } catch (error) {
      return { ok: false, detail: describeFailure(error, user, runner) }
    }
  }
  return {
    server,
    async access() {
      if (user.exec === undefined || user.exec === null) return readAccess()
      if (cached !== undefined && nowMs() < cached.untilMs) return cached.outcome
      // Runs one plugin process at a time, also when it hangs.
      underWay ??= readAccess().finally(() => {
        underWay = undefined
      })
      const outcome = await underWay
      if (outcome.ok) cached = { outcome, untilMs: nowMs() + PLUGIN_MEMORY_MS }
      return outcome
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

/** Names files and programs, never their content or output. */
function describeFailure(error: unknown, user: User, runner: readonly string[]): string {
  const path = isObject(error) && typeof error.path === 'string' ? `${error.path}: ` : ''
  // Thrown by the bundle's stubs, so the text is safe.
  if (isObject(error) && error.code === 'ERR_NOT_IN_THIS_BUILD')
    return `the kubeconfig's credentials cannot be used: ${String(error.message)}`
  const words: readonly unknown[] = isObject(user.exec) ? [user.exec.command, ...(Array.isArray(user.exec.args) ? user.exec.args : [])] : []
  const plugin = words[runner.length]
  if (typeof plugin === 'string' && plugin.includes('/') && !existsSync(plugin))
    return `the kubeconfig's exec plugin ${plugin} does not exist`
  if (typeof plugin === 'string' && path === '') {
    const service = runner === BOUNDED ? ' (the service has no home directories and no capabilities)' : ''
    return `the kubeconfig's exec plugin ${plugin} returned no credential; run it by hand to see why${service}`
  }
  return `the kubeconfig's credentials cannot be used: ${path}${nameError(error)}`
}

/** Never the message, which may quote credentials. */
function nameError(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.name : 'unknown error')
}
