// SPDX-License-Identifier: Apache-2.0
/**
 * The agent as a process (`run`): takes the directory's lock, notifies systemd, and ends on SIGTERM
 * and SIGINT. In between it lives: from opening the state of this node until it is told to stop, or
 * until that state turns out to belong to another node or cluster and everything starts over.
 */
import { fstatSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { findRuntimeDoubt } from '../agent/config-files.ts'
import { keepHeapSmall } from '../agent/heap.ts'
import { ANY_UNIT, findCertainName, openIdentity } from '../agent/identity.ts'
import { Loop, runLoop } from '../agent/loop.ts'
import { LostDirectory } from '../agent/lost-directory.ts'
import { readRuntimesAhead } from '../agent/probe-needs.ts'
import { removeFlag, StatesFlag } from '../agent/states-flag.ts'
import { atMost, Occasion, paceBy, untilOver, Waker } from '../agent/waker.ts'
import { openAdoption } from '../checkpoint/adopt.ts'
import { DurableFiles } from '../checkpoint/files.ts'
import { layoutOf } from '../checkpoint/layout.ts'
import { takeLock } from '../checkpoint/lock.ts'
import { type HeldDirectory, holdDirectory, NodeDisk } from '../checkpoint/node-disk.ts'
import type { OnSetAside } from '../checkpoint/set-aside.ts'
import { makeRequestsDirectory, settleDirectory } from '../checkpoint/settle.ts'
import type { AgentStart } from '../command/agent/command.ts'
import { readRights } from '../command/agent/rights.ts'
import { gatherFindings, logFindings } from '../command/agent/self-check.ts'
import { EXIT, type ExitCode } from '../command/command.ts'
import { wantsColor } from '../command/terminal.ts'
import type { Acceptance } from '../decision/verdict.ts'
import { lookAtSocket } from '../directory/owned-files.ts'
import { watchDirectory } from '../directory/watch-directory.ts'
import { askCluster } from '../evidence/ask-cluster.ts'
import { askRuntime } from '../evidence/ask-runtime.ts'
import { ServingProbe } from '../evidence/serving-probe.ts'
import { askServing, EvidenceWorker } from '../evidence/worker.ts'
import { type Helper, type HelperOptions, HelperProcess } from '../helper/helper-process.ts'
import { isFactsResult, isNothing, isZoneAnswer } from '../helper/protocol.ts'
import type { ClientIdentity } from '../kube/access.ts'
import { listNamedFiles } from '../kube/credentials.ts'
import type { Log } from '../ports/log.ts'
import { type Counters, countRejections } from '../report/counters.ts'
import { type LiveSettings, openLiveSettings } from '../settings/reread-settings.ts'
import { type Settings, toPolicy } from '../settings/settings.ts'
import { RolloutEvents } from '../source/rollout/rollout-events.ts'
import type { AskTimeZone } from '../source/rollout/rollout-time.ts'
import { NoRolloutRecord, RolloutWorker } from '../source/rollout/rollout-worker.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit, UnitState } from '../subject/unit-state.ts'
import { BusSignals } from '../systemd/bus-signals.ts'
import { Heartbeat } from '../systemd/heartbeat.ts'
import { createLog } from '../systemd/journal.ts'
import { chooseFormat } from '../systemd/log-format.ts'
import { Notifier, type Supervision } from '../systemd/notify.ts'
import { openAssignment, openChecks, openReporting, type SharedParts } from './agent-parts.ts'
import type { HelperContext } from './helper.ts'
import { AGENT_VERSION, openKubeApi } from './kube-api.ts'
import { openKubeconfig, openRuntime, openStores, type Programs, type Stores } from './node.ts'

/**
 * By then the agent watches its Node. After another flag V8 no longer takes what is compiled in
 * Node.js: modules of it that are loaded later take 20 ms more.
 */
const LOADED_MS = 1000
/**
 * SIGTERM has to end the agent within 2 s: half of that is for the pass of the loop that is
 * running, half for publishing what is left.
 */
const STOP_LIMIT_MS = 900
/** How often the agent checks that the kubeconfig still belongs to its cluster. */
const REBIND_MS = 60_000
/** Delay of the self-check. It starts programs, and the agent finds its assignment first. */
const SELF_CHECK_MS = 1000
/**
 * How long the first pass of the loop waits until the Node is watched. The pass takes the processor
 * from the requests. Its decisions without their answers, such as a fallback or the end of a
 * restart that a crash cut short, can wait that long.
 */
const CONTACT_MS = 200
/** Limit of a request to the helper that normally takes milliseconds. */
const FACTS_MS = 20_000

interface AgentPrograms extends Programs {
  /** Starts the helper. */
  readonly helperProgram: Pick<HelperOptions, 'command' | 'env'>
  readonly yamlChild: string
}

interface ProcessWorld extends AgentPrograms {
  readonly supervision: Supervision
}

export async function runAgent(start: AgentStart, { supervision, ...programs }: ProcessWorld): Promise<ExitCode> {
  setTimeout(() => keepHeapSmall(), LOADED_MS).unref()
  // For ps and top: Node.js names the first thread of every process `node` or MainThread.
  process.title = ['kubelet-cfg-agent', ...process.argv.slice(2)].join(' ')
  const { dynamicConfigDir } = start.settings
  const log = openLog(start.settings)
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(signal))
  const liveSettings = openLiveSettings(start, log)
  // For all lives: without a listener the signal would end the agent.
  process.on('SIGHUP', () => void liveSettings.reread().catch((error: unknown) => log.error('cannot reread the settings', { error })))
  log.info(`kubelet-cfg-agent ${AGENT_VERSION} starting`, { pid: process.pid })
  const notifier = new Notifier({ ...supervision, log })
  const { clock } = programs
  const heartbeat = new Heartbeat({ clock, watchdogUs: supervision.watchdogUs, send: (message) => notifier.send(message) })
  stop.signal.addEventListener('abort', () => heartbeat.stopping(), { once: true })
  const files = new DurableFiles(new NodeDisk())
  files.makeDirectory(dynamicConfigDir)
  const taken = takeLock(layoutOf(dynamicConfigDir).lock, process.pid)
  if (!taken.ok) {
    log.error(taken.detail)
    return EXIT.failed
  }
  removeFlag(files, dynamicConfigDir, log)
  // Only systemd makes the directory again, and starts the next agent.
  const supervised = supervision.socket === undefined ? undefined : { held: holdDirectory(dynamicConfigDir), end }
  let failed = false
  function end(why: string): void {
    log.error(`ending: ${why}`)
    failed = true
    stop.abort('the directory was removed')
  }
  while (!stop.signal.aborted) {
    const why = await live({ ...programs, liveSettings, heartbeat, log, supervised }, stop.signal)
    if (!stop.signal.aborted) log.warn(`starting over: ${why}`)
  }
  removeFlag(files, dynamicConfigDir, log)
  log.info('stopped; kubelet keeps running unchanged', { signal: String(stop.signal.reason) })
  taken.lock.release()
  await atMost(STOP_LIMIT_MS / 4, notifier.settled())
  return failed ? EXIT.failed : EXIT.fine
}

function openLog(settings: Settings) {
  const { dev, ino } = fstatSync(1)
  const format = chooseFormat(settings.logFormat, process.env.JOURNAL_STREAM, { isTTY: process.stdout.isTTY, dev, ino })
  return createLog({ level: settings.logLevel, format, colours: wantsColor(process.stdout.isTTY, process.env) })
}

interface LifeWorld extends AgentPrograms {
  readonly liveSettings: LiveSettings
  readonly heartbeat: Heartbeat
  /** `end` ends the process. undefined: nothing would start the agent again if it ended. */
  readonly supervised?: { readonly held: HeldDirectory; readonly end: (why: string) => void } | undefined
  readonly log: Log
}

/** Resolves with the reason why it ended. */
export async function live(world: LifeWorld, stop: AbortSignal): Promise<string> {
  const { liveSettings, heartbeat, clock, standIn, yamlChild, supervised, log } = world
  const over = new AbortController()
  stop.addEventListener('abort', () => over.abort(stop.reason), { once: true })
  const { signal } = over
  const waker = new Waker()
  const wake = () => waker.wake()
  const settings = liveSettings.current
  const atStart = settings()
  const uptimeUs = () => process.uptime() * 1e6
  const kubeconfig = openKubeconfig(atStart, log)
  const onSetAside: OnSetAside = ({ path, to, why }) => log.error(`set aside ${path} as ${to}: ${why}`)
  const signals = new BusSignals({ socket: atStart.systemBus, unit: atStart.kubeletUnit, clock, log, onHint: wake })
  const helperContext = (): HelperContext => ({ version: AGENT_VERSION, settings: settings(), standIn, yamlChild })
  const helper = new HelperProcess({ ...world.helperProgram, context: helperContext })
  const stores = openStores(atStart, { ...world, disk: new NodeDisk(), onSetAside, signals })
  settleDirectory(stores, log)
  let kubelet = ANY_UNIT
  const look = async () => {
    // Each pass says what keeps it from being observed.
    kubelet = await stores.unit.observe().catch(() => ANY_UNIT)
  }
  // Without a certificate, only kubelet's flags may say how the node is called.
  if (findCertainName(atStart, kubeconfig) === undefined) await untilOver(look(), stop, STOP_LIMIT_MS)
  if (stop.aborted) return String(stop.reason)
  const identity = openIdentity({ settings: atStart, stores, kubeconfig, kubelet: () => kubelet, hostName: hostname, onSetAside, log })
  const adoption = await openAdoption({ adopt: atStart.adopt, stores, clock, uptimeUs, log })
  const api = atStart.manifestDir === undefined ? openKubeApi(kubeconfig, { userAgent: `kubelet-cfg-agent/${AGENT_VERSION}` }) : undefined
  const { nodeName } = identity
  const common: SharedParts = { settings, stores, nodeName, api, pace: paceBy(clock), log }
  const { counters, history, publisher, reporter, serve } = await openReporting(common)
  const contact = new Occasion()
  signal.addEventListener('abort', contact.happen, { once: true })
  const assignment = openAssignment(common, counters, {
    helper,
    obstacle: () => kubeconfig.problem(),
    onNode: (...seen) => publisher?.nodeObserved(...seen),
    onContact: contact.happen,
    ready: async (stopped) => {
      await kubeconfig.ready(common.pace.sleep, stopped)
      // A kubeconfig that is written later may name another node.
      const change = identity.findChange()
      if (change === undefined) publisher?.start()
      else over.abort(change)
    },
  })
  assignment.start(wake)
  const { runtime, runtimeProbe } = openRuntime(atStart, { clock, log, onChange: wake })
  const { preflight, drain, effect } = openChecks({ ...common, helper, counters, onChange: wake, signal })
  const { dynamicConfigDir: directory, runtimeDir } = atStart
  const lost = supervised && new LostDirectory({ held: supervised.held, directory, runtimeDir, files: stores.files, clock, uptimeUs })
  const accepted = new Map<TrialKey, Acceptance>()
  const evidence = new EvidenceWorker({
    askers: {
      ...askCluster(api, nodeName),
      ...askRuntime(runtime, stores.files),
      serving: askServing(new ServingProbe(api === undefined ? NOBODY : kubeconfig), stores.portHolders, clock),
    },
    ...{ publisher, clock, log, sleep: common.pace.sleep, onChange: wake },
  })
  const rollout = openRollout(common, helper, counters, wake)
  const startOverIf = (why: string | undefined) => {
    if (why !== undefined) over.abort(why)
  }
  const loop = new Loop({
    observation: {
      ...stores,
      ...{ rollout, runtimeProbe, evidence, nodeName, assignment, accepted, preflight, drain },
      unit: lost === undefined ? stores.unit : lost.watch(stores.unit),
      policy: () => toPolicy(settings()),
    },
    effects: {
      ...{ ...stores, preflight, history: countRejections(history, counters), log, accepted },
      statesFlag: new StatesFlag({ ...stores, dynamicConfigDir: directory }),
    },
    observer: {
      decided: (snapshot, step) => {
        const isNews = kubelet.kind === 'unknown' && snapshot.unit.kind === 'known'
        kubelet = snapshot.unit
        if (isNews) startOverIf(identity.findChange())
        reporter.decided(snapshot, step)
        startOverIf(adoption.findOccasion(snapshot.unit))
        // The helper starts while the config is saved.
        if (step.kind === 'assign') warm(helper, snapshot.unit)
        // Once the helper has been asked.
        if (step.kind === 'preflight') setImmediate(readRuntimesAhead, stores, step, snapshot)
        effect?.decided(snapshot)
        preflight.decided(snapshot)
      },
      turned: (...seen) => {
        heartbeat.turned(...seen)
        reporter.turned(...seen)
        const why = lost?.findOccasion()
        if (why !== undefined) supervised?.end(why)
      },
    },
    log,
  })
  liveSettings.onReread(() => {
    accepted.clear()
    wake()
  })
  const rebinding = setInterval(() => startOverIf(identity.findChange()), REBIND_MS)
  if (api !== undefined && !signal.aborted) await atMost(CONTACT_MS, contact.happened)
  const stopServing = serve()
  makeRequestsDirectory(stores, log)
  // Each pass reads them, so that the poll need not wake the loop for nothing.
  const requests = watchDirectory(stores.layout.requests, wake, undefined, () => {})
  signals.start()
  const checked = after(SELF_CHECK_MS, undefined, { signal }).then(
    () => checkSelf(atStart, stores, helper, log).catch((error: unknown) => log.warn('the self-check failed', { error })),
    () => {},
  )
  try {
    await untilOver(runLoop(loop, waker, clock, signal, heartbeat.beatUs), stop, STOP_LIMIT_MS)
  } finally {
    clearInterval(rebinding)
    signals.stop()
    helper.end()
    const ends = [assignment.stop(), rollout.stop(), publisher?.stop(STOP_LIMIT_MS), requests.close(), stopServing(), checked]
    await atMost(STOP_LIMIT_MS, Promise.all(ends))
  }
  return String(signal.reason)
}

/** An agent that follows a directory may have no kubeconfig. */
const NOBODY: ClientIdentity = {
  current: () => ({ kind: 'absent', detail: 'assignments come from a directory: no kubeconfig is used' }),
}

function openRollout(
  { settings, stores, nodeName, api, pace, log }: SharedParts,
  helper: Helper,
  counters: Counters,
  onChange: () => void,
) {
  if (api === undefined) return new NoRolloutRecord()
  const { clock, records: store } = stores
  const isOn = () => settings().publish.includes('rollout-events')
  const events = new RolloutEvents({ nodeName, api, log, wallMs: () => clock.now().wallMs, isOn })
  const askTimeZone: AskTimeZone = (...asked) => helper.ask('timeZone', asked, { check: isZoneAnswer, limitMs: FACTS_MS })
  return new RolloutWorker({ nodeName, api, pace, clock, log, store, askTimeZone, counters, events, onChange })
}

function warm(helper: Helper, unit: UnitState): void {
  const binary = unit.kind === 'known' ? unit.command?.path : undefined
  // The request only starts the helper early. The one that follows reports what is wrong.
  helper.ask('warm', [binary], { check: isNothing, limitMs: FACTS_MS }).catch(() => {})
}

async function checkSelf(settings: Settings, stores: Stores, helper: Helper, log: Log): Promise<void> {
  const findings = await gatherFindings({
    settings,
    unit: stores.unit,
    activation: stores.activation,
    credentialFiles: () => listNamedFiles(settings.kubeconfig),
    rights: readRights,
    vantage: () => ({ kind: 'own' }),
    uid: process.getuid?.() ?? 0,
    nodeFacts: () => helper.ask('facts', [], { check: isFactsResult, limitMs: FACTS_MS }),
    runtimeDoubt: (unit: KnownUnit) => findRuntimeDoubt(stores, unit, lookAtSocket),
  })
  logFindings(findings, log)
}
