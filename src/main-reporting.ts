/**
 * What the agent reports about itself: to the API server, to the history on disk, and as metrics.
 */

import { openMetrics } from './main-metrics.ts'
import type { Pace } from './main-pace.ts'
import type { Stores } from './main-stores.ts'
import { VERSION } from './main-version.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import { AcceptedWarnings } from './report/accepted-warnings.ts'
import { FileHistory } from './report/history.ts'
import { LastReportFile } from './report/last-report.ts'
import { Publisher } from './report/publisher.ts'
import { Reporter } from './report/reporter.ts'
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
  const { dynamicConfigDir: directory, runtimeDir } = settings()
  const { files, clock } = stores
  const metrics = await openMetrics(settings())
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
    warnings: new AcceptedWarnings({ files, directory, log }),
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
  return { counters: metrics.counters, history, publisher, reporter, serve: () => metrics.serve(reporter, log) }
}
