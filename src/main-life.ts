/**
 * One life of the agent: from opening the state of this node until the agent is told to stop, or
 * until that state turns out to belong to another node or cluster and everything starts over. Opens
 * the parts that the loop works with.
 */
import { setTimeout as after } from 'node:timers/promises'
import { Loop, runLoop } from './agent/loop.ts'
import { LostDirectory } from './agent/lost-directory.ts'
import { readRuntimesAhead } from './agent/probe-needs.ts'
import { Waker } from './agent/waker.ts'
import type { HeldDirectory } from './checkpoint/node-disk.ts'
import { NodeDisk } from './checkpoint/node-disk.ts'
import type { OnSetAside } from './checkpoint/set-aside.ts'
import { readRights } from './command/agent/rights.ts'
import { gatherFindings, logFindings } from './command/agent/self-check.ts'
import type { TrialKey } from './decision/trial-key.ts'
import type { KnownUnit, UnitState } from './decision/unit-state.ts'
import type { Acceptance } from './decision/verdict.ts'
import { watchDirectory } from './directory/watch-directory.ts'
import { type Helper, type HelperOptions, HelperProcess } from './helper/helper-process.ts'
import { isFactsResult, isNothing } from './helper/protocol.ts'
import { listNamedFiles, readKubeconfig } from './kube/credentials.ts'
import { KubeconfigFile } from './kube/kubeconfig.ts'
import type { YamlReader } from './kubelet/yaml-document.ts'
import { openAdoption } from './main-adoption.ts'
import { openAssignment } from './main-assignment.ts'
import { openEvidence } from './main-evidence.ts'
import type { HelperContext } from './main-helper.ts'
import { openIdentity } from './main-identity.ts'
import { openKubeApi } from './main-kube-api.ts'
import { atMost, paceBy, STOP_LIMIT_MS } from './main-pace.ts'
import { openPreflight } from './main-preflight.ts'
import { openReporting } from './main-reporting.ts'
import { openRollout } from './main-rollout.ts'
import { findRuntimeDoubt, openRuntime } from './main-runtime.ts'
import type { LiveSettings } from './main-settings.ts'
import { openStores, type Stores, settleStores } from './main-stores.ts'
import { VERSION } from './main-version.ts'
import type { Clock } from './ports/clock.ts'
import type { Log } from './ports/log.ts'
import type { Unit } from './ports/unit.ts'
import { countRejections } from './report/counters.ts'
import { type Settings, toPolicy } from './settings/settings.ts'
import { BusSignals } from './systemd/bus-signals.ts'
import type { Heartbeat } from './systemd/heartbeat.ts'
import { Occasion } from './values/occasion.ts'

/** How often the agent checks that the kubeconfig still belongs to its cluster. */
const REBIND_MS = 60_000
/** Delay of the self-check. It starts programs, and the agent finds its assignment first. */
const SELF_CHECK_MS = 1000
/**
 * How long the first pass of the loop waits until the Node is watched. It takes the processor from
 * the requests. What it decides without their answers, such as a fallback or the end of a restart
 * that a crash cut short, can wait that long.
 */
const CONTACT_MS = 200
/** Limit of a request to the helper that normally takes milliseconds. */
const FACTS_MS = 20_000

export interface LifeWorld {
  readonly liveSettings: LiveSettings
  readonly heartbeat: Heartbeat
  readonly clock: Clock
  readonly yaml: YamlReader
  readonly besideDocker: readonly string[]
  /** Starts the helper. */
  readonly helperProgram: Pick<HelperOptions, 'command' | 'env'>
  readonly yamlChild: string
  /** undefined: nothing would start the agent again if it ended. */
  readonly supervised?: Supervised | undefined
  readonly log: Log
}

interface Supervised {
  /** The agent's directory. */
  readonly held: HeldDirectory
  /** Ends the process. */
  readonly end: (why: string) => void
}

/** Resolves with the reason why it ended. */
export async function live(world: LifeWorld, stop: AbortSignal): Promise<string> {
  const { liveSettings, heartbeat, clock, yaml, besideDocker, yamlChild, log } = world
  const over = new AbortController()
  stop.addEventListener('abort', () => over.abort(stop.reason), { once: true })
  const { signal } = over
  const waker = new Waker()
  const wake = () => waker.wake()
  const settings = liveSettings.current
  const atStart = settings()
  const pace = paceBy(clock)

  const kubeconfig = new KubeconfigFile(atStart.kubeconfig, (path) => readKubeconfig(path, Date.now), log)
  const onSetAside: OnSetAside = ({ path, to, why }) => log.error(`set aside ${path} as ${to}: ${why}`)
  const signals = new BusSignals({ socket: atStart.systemBus, unit: atStart.kubeletUnit, clock, log, onHint: wake })
  const context = (): HelperContext => ({ version: VERSION, settings: settings(), besideDocker, yamlChild })
  const helper = new HelperProcess({ ...world.helperProgram, context })
  const stores = openStores(atStart, { disk: new NodeDisk(), clock, yaml, besideDocker, log, onSetAside, signals })
  settleStores(stores, log)
  const identity = openIdentity({ settings: atStart, stores, kubeconfig, onSetAside, log })
  const { nodeName } = identity
  const adoption = await openAdoption({ settings: atStart, stores, clock, uptimeUs: () => process.uptime() * 1e6, log })
  const usesApi = atStart.manifestDir === undefined
  const api = usesApi ? openKubeApi(kubeconfig, { userAgent: `kubelet-cfg-agent/${VERSION}` }) : undefined
  const common = { settings, stores, nodeName, api, pace, log }
  const { counters, history, publisher, reporter, serve } = await openReporting(common)
  const onChangeOfIdentity = (why: string) => over.abort(why)
  const contact = new Occasion()
  signal.addEventListener('abort', contact.happen, { once: true })
  const assignmentWorld = { ...common, identity, kubeconfig, publisher, counters, onChangeOfIdentity, onContact: contact.happen }
  const assignment = openAssignment(assignmentWorld)
  assignment.start(wake)
  const { runtime, runtimeProbe } = openRuntime({ settings: atStart, clock, log, onChange: wake })
  const { preflight, drain, effect } = openPreflight({ ...common, helper, counters, onChange: wake, signal })
  const lost = openLostDirectory(world, atStart, stores)
  const accepted = new Map<TrialKey, Acceptance>()
  const evidence = openEvidence({ ...common, kubeconfig, publisher, runtime, onChange: wake })
  const rollout = openRollout({ ...common, counters, onChange: wake })
  const loop = new Loop({
    observation: {
      ...stores,
      unit: lost === undefined ? stores.unit : watchDirectoryOf(stores.unit, lost),
      rollout,
      runtimeProbe,
      evidence,
      nodeName,
      policy: () => toPolicy(settings()),
      assignment,
      accepted,
      preflight,
      drain,
    },
    effects: { ...stores, preflight, history: countRejections(history, counters), log, accepted },
    observer: {
      decided: (snapshot, step) => {
        reporter.decided(snapshot, step)
        const occasion = adoption.findOccasion(snapshot.unit)
        if (occasion !== undefined) over.abort(occasion)
        // It starts while the config is saved.
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
        if (why !== undefined) world.supervised?.end(why)
      },
    },
    log,
  })

  liveSettings.onReread(() => {
    accepted.clear()
    wake()
  })
  const rebinding = setInterval(() => {
    const change = identity.findChange()
    if (change !== undefined) over.abort(change)
  }, REBIND_MS)
  if (usesApi && !signal.aborted) await atMost(CONTACT_MS, contact.happened)
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
    await untilOver(runLoop(loop, waker, clock, signal, heartbeat.beatUs), stop)
  } finally {
    clearInterval(rebinding)
    signals.stop()
    helper.end()
    const ends = [assignment.stop(), rollout.stop(), publisher?.stop(STOP_LIMIT_MS), requests.close(), stopServing(), checked]
    await atMost(STOP_LIMIT_MS, Promise.all(ends))
  }
  return String(signal.reason)
}

function openLostDirectory({ supervised, clock }: LifeWorld, settings: Settings, { files }: Stores): LostDirectory | undefined {
  const { dynamicConfigDir: directory, runtimeDir } = settings
  return (
    supervised && new LostDirectory({ held: supervised.held, directory, runtimeDir, files, clock, uptimeUs: () => process.uptime() * 1e6 })
  )
}

function watchDirectoryOf(unit: Stores['unit'], lost: LostDirectory): Pick<Unit, 'observe' | 'stillRuns'> {
  return {
    observe: async () => lost.explain(await unit.observe()),
    stillRuns: (seen) => lost.explain(seen).kind === 'known' && unit.stillRuns(seen),
  }
}

/** Commands leave their requests in it. */
function makeRequestsDirectory({ files, layout }: Stores, log: Log): void {
  try {
    files.makeDirectory(layout.requests)
  } catch (error) {
    log.warn('cannot create the directory for requests of the command line', { error })
  }
}

function warm(helper: Helper, unit: UnitState): void {
  const binary = unit.kind === 'known' ? unit.command?.path : undefined
  // This only starts it early. The request that follows reports what is wrong.
  helper.ask('warm', [binary], { check: isNothing, limitMs: FACTS_MS }).catch(() => {})
}

async function checkSelf(settings: Settings, stores: Stores, helper: Helper, log: Log): Promise<void> {
  const { unit, activation } = stores
  const nodeFacts = () => helper.ask('facts', [], { check: isFactsResult, limitMs: FACTS_MS })
  const uid = process.getuid?.() ?? 0
  const credentialFiles = () => listNamedFiles(settings.kubeconfig)
  const sources = {
    settings,
    unit,
    activation,
    credentialFiles,
    rights: readRights,
    vantage: () => ({ kind: 'own' }) as const,
    uid,
    nodeFacts,
    runtimeDoubt: (unit: KnownUnit) => findRuntimeDoubt(stores, unit),
  }
  logFindings(await gatherFindings(sources), log)
}

/**
 * A pass of the loop may be waiting for systemd or kubelet when the agent has to stop. It changes
 * files synchronously, so it can be abandoned at any of its waits, but only where the process ends:
 * where the agent starts over, it would go on later, and change the state of another node or
 * cluster.
 *
 * @param stop aborts when the process has to end
 */
async function untilOver(work: Promise<void>, stop: AbortSignal): Promise<void> {
  const limit = new Promise<void>((resolve) => stop.addEventListener('abort', () => setTimeout(resolve, STOP_LIMIT_MS), { once: true }))
  await Promise.race([work, limit])
}
