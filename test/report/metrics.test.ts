// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Counters } from '../../src/report/counters.ts'
import { NO_COUNTERS } from '../../src/report/counters.ts'
import { Metrics } from '../../src/report/metrics.ts'
import { source } from './build.ts'

const lines = async (metrics: Metrics) => (await metrics.render()).body.split('\n').filter((line) => line !== '')
const series = async (metrics: Metrics, name: string) => (await lines(metrics)).filter((line) => line.startsWith(name))

t.test("upstream's gauges with their names and labels; a new source replaces the series", async (t) => {
  const metrics = new Metrics({ version: '1.2.3' })
  t.same(await series(metrics, 'kubelet_node_config_active'), [], 'no series before the source is known')
  metrics.report({ active: 'local', assigned: 'local', lastKnownGood: 'local', error: '' }, { remainingSeconds: 0, evidence: {} })
  const local = 'node_config_source="local",node_config_uid="",node_config_resource_version="",node_config_kubelet_key=""'
  for (const name of ['assigned', 'active', 'last_known_good']) {
    t.same(await series(metrics, `kubelet_node_config_${name}`), [`kubelet_node_config_${name}{${local}} 1`])
  }
  t.same(await series(metrics, 'kubelet_node_config_error'), ['kubelet_node_config_error 0'])
  metrics.report(
    { active: source('1'), assigned: source('2'), lastKnownGood: source('1'), error: 'failed' },
    { remainingSeconds: 0, evidence: { process: 'yes', lease: 'unknown' } },
  )
  metrics.report(
    { active: undefined, assigned: source('2'), lastKnownGood: source('1'), error: 'failed' },
    { remainingSeconds: 12.5, evidence: { process: 'yes', lease: 'yes' } },
  )
  t.same(await series(metrics, 'kubelet_node_config_active'), [
    'kubelet_node_config_active{node_config_source="/api/v1/namespaces/kube-system/configmaps/my-node-config",node_config_uid="uid-1",node_config_resource_version="1",node_config_kubelet_key="kubelet"} 1',
  ])
  t.same(await series(metrics, 'kubelet_node_config_error'), ['kubelet_node_config_error 1'])
  t.same(await series(metrics, 'kubelet_cfg_agent_trial_remaining_seconds'), ['kubelet_cfg_agent_trial_remaining_seconds 12.5'])
})

t.test("the agent's own metrics", async (t) => {
  const metrics = new Metrics({ version: '1.2.3' })
  const counters: Counters = metrics.counters
  counters.restarted()
  counters.restarted()
  counters.rolledBack('crash-loop')
  counters.rejected()
  counters.watchReconnected()
  counters.synced(1_700_000_000_500)
  counters.applied(3)
  counters.trialPassed(601)
  counters.checked(4)
  counters.compared(2)
  const all = await lines(metrics)
  for (const expected of [
    'kubelet_cfg_agent_kubelet_restarts_total 2',
    'kubelet_cfg_agent_rollbacks_total{reason="crash-loop"} 1',
    'kubelet_cfg_agent_rollbacks_total{reason="ill-health"} 0',
    'kubelet_cfg_agent_rejected_configs_total 1',
    'kubelet_cfg_agent_watch_reconnects_total 1',
    'kubelet_cfg_agent_last_successful_sync_timestamp_seconds 1700000000.5',
    'kubelet_cfg_agent_apply_duration_seconds_bucket{le="2"} 0',
    'kubelet_cfg_agent_apply_duration_seconds_bucket{le="5"} 1',
    'kubelet_cfg_agent_trial_duration_seconds_bucket{le="600"} 0',
    'kubelet_cfg_agent_trial_duration_seconds_bucket{le="660"} 1',
    'kubelet_cfg_agent_preflight_duration_seconds_bucket{le="2"} 0',
    'kubelet_cfg_agent_preflight_duration_seconds_bucket{le="5"} 1',
    'kubelet_cfg_agent_config_differences 2',
    `kubelet_cfg_agent_build_info{version="1.2.3",nodejs_version="${process.versions.node}"} 1`,
  ]) {
    t.ok(all.includes(expected), expected)
  }
  for (const counter of Object.values(NO_COUNTERS)) t.doesNotThrow(() => counter(1))
})

t.test('process metrics are read when scraped', async (t) => {
  const metrics = new Metrics({ version: '1.2.3' })
  const value = async (name: string) => Number((await series(metrics, name))[0]?.split(' ')[1])
  t.ok((await value('process_resident_memory_bytes')) > 10e6)
  t.ok(Math.abs((await value('process_start_time_seconds')) - (Date.now() / 1000 - process.uptime())) < 5)
  const before = await value('process_cpu_seconds_total')
  while (process.cpuUsage().user / 1e6 < before + 0.01);
  t.ok((await value('process_cpu_seconds_total')) > before)
  const body = (await lines(metrics)).join()
  t.notMatch(body, 'eventloop')
})

t.test('two agents in one process (a test, the demo) do not share metrics', async (t) => {
  const [one, other] = [new Metrics({ version: '1' }), new Metrics({ version: '1' })]
  one.counters.restarted()
  t.same(await series(other, 'kubelet_cfg_agent_kubelet_restarts_total'), ['kubelet_cfg_agent_kubelet_restarts_total 0'])
})

t.test("the rules of promtool's linter", async (t) => {
  const metrics = new Metrics({ version: '1' })
  const body = await lines(metrics)
  const types = body.flatMap((line) => /^# TYPE (\S+) (\S+)$/.exec(line)?.slice(1, 3) ?? [])
  t.ok(types.length > 20)
  for (let index = 0; index < types.length; index += 2) {
    const [name, type] = [types[index] ?? '', types[index + 1] ?? '']
    t.match(name, /^[a-z][a-z0-9_]*$/)
    t.equal(name.endsWith('_total'), type === 'counter', `${name}: _total is for counters`)
    t.notMatch(
      name,
      /_(milliseconds|ms|minutes|hours|kilobytes|count|sum|bucket|gauge|counter|histogram)$/,
      'base units, no reserved endings, no type',
    )
    t.ok(
      body.some((line) => line.startsWith(`# HELP ${name} `) && line.length > `# HELP ${name} `.length + 10),
      `${name} has a help text`,
    )
  }
})

t.test('the turn in a rollout: one series, and none without a rollout', async (t) => {
  const metrics = new Metrics({ version: '1.2.3' })
  // Counters are there from the start.
  const counted = await series(metrics, 'kubelet_cfg_agent_rollout_')
  t.same(counted.sort(), [
    'kubelet_cfg_agent_rollout_conflicts_total 0',
    ...['advance', 'begin', 'claim', 'proof', 'veto'].map((kind) => `kubelet_cfg_agent_rollout_writes_total{kind="${kind}"} 0`),
  ])
  const gauges = async () => (await series(metrics, 'kubelet_cfg_agent_rollout_')).filter((line) => !counted.includes(line)).sort()
  const status = { active: 'local', assigned: 'local', lastKnownGood: 'local', error: '' } as const
  for (const turn of ['wait', 'halted'] as const) {
    metrics.report(status, { remainingSeconds: 0, evidence: {}, rollout: { config: 'kube-system/a', turn, progress: undefined } })
    t.same(await gauges(), [`kubelet_cfg_agent_rollout_turn{config="kube-system/a",turn="${turn}"} 1`])
  }
  const progress = { stage: 2, lastStage: 5, proofs: 3 }
  metrics.report(status, { remainingSeconds: 0, evidence: {}, rollout: { config: 'kube-system/b', turn: 'go', progress } })
  t.same(await gauges(), [
    'kubelet_cfg_agent_rollout_last_stage{config="kube-system/b"} 5',
    'kubelet_cfg_agent_rollout_proofs{config="kube-system/b"} 3',
    'kubelet_cfg_agent_rollout_stage{config="kube-system/b"} 2',
    'kubelet_cfg_agent_rollout_turn{config="kube-system/b",turn="go"} 1',
  ])
  metrics.report(status, { remainingSeconds: 0, evidence: {} })
  t.same(await gauges(), [])
})

t.test('the conditions: one series each, and the last one stays while there is none', async (t) => {
  const metrics = new Metrics({ version: '1.2.3' })
  const status = { active: 'local', assigned: 'local', lastKnownGood: 'local', error: '' } as const
  const trial = { remainingSeconds: 0, evidence: {} }
  const conditions = () => series(metrics, 'kubelet_cfg_agent_condition{')
  metrics.report(status, trial, undefined)
  t.same(await conditions(), [], 'no series before the condition is known')
  metrics.report(status, trial, { status: 'Unknown', reason: 'InTrial', message: 'x' })
  const inTrial = [
    'kubelet_cfg_agent_condition{type="KubeletConfigReady",status="Unknown",reason="InTrial"} 1',
    'kubelet_cfg_agent_condition{type="KubeletConfigDegraded",status="False",reason="AsExpected"} 1',
  ]
  t.same(await conditions(), inTrial)
  metrics.report(status, trial, undefined)
  t.same(await conditions(), inTrial)
  metrics.reportCondition({ status: 'False', reason: 'NodeAtFault', message: 'x' })
  t.same(await conditions(), [
    'kubelet_cfg_agent_condition{type="KubeletConfigReady",status="False",reason="NodeAtFault"} 1',
    'kubelet_cfg_agent_condition{type="KubeletConfigDegraded",status="True",reason="NodeAtFault"} 1',
  ])
})
