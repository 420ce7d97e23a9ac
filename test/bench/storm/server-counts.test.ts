// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { readServerCounts, since, sumOf } from '../../../bench/storm/server-counts.ts'

/** Output of kube-apiserver 1.37, cut to what is read and to what looks like it. */
const METRICS = `# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="nodes",scope="resource",subresource="status",verb="PATCH",version="v1"} 7
apiserver_request_total{code="200",component="apiserver",dry_run="All",group="",resource="nodes",scope="resource",subresource="status",verb="PATCH",version="v1"} 2
apiserver_request_total{code="429",component="apiserver",dry_run="",group="",resource="nodes",scope="resource",subresource="",verb="PATCH",version="v1"} 3
apiserver_longrunning_requests{component="apiserver",group="",resource="nodes",scope="cluster",subresource="",verb="WATCH",version="v1"} 12
apiserver_flowcontrol_rejected_requests_total{flow_schema="system-node-high",priority_level="node-high",reason="queue-full"} 3
apiserver_flowcontrol_rejected_requests_total{flow_schema="system-nodes",priority_level="system",reason="queue-full"} 1
apiserver_flowcontrol_request_wait_duration_seconds_sum{execute="true",flow_schema="system-node-high",priority_level="node-high"} 1.5
apiserver_flowcontrol_request_wait_duration_seconds_sum{execute="false",flow_schema="system-node-high",priority_level="node-high"} 0.5
apiserver_flowcontrol_request_wait_duration_seconds_count{execute="true",flow_schema="system-node-high",priority_level="node-high"} 90
`

t.test('counts requests by what was asked and how it ended', async (t) => {
  const { requests, open, rejected, waitedSeconds } = readServerCounts(METRICS)
  t.same(Object.fromEntries(requests), { 'PATCH nodes/status 200': 9, 'PATCH nodes 429': 3 })
  t.same(Object.fromEntries(open), { nodes: 12 })
  t.same(Object.fromEntries(rejected), { 'node-high: queue-full': 3, 'system: queue-full': 1 })
  t.same(Object.fromEntries(waitedSeconds), { 'node-high': 2 })
  t.equal(
    sumOf(requests, (what) => what.endsWith(' 429')),
    3,
  )
})

t.test('a stretch has what was counted since its beginning', async (t) => {
  const before = readServerCounts(METRICS)
  const after = readServerCounts(METRICS.replace('} 7\n', '} 17\n'))
  t.same(Object.fromEntries(since(before, after).requests), { 'PATCH nodes/status 200': 10 })
  t.same(Object.fromEntries(since(before, after).rejected), {})
  t.same(Object.fromEntries(since(before, after).open), { nodes: 12 })
  t.same(Object.fromEntries(since(undefined, after).requests), { 'PATCH nodes/status 200': 19, 'PATCH nodes 429': 3 })
})
