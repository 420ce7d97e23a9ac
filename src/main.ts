/**
 * The composition root: the only place where adapters meet, together with `main-stores.ts` and, for the commands, `main-commands.ts`. From here down
 * everything is handed what it needs; nothing reaches for the environment, the clock or the disk by itself. What is needed rarely (YAML, metrics, node facts) is loaded when it is.
 */
import { existsSync, fstatSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
import { keepHeapSmall } from './agent/heap.ts'
import { Loop, runLoop, Waker } from './agent/loop.ts'
import { adoptKubeletStore, findKubeletStore } from './checkpoint/adopt.ts'
import { compareBinding, readBinding, setForeignStateAside, writeBinding } from './checkpoint/binding.ts'
import { DurableFiles } from './checkpoint/files.ts'
import { type Layout, layoutOf } from './checkpoint/layout.ts'
import { takeLock } from './checkpoint/lock.ts'
import { NodeDisk } from './checkpoint/node-disk.ts'
import type { OnSetAside } from './checkpoint/set-aside.ts'
import { gatherFindings, logFindings } from './cli/check.ts'
import { type AgentStart, EXIT, type ExitCode } from './cli/command.ts'
import { type ParseYaml, readConfigFile } from './cli/config-file.ts'
import { runProgram } from './cli/program.ts'
import { readRights } from './cli/rights.ts'
import { wantsColor } from './cli/terminal.ts'
import type { TrialKey } from './decision/trial-key.ts'
import type { Acceptance } from './decision/verdict.ts'
import { readKubeconfig } from './kube/credentials.ts'
import { HttpsKubeApi } from './kube/kube-api.ts'
import { KubeconfigFile } from './kube/kubeconfig.ts'
import { findNodeName, openStores, type Stores } from './main-stores.ts'
import { OverlaidSource } from './overlay/overlaid-source.ts'
import { OverlayDirectory } from './overlay/overlay-directory.ts'
import { readOverlayFiles } from './overlay/overlay-files.ts'
import type { AssignmentSource } from './ports/assignment-source.ts'
import type { Clock } from './ports/clock.ts'
import type { Files } from './ports/files.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import type { DrainProbe } from './ports/probes.ts'
import { AgentPreflight } from './preflight/agent-preflight.ts'
import { EffectCheck } from './preflight/effect-check.ts'
import { decodeAndCheck } from './preflight/quick-check.ts'
import { type Counters, countRejections, NO_COUNTERS } from './report/counters.ts'
import { FileHistory } from './report/history.ts'
import { Publisher } from './report/publisher.ts'
import { Reporter } from './report/reporter.ts'
import { ReportServer } from './report/server.ts'
import type { ConfigStatus } from './report/status.ts'
import { toChangePolicy } from './settings/preflight-settings.ts'
import { rereadSettings } from './settings/reread-settings.ts'
import { configPath } from './settings/resolve-settings.ts'
import type { Settings } from './settings/settings.ts'
import { toChannelSettings, toPolicy } from './settings/settings.ts'
import { ClusterSource } from './source/cluster.ts'
import { DirectorySource } from './source/directory.ts'
import { NodeDrain } from './source/drain.ts'
import { watchDirectory } from './source/watch-directory.ts'
import { BootClock } from './systemd/boot-clock.ts'
import { Heartbeat } from './systemd/heartbeat.ts'
import { createLog, type LeveledLog } from './systemd/journal.ts'
import { chooseFormat } from './systemd/log-format.ts'
import { Notifier, takeSupervision } from './systemd/notify.ts'

/** Set by the build; run from source there is none. */
declare const KUBELET_CFG_AGENT_VERSION: string | undefined
const VERSION = typeof KUBELET_CFG_AGENT_VERSION === 'string' ? KUBELET_CFG_AGENT_VERSION : '0.0.0-dev'
/** SIGTERM has to end the agent within 2 s: half for the pass under way, half for reports. */
const STOP_LIMIT_MS = 900
const REBIND_MS = 60_000

/** Before anything else is started, so that nothing else inherits it. */
const supervision = takeSupervision(process.env, process.pid)
const clock: Clock = new BootClock()
const sleep = async (ms: number, signal: AbortSignal) => {
  await after(ms, undefined, { signal }).catch(() => {})
}
const pace = { nowMs: () => clock.now().monotonicUs / 1000, random: Math.random, sleep }

async function runAgent(start: AgentStart): Promise<ExitCode> {
  keepHeapSmall()
  // For ps and top: Node.js calls the first thread of every process `node` or MainThread.
  process.title = ['kubelet-cfg-agent', ...process.argv.slice(2)].join(' ')
  const { settings } = start
  const log = openLog(settings)
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(signal))
  log.info(`kubelet-cfg-agent ${VERSION} starting`, { pid: process.pid })
  const notifier = new Notifier({ socket: supervision.socket, log })
  const heartbeat = new Heartbeat({ clock, watchdogUs: supervision.watchdogUs, send: (message) => notifier.send(message) })
  stop.signal.addEventListener('abort', () => heartbeat.stopping(), { once: true })
  const files = new DurableFiles(new NodeDisk())
  const { lock: lockPath } = layoutOf(settings.dynamicConfigDir)
  files.makeDirectory(settings.dynamicConfigDir)
  const taken = takeLock(lockPath, process.pid)
  if (!taken.ok) {
    log.error(taken.detail)
    return EXIT.failed
  }
  const running = { settings }
  while (!stop.signal.aborted) {
    const why = await liveOn(running, start.reread, heartbeat, log, stop.signal)
    if (!stop.signal.aborted) log.warn(`beginning anew: ${why}`)
  }
  log.info('stopped; kubelet runs on as it is', { signal: String(stop.signal.reason) })
  taken.lock.release()
  await Promise.race([notifier.settled(), after(STOP_LIMIT_MS / 4, undefined, { ref: false })])
  return EXIT.fine
}

/** From opening the state of this node to the end of the agent, or until that state proves to be another's. Resolves with why it ended. */
async function liveOn(
  /** Some of it changes while the agent runs. */
  held: { settings: Settings },
  reread: AgentStart['reread'],
  heartbeat: Heartbeat,
  log: LeveledLog,
  stop: AbortSignal,
): Promise<string> {
  const { settings } = held
  const over = new AbortController()
  stop.addEventListener('abort', () => over.abort(stop.reason), { once: true })
  const waker = new Waker()
  const kubeconfig = new KubeconfigFile(settings.kubeconfig, (path) => readKubeconfig(path, Date.now), log)
  const sayAside: OnSetAside = ({ path, to, why }) => log.error(`set aside ${path} as ${to}: ${why}`)
  const stores = openStores(settings, new NodeDisk(), clock, log, sayAside)
  const { files, layout, checkpoints } = stores
  settleFiles(files, layout, log)
  const nodeName = findNodeName(settings, files)

  /**
   * Whether the state here is this node's. Asked at the start and ever again, since a certificate authority that is rotated shares one
   * certificate with the set before it, and none with the set before that.
   */
  const isOurs = (): boolean => {
    try {
      const reading = settings.manifestDir === undefined ? kubeconfig.current() : undefined
      if (reading !== undefined && reading.kind !== 'ok') return true
      const binding = { nodeName, caHashes: reading === undefined ? [] : reading.credentials.authorityHashes() }
      if (compareBinding(readBinding(files, layout), binding) === 'foreign') return false
      writeBinding(files, layout, binding)
    } catch (error) {
      log.warn('whose state this is could not be read or written down; tried again', { error })
    }
    return true
  }
  if (!isOurs()) setForeignStateAside(files, layout, [settings.envFile, `${settings.envFile}.fallback`], sayAside)
  if (settings.adopt) {
    const { checkpoints: count, remarks } = adoptKubeletStore(files, checkpoints, layout)
    if (count > 0) log.info(`adopted ${count} checkpoints that kubelet left`)
    for (const remark of remarks) log.warn(remark)
  } else if (findKubeletStore(files, layout) !== undefined) {
    log.warn(`${settings.dynamicConfigDir} holds what kubelet's own dynamic configuration left; start with --adopt to take it over`)
  }
  isOurs()

  const { counters, report, isReady, isAlive, stopServing } = await openMetrics(settings, log)
  const api: KubeApi | undefined =
    settings.manifestDir === undefined
      ? new HttpsKubeApi(kubeconfig, { userAgent: `kubelet-cfg-agent/${VERSION}`, wallMs: Date.now })
      : undefined
  let historyAppended = () => {}
  const history = new FileHistory({ files, directory: settings.dynamicConfigDir, clock, log, onAppend: () => historyAppended() })
  const publisher =
    api &&
    new Publisher({
      ...{ api, nodeName, clock, log, random: Math.random, files, directory: settings.dynamicConfigDir, history, sleep },
      publications: () => held.settings.publish,
    })
  if (publisher !== undefined) historyAppended = () => publisher.historyAppended()

  const assigned: AssignmentSource =
    api === undefined
      ? await openManifests(settings, nodeName, files, counters, log)
      : new ClusterSource({
          nodeName,
          api,
          pace,
          log,
          counters: { watchReconnected: () => counters.watchReconnected(), synced: () => counters.synced(Date.now()) },
          obstacle: () => kubeconfig.problem(),
          channels: toChannelSettings(settings),
          onNode: (...seen) => publisher?.nodeObserved(...seen),
          ready: async (signal) => {
            await kubeconfig.ready(sleep, signal)
            // A kubeconfig that came later may say who this node is.
            if (findNodeName(settings, files) !== nodeName) over.abort('the kubeconfig names another node')
            else if (!isOurs()) over.abort('the kubeconfig is of another cluster')
            else publisher?.start()
          },
        })
  const assignment = settings.overlayDir === undefined ? assigned : new OverlaidSource(assigned, openOverlay(settings.overlayDir, log), log)
  const reporter = new Reporter({
    clock,
    log,
    counters,
    agentVersion: VERSION,
    publish: (status, trialRemainingSeconds, standing) => {
      publisher?.publish(status, standing)
      report(status, trialRemainingSeconds)
    },
    publishBlind: (condition) => publisher?.publishCondition(condition),
  })
  isReady.now = () => reporter.isReady()
  isAlive.now = () => reporter.isAlive()

  const accepted = new Map<TrialKey, Acceptance>()
  const judges = lazily(async () =>
    (await import('./main-preflight.ts')).openPreflight({ settings: () => held.settings, stores, signal: over.signal }),
  )
  const preflight = new AgentPreflight({
    inspect: async (candidate) => (await judges()).checkCandidate(candidate),
    decode: decodeAndCheck,
    settings: () => [toChangePolicy(held.settings), held.settings.preflight, held.settings.unknownFields],
    forget: () =>
      void judges().then(
        ({ forget }) => forget(),
        () => {},
      ),
    onDone: () => waker.wake(),
    clock,
    sleep: (ms) => after(ms, undefined, { ref: false }),
  })
  const drain: DrainProbe = api === undefined ? { isDrained: () => undefined } : new NodeDrain(api, nodeName, clock, () => waker.wake())
  const effect =
    api &&
    new EffectCheck({
      ask: () => api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}/proxy/configz` }),
      compare: async (...seen) => (await judges()).compareRunning(...seen),
      log,
      clock,
    })
  const loop = new Loop({
    eyes: { ...stores, nodeName, policy: () => toPolicy(held.settings), assignment, accepted, preflight, drain },
    hands: { ...stores, preflight, history: countRejections(history, counters), log, accepted },
    observer: {
      decided: (snapshot, step) => {
        reporter.decided(snapshot, step)
        effect?.decided(snapshot)
      },
      turned: (...seen) => {
        heartbeat.turned(...seen)
        reporter.turned(...seen)
      },
    },
    log,
  })
  const reload = async () => {
    await loadYaml()
    held.settings = rereadSettings(held.settings, reread, log)
    accepted.clear()
    waker.wake()
  }
  const onHangUp = () => void reload().catch((error: unknown) => log.error('settings not reread', { error }))
  process.on('SIGHUP', onHangUp)
  const rebinding = setInterval(() => {
    if (!isOurs()) over.abort('the kubeconfig is of another cluster')
  }, REBIND_MS)
  try {
    files.makeDirectory(layout.requests)
  } catch (error) {
    log.warn('requests cannot be taken yet', { error })
  }
  const requests = watchDirectory(layout.requests, () => waker.wake())
  assignment.start(() => waker.wake())
  const checked = checkSelf(settings, stores, log).catch((error: unknown) => log.warn('the agent could not check itself', { error }))
  try {
    await untilOver(runLoop(loop, waker, clock, over.signal, heartbeat.beatUs), over.signal)
  } finally {
    clearInterval(rebinding)
    process.off('SIGHUP', onHangUp)
    await Promise.race([
      Promise.all([assignment.stop(), publisher?.stop(STOP_LIMIT_MS), requests.close(), stopServing(), checked]),
      after(STOP_LIMIT_MS, undefined, { ref: false }),
    ])
  }
  return String(over.signal.reason)
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      // Another time it may work: a package that is being replaced is whole again.
      made = undefined
      throw error
    })
    return made
  }
}

/** Only what is the agent's own: the directory may be shared (`--adopt`), and other programs' files begin with dots, too. */
function settleFiles(files: DurableFiles, layout: Layout, log: Log): void {
  try {
    files.settle(layout.directory, false)
    for (const path of [layout.meta, layout.checkpoints, layout.rendered, layout.requests]) files.settle(path)
  } catch (error) {
    log.warn('what a crash may have left unfinished could not be cleared away', { error })
  }
}

/** A pass may wait for systemd or kubelet; what it does to files it does in one go, so that it may be left at any wait. */
async function untilOver(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const limit = new Promise<void>((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, STOP_LIMIT_MS), { once: true }))
  await Promise.race([work, limit])
}

async function openManifests(settings: Settings, nodeName: string, files: Files, counters: Counters, log: Log): Promise<AssignmentSource> {
  const { parseDocuments } = await import('./kubelet/yaml.ts')
  return new DirectorySource({
    path: settings.manifestDir ?? '',
    nodeName,
    channels: toChannelSettings(settings),
    files,
    parse: parseDocuments,
    watch: watchDirectory,
    pace,
    log,
    counters: { synced: () => counters.synced(Date.now()) },
  })
}

function openOverlay(directory: string, log: Log): OverlayDirectory {
  const loadParser = () => import('./kubelet/yaml.ts')
  return new OverlayDirectory({ directory, read: readOverlayFiles, loadParser, watch: watchDirectory, pace, log })
}

/** Metrics cost memory that only an open address is worth. */
async function openMetrics(settings: Settings, log: Log) {
  const notYet = () => ({ ok: false, detail: 'starting' })
  const isReady = { now: notYet as Reporter['isReady'] }
  const isAlive = { now: notYet as Reporter['isAlive'] }
  if (settings.metricsAddress === undefined) {
    return { counters: NO_COUNTERS, report: (_status: ConfigStatus, _seconds: number) => {}, isReady, isAlive, stopServing: async () => {} }
  }
  const { Metrics } = await import('./report/metrics.ts')
  const metrics = new Metrics({ version: VERSION })
  const server = new ReportServer({
    address: settings.metricsAddress,
    render: () => metrics.render(),
    isAlive: () => isAlive.now(),
    isReady: () => isReady.now(),
    log,
  })
  server.start()
  const report = (status: ConfigStatus, trialRemainingSeconds: number) => metrics.report(status, trialRemainingSeconds)
  return { counters: metrics as Counters, report, isReady, isAlive, stopServing: async () => server.stop() }
}

async function checkSelf(settings: Settings, { unit, activation }: Stores, log: Log): Promise<void> {
  const nodeFacts = async () => (await import('./kubelet/node-facts.ts')).readNodeFacts()
  const uid = process.getuid?.() ?? 0
  logFindings(await gatherFindings({ settings, unit, activation, rights: readRights, uid, nodeFacts }), log)
}

function openLog(settings: Settings): LeveledLog {
  const { dev, ino } = fstatSync(1)
  const chosen = chooseFormat(process.env.JOURNAL_STREAM, { isTTY: process.stdout.isTTY, dev, ino })
  const format = { auto: chosen, json: chosen === 'journal' ? 'journal' : 'json', text: 'terminal' } as const
  return createLog({ level: settings.logLevel, format: format[settings.logFormat], colours: wantsColor(process.stdout.isTTY, process.env) })
}

const terminal = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
  color: wantsColor(process.stdout.isTTY, process.env),
  width: process.stdout.columns ?? 80,
}
// A reader that has seen enough (`| head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

let parseYaml: ParseYaml = () => ({ ok: false, detail: 'it appeared while the agent was starting: start again' })

/** The parser costs time and memory that only a settings file is worth. */
async function loadYaml(): Promise<void> {
  parseYaml = (await import('./kubelet/yaml.ts')).parseDocument
}

const args = process.argv.slice(2)
if (args.some((arg) => arg.startsWith('--config')) || existsSync(configPath({}, process.env))) await loadYaml()
const code = await runProgram(args, {
  build: { version: VERSION, platform: `node ${process.versions.node}, ${process.platform}/${process.arch}` },
  terminal,
  env: () => process.env,
  readConfigFile: (path) => readConfigFile(path, (text) => parseYaml(text)),
  // What only the commands need is loaded for them.
  openNode: async (settings) => (await import('./main-commands.ts')).openNode(settings, { clock, terminal, version: VERSION }),
  runAgent,
})
process.exit(code)
