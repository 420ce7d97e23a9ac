// SPDX-License-Identifier: Apache-2.0
/**
 * The parts of a running agent: where its assignment comes from, what it reports, and the checks
 * around a change of the config.
 */
import { setTimeout as after } from 'node:timers/promises'
import type { Pace } from '../agent/waker.ts'
import { findBasePath } from '../decision/base-config.ts'
import { readLink } from '../directory/owned-files.ts'
import { watchDirectory } from '../directory/watch-directory.ts'
import { evaluateIn } from '../helper/evaluate-in.ts'
import type { Helper } from '../helper/helper-process.ts'
import { isComparison, isConfigzAnswer, isNothing, isPreflightResult, isReport } from '../helper/protocol.ts'
import { ParsedTexts } from '../kubelet/parsed-texts.ts'
import { mergePart } from '../overlay/merge-part.ts'
import { OverlayDirectory, type OverlayDirectoryDeps } from '../overlay/overlay-directory.ts'
import { readInstanceFile, readOverlayFiles } from '../overlay/overlay-files.ts'
import { OverlaidSource, PartSource } from '../overlay/part-source.ts'
import { INSTANCE_CONFIG, INSTANCE_DIRECTORY, OVERLAY, type PatchSet } from '../overlay/patch-set.ts'
import type { AssignmentSource } from '../ports/assignment-source.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { DrainProbe } from '../ports/probes.ts'
import { AgentPreflight } from '../preflight/agent-preflight.ts'
import { checkFallback } from '../preflight/document.ts'
import { EffectCheck } from '../preflight/effect-check.ts'
import { AcceptedWarnings } from '../report/accepted-warnings.ts'
import { type Counters, NO_COUNTERS } from '../report/counters.ts'
import { FileHistory } from '../report/history.ts'
import { LastReportFile } from '../report/last-report.ts'
import { Publisher } from '../report/publisher.ts'
import { Reporter } from '../report/reporter.ts'
import { ReportServer } from '../report/server.ts'
import { SyncFaults } from '../report/sync-faults.ts'
import { MetricsTextfile } from '../report/textfile.ts'
import { toChangePolicy } from '../settings/preflight-settings.ts'
import type { Settings } from '../settings/settings.ts'
import { toChannelSettings } from '../settings/source-settings.ts'
import { ClusterSource, type ClusterSourceDeps } from '../source/cluster-source.ts'
import { DirectorySource } from '../source/directory-source.ts'
import { NodeDrain } from '../source/drain.ts'
import { NodeExclusives } from '../source/exclusives.ts'
import { AGENT_VERSION } from './kube-api.ts'
import type { Stores } from './node.ts'

/** The things that the parts of an agent have in common. */
export interface SharedParts {
  /** Some of them change while the agent runs. */
  readonly settings: () => Settings
  readonly stores: Stores
  readonly nodeName: string
  /** undefined: assignments come from a directory, and nobody is told anything. */
  readonly api: KubeApi | undefined
  readonly pace: Pace
  readonly log: Log
}

/** The Node of this agent, as the source of its assignment needs it. */
type NodeHooks = Pick<ClusterSourceDeps, 'obstacle' | 'onNode' | 'onContact' | 'ready'>

interface AssignmentHooks extends NodeHooks {
  readonly helper: Helper
}

/** The assignment with what this node merges into it. */
export function openAssignment(world: SharedParts, counters: Counters, { helper, ...hooks }: AssignmentHooks): AssignmentSource {
  const { api, pace, log, stores, settings, nodeName } = world
  const { yaml, owned, files } = stores
  const channels = toChannelSettings(settings())
  const synced = () => counters.synced(Date.now())
  // A later look may work: the agent's package may be in the middle of an upgrade.
  const onFault = (error: unknown) => log.error('cannot parse the assigned config now; trying again at the next poll', { error })
  const manifests = new ParsedTexts((text) => yaml.all(text), onFault)
  const configs = new ParsedTexts((text) => yaml.first(text), onFault)
  const assigned =
    api === undefined
      ? new DirectorySource({
          path: settings().manifestDir ?? '',
          files: owned,
          parse: (text, onParsed) => manifests.look(text, onParsed),
          watch: watchDirectory,
          counters: { synced },
          ...{ nodeName, channels, pace, log },
        })
      : new ClusterSource({
          counters: { watchReconnected: () => counters.watchReconnected(), synced },
          ...{ nodeName, api, channels, pace, log, ...hooks },
        })
  const patched = (inner: AssignmentSource, patches: PatchSet, directory: string, read: OverlayDirectoryDeps['read']) => {
    const parseConfig: OverlayDirectoryDeps['parseConfig'] = (text, onParsed) => configs.look(text, onParsed)
    const overlay = new OverlayDirectory({ directory, read, yaml, parseConfig, watch: watchDirectory, pace, patches, log })
    return new OverlaidSource(inner, overlay, log, patches)
  }
  const whole = new PartSource(assigned, {
    merge: (bases, data, key, node, signal) =>
      mergePart(bases, data, key, yaml, node && evaluateIn(helper, node, { nowMs: pace.nowMs, signal })),
    ...{ pace, log },
  })
  const { overlayDir } = settings()
  const overlaid = overlayDir === undefined ? whole : patched(whole, OVERLAY, overlayDir, (path) => readOverlayFiles(path, owned))
  // Last, as kubeadm does.
  return patched(overlaid, INSTANCE_CONFIG, INSTANCE_DIRECTORY, (path) => readInstanceFile(path, owned, files, readLink))
}

/** The reports of the agent: to the API server, to the history on disk, and as metrics. */
export async function openReporting({ settings, stores, nodeName, api, pace, log }: SharedParts) {
  const { dynamicConfigDir: directory, runtimeDir, metricsAddress: address, metricsTextfile: path } = settings()
  const { files, clock } = stores
  // Metrics cost memory, so they are loaded only where somebody gets them.
  const isMeasured = address !== undefined || path !== undefined
  const metrics = isMeasured ? new (await import('../report/metrics.ts')).Metrics({ version: AGENT_VERSION }) : undefined
  const counters: Counters = metrics?.counters ?? NO_COUNTERS
  const history: FileHistory = new FileHistory({ files, directory, clock, log, onAppend: () => publisher?.historyAppended() })
  const publisher =
    api &&
    new Publisher({
      ...{ api, nodeName, clock, log, random: pace.random, files, directory, history, sleep: pace.sleep },
      publications: () => settings().publish,
    })
  const lastReport = new LastReportFile({ files, runtimeDir, nodeName, pid: process.pid, clock, log })
  const reporter = new Reporter({
    clock,
    log,
    counters,
    agentVersion: AGENT_VERSION,
    syncFaults: new SyncFaults((transition) => history.append(transition), history.after('0')),
    warnings: new AcceptedWarnings({ files, directory, log }),
    publish: (status, trial, summary) => {
      publisher?.publish(status, summary)
      metrics?.report(status, trial, summary?.condition)
      if (summary !== undefined) lastReport.write(summary.condition, status.cause ?? status.error)
    },
    publishCondition: (condition) => {
      publisher?.publishCondition(condition)
      metrics?.reportCondition(condition)
      lastReport.write(condition)
    },
  })
  const isAlive = () => reporter.isAlive()
  const isReady = () => reporter.isReady()
  const servers = [
    metrics && address && new ReportServer({ address, render: () => metrics.render(), isAlive, isReady, log }),
    metrics && path !== undefined ? new MetricsTextfile({ path, render: () => metrics.renderOwn(), log }) : undefined,
  ].filter((server) => server !== undefined)
  /** Starts to answer scrapes and probes, and to write the file. Returns how to stop. */
  const serve = () => {
    for (const server of servers) server.start()
    return () => Promise.all(servers.map((server) => server.stop()))
  }
  return { counters, history, publisher, reporter, serve }
}

/** More than all stages of kubelet may take together. */
const CHECK_MS = 120_000
/** A fallback is decoded, at most with the limits of YAML. */
const FALLBACK_MS = 30_000
const CONFIGZ_MS = 30_000

interface ChecksWorld extends SharedParts {
  readonly helper: Helper
  readonly counters: Pick<Counters, 'checked' | 'compared'>
  /** Called when a check has a new result. */
  readonly onChange: () => void
  /** The agent ends. */
  readonly signal: AbortSignal
}

/**
 * Preflight before a change, draining where a field requires it, and afterwards a comparison with
 * the config that kubelet reports. The helper has the rules.
 */
export function openChecks({ settings, stores, helper, nodeName, api, counters, log, onChange, signal }: ChecksWorld) {
  const { clock } = stores
  const preflight = new AgentPreflight({
    inspect: (candidate, ended) => helper.ask('check', [candidate], { check: isReport, limitMs: CHECK_MS, signal: ended }),
    // A fallback is not held up by a helper that fails: the agent itself decodes it.
    decode: (candidate) =>
      helper
        .ask('fallback', [candidate], { check: isPreflightResult, limitMs: FALLBACK_MS, signal })
        .catch(() => checkFallback(candidate, stores.yaml, async () => [])),
    settings: () => [toChangePolicy(settings()), settings().guardsOff, settings().preflight, settings().unknownFields],
    forget: () => void helper.ask('forget', [], { check: isNothing, limitMs: CHECK_MS, signal }).catch(() => {}),
    onDone: onChange,
    onTimed: (seconds) => counters.checked(seconds),
    clock,
    signal,
    sleep: (ms) => after(ms, undefined, { ref: false }),
  })
  const drain = openDrain({ api, files: stores.files, nodeName, clock, onChange, random: Math.random })
  const effect =
    api &&
    new EffectCheck({
      ask: (unit) => helper.ask('configz', [unit], { check: isConfigzAnswer, limitMs: CONFIGZ_MS, signal }),
      compare: (...seen) => helper.ask('compare', seen, { check: isComparison, limitMs: CONFIGZ_MS, signal }),
      findPath: (unit, snapshot) => findBasePath(stores.checkpoints, unit, snapshot),
      onCompared: (differences) => counters.compared(differences),
      log,
      clock,
    })
  return { preflight, drain, effect }
}

/** Without an API server, nobody knows whether the node is drained. */
function openDrain(parts: ConstructorParameters<typeof NodeExclusives>[0]): DrainProbe {
  const exclusives = new NodeExclusives(parts)
  const drain = parts.api && new NodeDrain({ ...parts, api: parts.api })
  return { isDrained: () => drain?.isDrained(), findExclusives: (...asked) => exclusives.find(...asked) }
}
