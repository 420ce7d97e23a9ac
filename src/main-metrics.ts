/**
 * The metrics, and the two ways in which others get them: over HTTP, and as a file. They cost
 * memory, so they are loaded only where one of the two is switched on.
 */
import { VERSION } from './main-version.ts'
import type { Log } from './ports/log.ts'
import { type Counters, NO_COUNTERS } from './report/counters.ts'
import type { Condition } from './report/reasons.ts'
import { type ProbeResult, ReportServer } from './report/server.ts'
import type { ConfigStatus } from './report/status.ts'
import { MetricsTextfile } from './report/textfile.ts'
import type { TrialReport } from './report/trial-report.ts'
import type { Settings } from './settings/settings.ts'

export interface OpenMetrics {
  readonly counters: Counters
  report(status: ConfigStatus, trial: TrialReport, condition: Condition | undefined): void
  reportCondition(condition: Condition): void
  /** Starts to answer scrapes and probes, and to write the file. Returns how to stop. */
  serve(probes: Probes, log: Log): () => Promise<void>
}

interface Probes {
  isAlive(): ProbeResult
  isReady(): ProbeResult
}

const OFF: OpenMetrics = { counters: NO_COUNTERS, report: () => {}, reportCondition: () => {}, serve: () => async () => {} }

export async function openMetrics({
  metricsAddress: address,
  metricsTextfile: path,
}: Pick<Settings, 'metricsAddress' | 'metricsTextfile'>): Promise<OpenMetrics> {
  if (address === undefined && path === undefined) return OFF
  const { Metrics } = await import('./report/metrics.ts')
  const metrics = new Metrics({ version: VERSION })
  return {
    counters: metrics.counters,
    report: (...seen) => metrics.report(...seen),
    reportCondition: (condition) => metrics.reportCondition(condition),
    serve(probes, log) {
      const parts = [
        address &&
          new ReportServer({
            address,
            render: () => metrics.render(),
            isAlive: () => probes.isAlive(),
            isReady: () => probes.isReady(),
            log,
          }),
        path === undefined ? undefined : new MetricsTextfile({ path, render: () => metrics.renderOwn(), log }),
      ].filter((part) => part !== undefined)
      for (const part of parts) part.start()
      return async () => void (await Promise.all(parts.map((part) => part.stop())))
    },
  }
}
