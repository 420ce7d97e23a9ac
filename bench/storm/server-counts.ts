// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the metrics of kube-apiserver (Prometheus' text format): its requests, and what API
 * Priority and Fairness made of them. Pure.
 */

/** What a sample counts, as `PATCH nodes/status 200`, and how many. */
type Counts = ReadonlyMap<string, number>

export interface ServerCounts {
  /** `VERB resource[/subresource] CODE`; a watch counts once it has ended. */
  readonly requests: Counts
  /** `resource`: the watches that are open. */
  readonly open: Counts
  /** `level: reason`, of those that got a 429. */
  readonly rejected: Counts
  /** `level`: seconds in which requests waited for a seat. */
  readonly waitedSeconds: Counts
}

type Labels = (name: string) => string

export function readServerCounts(metrics: string): ServerCounts {
  return {
    requests: collect(metrics, 'apiserver_request_total', (label) => {
      const subresource = label('subresource')
      return `${label('verb')} ${label('resource')}${subresource === '' ? '' : `/${subresource}`} ${label('code')}`
    }),
    open: collect(metrics, 'apiserver_longrunning_requests', (label) => label('resource')),
    rejected: collect(
      metrics,
      'apiserver_flowcontrol_rejected_requests_total',
      (label) => `${label('priority_level')}: ${label('reason')}`,
    ),
    waitedSeconds: collect(metrics, 'apiserver_flowcontrol_request_wait_duration_seconds_sum', (label) => label('priority_level')),
  }
}

/** What has been counted since; after a restart of the server, all of it. */
export function since(before: ServerCounts | undefined, after: ServerCounts): ServerCounts {
  const grown = (which: Exclude<keyof ServerCounts, 'open'>): Counts =>
    new Map(
      [...after[which]].map(([what, count]) => [what, count - (before?.[which].get(what) ?? 0)] as const).filter(([, count]) => count > 0),
    )
  return { open: after.open, requests: grown('requests'), rejected: grown('rejected'), waitedSeconds: grown('waitedSeconds') }
}

export function sumOf(counts: Counts, selects: (what: string) => boolean): number {
  return [...counts].reduce((sum, [what, count]) => sum + (selects(what) ? count : 0), 0)
}

function collect(metrics: string, name: string, keyOf: (label: Labels) => string): Counts {
  const counts = new Map<string, number>()
  for (const line of metrics.split('\n')) {
    if (!line.startsWith(`${name}{`)) continue
    const label: Labels = (wanted) => new RegExp(`[{,]${wanted}="([^"]*)"`).exec(line)?.[1] ?? ''
    const key = keyOf(label)
    counts.set(key, (counts.get(key) ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1)))
  }
  return counts
}
