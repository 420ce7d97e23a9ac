/**
 * The helper as a process: answers what the agent asks on standard input, one request a line, and
 * ends with it. Holds what the agent itself does without: the rules of preflight, and the client
 * that asks for `/configz`.
 */
import { createInterface } from 'node:readline'
import { ReadOnlyDisk } from './checkpoint/disk.ts'
import { DurableFiles } from './checkpoint/files.ts'
import { NodeDisk } from './checkpoint/node-disk.ts'
import type { KnownUnit } from './decision/unit-state.ts'
import type { HelperCancel, HelperReply, HelperRequest } from './helper/protocol.ts'
import { readKubeconfig } from './kube/credentials.ts'
import { KubeconfigFile } from './kube/kubeconfig.ts'
import { BoundedYaml } from './kubelet/bounded-yaml.ts'
import { readNodeFacts } from './kubelet/node-facts.ts'
import { openInspection } from './main-inspection.ts'
import { openKubeApi } from './main-kube-api.ts'
import { openRuntime } from './main-runtime.ts'
import { BESIDE_AGENT, findNodeName, openStores, SILENT } from './main-stores.ts'
import { VERSION } from './main-version.ts'
import type { PreflightRequest } from './ports/preflight.ts'
import { checkFallback } from './preflight/document.ts'
import type { VersionAnswer } from './preflight/kubelet/judgement.ts'
import type { Settings } from './settings/settings.ts'
import { BootClock } from './systemd/boot-clock.ts'
import { errorMessage } from './values/errors.ts'

/** What the agent says with each request. */
export interface HelperContext {
  /** Of the agent. */
  readonly version: string
  readonly settings: Settings
  readonly besideDocker: readonly string[]
  readonly yamlChild: string
}

/** For probes of kubelet that are ended. The agent itself has to end within 2 s. */
const END_MS = 1500

/** The arguments come from the agent that started this process, which is of the same version. */
type Methods = Readonly<Record<string, (signal: AbortSignal, ...args: never[]) => unknown>>

/** Made with the first request, and then as its settings say. */
interface Node {
  context: HelperContext
  readonly methods: Methods
}

const ended = new AbortController()
const versions = new Map<string, VersionAnswer>()
const running = new Map<number, AbortController>()
let node: Node | undefined

function openNode(first: HelperContext): Node {
  const opened: Node = { context: first, methods: {} }
  const settings = () => opened.context.settings
  const clock = new BootClock()
  const yaml = new BoundedYaml({ child: first.yamlChild })
  const { besideDocker } = first
  const stores = openStores(settings(), { ...BESIDE_AGENT, disk: new ReadOnlyDisk(new NodeDisk()), clock, yaml, besideDocker })
  const kubeconfig = new KubeconfigFile(settings().kubeconfig, (path) => readKubeconfig(path, Date.now), SILENT)
  const api = openKubeApi(kubeconfig, { userAgent: `kubelet-cfg-agent/${VERSION}` })
  const { runtime } = openRuntime({ settings: settings(), clock, log: SILENT, onChange: () => {} })
  const inspection = openInspection({
    settings,
    // Writes what kubelets have judged.
    stores: { ...stores, files: new DurableFiles(new NodeDisk()) },
    runtime,
    configz: { kubeconfig, api, nodeName: () => findNodeName(settings(), stores.files) },
    signal: ended.signal,
    versions,
  })
  const methods: Methods = {
    warm: (_, binary: string | undefined) => inspection.versionOf(binary).then(() => null),
    check: (signal, candidate: PreflightRequest) => inspection.checkCandidate(candidate, signal),
    fallback: (_, candidate: PreflightRequest) => checkFallback(candidate, yaml, (fallback) => inspection.remarkOnFallback(fallback)),
    configz: (_, unit: KnownUnit) => inspection.readRunningConfig(unit),
    compare: (_, configz: unknown, unit: KnownUnit, path: string | undefined) =>
      inspection.compareConfigz(configz, unit, path ?? undefined),
    facts: () => readNodeFacts(),
    forget: () => {
      inspection.forget()
      return null
    },
  }
  return Object.assign(opened, { methods })
}

async function answer({ id, method, args, context, memory }: HelperRequest): Promise<void> {
  const stopper = new AbortController()
  running.set(id, stopper)
  try {
    checkVersion(context)
    node ??= openNode(context)
    node.context = context
    for (const [identity, version] of Object.entries((memory ?? {}) as Record<string, VersionAnswer>))
      if (!versions.has(identity)) versions.set(identity, version)
    const known = Object.hasOwn(node.methods, method) ? node.methods[method] : undefined
    if (known === undefined) throw new Error(`there is no method ${method}`)
    write({ id, ok: true, result: await known(stopper.signal, ...(args as never[])), memory: Object.fromEntries(versions) })
  } catch (error) {
    write({ id, ok: false, detail: errorMessage(error) })
  } finally {
    running.delete(id)
    if (ended.signal.aborted && running.size === 0) process.exit(0)
  }
}

/** While the package is upgraded, the agent is of the earlier version for a while. */
function checkVersion(context: unknown): asserts context is HelperContext {
  const version = (context as Partial<HelperContext> | null)?.version
  if (version !== VERSION) throw new Error(`the helper has version ${VERSION}, and the agent ${version}: restart kubelet-cfg-agent`)
}

function write(reply: HelperReply): void {
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}

// Only for this process.
delete process.env.NODE_COMPILE_CACHE
// The agent that asked is gone.
process.stdout.on('error', () => process.exit(1))
process.title = 'kubelet-cfg-agent helper'
createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  .on('line', (line) => {
    const message = JSON.parse(line) as HelperRequest | HelperCancel
    if ('cancel' in message) running.get(message.cancel)?.abort()
    else void answer(message)
  })
  .on('close', end)
// systemd signals all processes of the agent's unit when it stops that.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end)

function end(): void {
  ended.abort()
  for (const stopper of running.values()) stopper.abort()
  if (running.size === 0) process.exit(0)
  setTimeout(() => process.exit(0), END_MS).unref()
}
