// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { readGauges } from '../../../bench/fleet/gauges.ts'

const gauge = (resource: string, scope: string, verb: string, count: number): string =>
  `apiserver_longrunning_gauge{component="apiserver",group="",resource="${resource}",scope="${scope}",subresource="",verb="${verb}",version="v1"} ${count}\n`

/** Output of kube-apiserver 1.20.2: a watch of one Node is a GET. */
const METRICS =
  '# HELP go_goroutines Number of goroutines that currently exist.\n# TYPE go_goroutines gauge\ngo_goroutines 1234\n' +
  'go_memstats_heap_alloc_bytes 1.5e+08\ngo_memstats_heap_alloc_bytes_total 9\ngo_memstats_stack_inuse_bytes 2.097152e+06\n' +
  gauge('configmaps', 'namespace', 'WATCH', 6) +
  gauge('nodes', 'cluster', 'WATCH', 1) +
  gauge('nodes', 'resource', 'GET', 5) +
  'apiserver_longrunning_gauge{component="apiserver",group="",resource="nodes",scope="resource",subresource="proxy",verb="GET",version="v1"} 7\n'

t.test('parses memory and open watches', async (t) => {
  t.same(readGauges(METRICS), {
    liveHeapBytes: 150_000_000,
    stackBytes: 2_097_152,
    goroutines: 1234,
    watches: { nodes: 6, configmaps: 6 },
  })
})

t.test('a missing metric is NaN, or no watches', async (t) => {
  t.same(readGauges(''), {
    liveHeapBytes: Number.NaN,
    stackBytes: Number.NaN,
    goroutines: Number.NaN,
    watches: { nodes: 0, configmaps: 0 },
  })
})
