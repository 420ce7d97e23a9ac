/**
 * What the agent reports about itself: to the API server, to the history on disk, and as metrics.
 * The metrics cost memory, so they are loaded only when an address for them is configured.
 */

import type { Pace } from './main-pace.ts'
import type { Stores } from './main-stores.ts'
import { VERSION } from './main-version.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import type { Condition } from './report/condition.ts'
import { type Counters, NO_COUNTERS } from './report/counters.ts'
import { FileHistory } from './report/history.ts'
import { LastReportFile } from './report/last-report.ts'
import { Publisher } from './report/publisher.ts'
import { Reporter } from './report/reporter.ts'
import { ReportServer } from './report/server.ts'
import type { TrialReport } from './report/shown-evidence.ts'
import type { ConfigStatus } from './report/status.ts'
import { SyncFaults } from './report/sync-faults.ts'
import type { Settings } from './settings/settings.ts'

export interface ReportingWorld {
  readonly settings: () => Settings
  readonly stores: Stores
  readonly nodeName: string
  /** undefined: assignments come from a directory, and nothing is published. */
  readonly api: KubeApi | undefined
  readonly pace: Pace
  readonly log: Log
}

export async function openReporting({ settings, stores, nodeName, api, pace, log }: ReportingWorld) {
  const { metricsAddress, dynamicConfigDir: directory, runtimeDir } = settings()
  const { files, clock } = stores
  const metrics = await openMetrics(metricsAddress)
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
    counters: metrics.counters,
    agentVersion: VERSION,
    syncFaults: new SyncFaults((transition) => history.append(transition), history.after('0')),
    publish: (status, trial, summary) => {
      publisher?.publish(status, summary)
      metrics.report(status, trial, summary?.condition)
      if (summary !== undefined) lastReport.write(summary.condition, status.cause ?? status.error)
    },
    publishCondition: (condition) => {
      publisher?.publishCondition(condition)
      metrics.reportCondition(condition)
      lastReport.write(condition)
    },
  })
  const stopServing = metrics.serve(reporter, log)
  return { counters: metrics.counters, history, publisher, reporter, stopServing }
}

interface OpenMetrics {
  readonly counters: Counters
  report(status: ConfigStatus, trial: TrialReport, condition: Condition | undefined): void
  reportCondition(condition: Condition): void
  /** Starts to answer scrapes and probes. Returns how to stop. */
  serve(reporter: Reporter, log: Log): () => Promise<void>
}

async function openMetrics(address: Settings['metricsAddress']): Promise<OpenMetrics> {
  if (address === undefined) return { counters: NO_COUNTERS, report: () => {}, reportCondition: () => {}, serve: () => async () => {} }
  const { Metrics } = await import('./report/metrics.ts')
  const metrics = new Metrics({ version: VERSION })
  return {
    counters: metrics,
    report: (...seen) => metrics.report(...seen),
    reportCondition: (condition) => metrics.reportCondition(condition),
    serve(reporter, log) {
      const server = new ReportServer({
        address,
        render: () => metrics.render(),
        isAlive: () => reporter.isAlive(),
        isReady: () => reporter.isReady(),
        log,
      })
      server.start()
      return () => server.stop()
    },
  }
}
