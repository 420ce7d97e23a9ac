// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of deploy/monitoring, on series that the real agent served: names and labels come from
 * its /metrics, so that a rule about a metric that is gone fails here. What the agent cannot be
 * brought to within a test, as a node at fault, is such a series with another value of one label.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { Metrics } from '../../src/report/metrics.ts'
import { CONDITION_REASONS, type ConditionReason } from '../../src/report/reasons.ts'
import { parsePage } from '../docs/markdown.ts'
import { ROOT } from '../docs/pages.ts'
import { adviceOn, listFirstCells } from '../docs/tables.ts'
import { captureMetrics } from './capture.ts'
import { type Sample, seriesName } from './exposition.ts'
import { listGroupings, listMentions } from './promql.ts'
import { NO_PROMTOOL, RULES, testRules } from './promtool.ts'

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

const rules = (parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)
const alertRules = rules.filter((rule) => rule.alert !== undefined)
const capture = await captureMetrics()
const { file, ...served } = capture
const everything = Object.values(served).flat()

/** Labels that Prometheus adds, as deploy/monitoring/scrape.yaml has it. */
const TARGET = { instance: 'worker-1', job: 'kubelet-cfg-agent' }
/** Of Prometheus and of the node exporter. */
const OF_OTHERS: Readonly<Record<string, readonly string[]>> = { up: [], node_textfile_mtime_seconds: ['file'] }

/** The name of a captured series, with other values of some of its labels. */
function series(name: string, changed: Readonly<Record<string, string>> = {}, target: Readonly<Record<string, string>> = TARGET): string {
  const sample = everything.find((one) => one.name === name && Object.keys(changed).every((label) => Object.hasOwn(one.labels, label)))
  if (sample === undefined) throw new Error(`the agent serves no ${name} with the labels ${Object.keys(changed).join(', ')}`)
  return seriesName(name, { ...sample.labels, ...changed, ...target })
}

const labelsOf = (reason: ConditionReason) => {
  const [status = ''] = Object.entries(CONDITION_REASONS).find(([, reasons]) => (reasons as readonly string[]).includes(reason)) ?? []
  return { type: 'KubeletConfigReady', status, reason }
}
const condition = (reason: ConditionReason) => series('kubelet_cfg_agent_condition', labelsOf(reason))
const degraded = (status: string, reason: string) =>
  series('kubelet_cfg_agent_condition', { type: 'KubeletConfigDegraded', status, reason })
const remaining = series('kubelet_cfg_agent_trial_remaining_seconds')
const up = seriesName('up', TARGET)

function standing(samples: readonly Sample[], minutes: number): Readonly<Record<string, string>> {
  const still = samples.map(({ name, labels, value }) => [seriesName(name, { ...labels, ...TARGET }), `${value}x${minutes}`])
  return { ...Object.fromEntries(still), [up]: `1x${minutes}` }
}

interface Scenario {
  readonly series: Readonly<Record<string, string>>
  /** The time at which the alert does not fire. */
  readonly quietAt: string
  readonly firesAt: string
  readonly labels: Readonly<Record<string, string>>
  readonly summary: string
}

const ofNode = (reason: ConditionReason) => ({ ...labelsOf(reason), ...TARGET })
const config = 'kube-system/node-config'
const node = (name: string) => ({ ...TARGET, instance: name })
const version = (name: string, resourceVersion: string) =>
  series('kubelet_node_config_active', { node_config_source: '/api/v1/x', node_config_resource_version: resourceVersion }, node(name))

const assignedTo = (name: string) =>
  series('kubelet_node_config_assigned', { node_config_source: '/api/v1/x', node_config_resource_version: '2' }, node(name))
const degradedOn = (name: string, reason: string) =>
  series('kubelet_cfg_agent_condition', { type: 'KubeletConfigDegraded', status: 'True', reason }, node(name))
const names = (count: number) => Array.from({ length: count }, (_, index) => `worker-${index}`)
/** A fleet of `count` nodes with a config, of which the first ones gave it up or refused it. */
const fleet = (count: number, failed: number) =>
  Object.fromEntries([
    ...names(count).map((name) => [assignedTo(name), '1x30']),
    ...names(failed).map((name, index) => [degradedOn(name, index % 2 === 0 ? 'RolledBack' : 'Refused'), '_x10 1x20']),
  ])

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  KubeletConfigRolledBack: {
    series: { [series('kubelet_cfg_agent_rollbacks_total', { reason: 'crash-loop' })]: '0x20 1x40' },
    quietAt: '20m',
    firesAt: '25m',
    labels: { instance: 'worker-1', reason: 'crash-loop' },
    summary: 'worker-1 gave up a kubelet config: crash-loop',
  },
  KubeletConfigNodeAtFault: {
    series: { [condition('NodeAtFault')]: '_x10 1x20' },
    quietAt: '14m',
    firesAt: '16m',
    labels: ofNode('NodeAtFault'),
    summary: 'kubelet fails with every config on worker-1',
  },
  KubeletConfigRefused: {
    series: { [degraded('True', 'Refused')]: '_x10 1x90' },
    quietAt: '69m',
    firesAt: '71m',
    labels: { type: 'KubeletConfigDegraded', status: 'True', reason: 'Refused', ...TARGET },
    summary: 'worker-1 has been assigned a config for an hour that it does not run: Refused',
  },
  KubeletConfigFailsOnManyNodes: {
    series: fleet(20, 3),
    quietAt: '10m',
    firesAt: '14m',
    labels: { node_config_source: '/api/v1/x' },
    summary: '3 nodes rolled back or refuse /api/v1/x, more than a tenth of the nodes that it is assigned to',
  },
  KubeletConfigUnusable: {
    series: { [condition('DownloadFailed')]: '1x30' },
    quietAt: '14m',
    firesAt: '16m',
    labels: ofNode('DownloadFailed'),
    summary: 'worker-1 cannot use its assignment: DownloadFailed',
  },
  KubeletConfigUnhealthy: {
    series: { [condition('Unhealthy')]: '1x30' },
    quietAt: '9m',
    firesAt: '11m',
    labels: ofNode('Unhealthy'),
    summary: 'kubelet on worker-1 is not healthy with a config that was proven there, with its local config, or during a pause',
  },
  // The trial begins anew every five minutes.
  KubeletConfigTrialDoesNotEnd: {
    series: {
      [condition('InTrial')]: '1x120',
      [remaining]: Array.from({ length: 120 }, (_, minute) => `${600 - 60 * (minute % 5)}`).join(' '),
    },
    quietAt: '55m',
    firesAt: '75m',
    labels: ofNode('InTrial'),
    summary: 'the trial on worker-1 has not come nearer to its end for an hour',
  },
  KubeletConfigIneffective: {
    series: { [condition('Wiring')]: '1x30' },
    quietAt: '14m',
    firesAt: '16m',
    labels: ofNode('Wiring'),
    summary: 'kubelet on worker-1 does not take its config from the agent: Wiring',
  },
  KubeletConfigDiffers: {
    series: { [series('kubelet_cfg_agent_config_differences')]: '0x5 2x30' },
    quietAt: '20m',
    firesAt: '22m',
    labels: TARGET,
    summary: 'kubelet on worker-1 runs 2 fields otherwise than its config says',
  },
  KubeletConfigAgentDown: {
    series: { [up]: '1x5 0x30' },
    quietAt: '15m',
    firesAt: '17m',
    labels: TARGET,
    summary: 'the agent on worker-1 is down',
  },
  KubeletConfigAgentBlind: {
    series: { [condition('AssignmentUnknown')]: '1x30' },
    quietAt: '14m',
    firesAt: '16m',
    labels: ofNode('AssignmentUnknown'),
    summary: 'the agent on worker-1 cannot see what it needs: AssignmentUnknown',
  },
  KubeletConfigRolloutHalted: {
    series: { [series('kubelet_cfg_agent_rollout_turn', { config, turn: 'halted' })]: '_x5 1x10' },
    quietAt: '4m',
    firesAt: '6m',
    labels: { config },
    summary: `the rollout of ${config} is halted: its content failed on a node`,
  },
  KubeletConfigRolloutStuck: {
    series: {
      [series('kubelet_cfg_agent_rollout_turn', { config, turn: 'wait' })]: '1x200',
      [series('kubelet_cfg_agent_rollout_stage', { config })]: '0x20 1x180',
      [series('kubelet_cfg_agent_rollout_proofs', { config })]: '0x200',
    },
    quietAt: '150m',
    firesAt: '160m',
    labels: { config, turn: 'wait' },
    summary: `1 nodes wait in the rollout of ${config}, and it has not moved for two hours`,
  },
  // The limit ends once an hour, and kubelet is restarted into the next change.
  KubeletConfigHeldBack: {
    series: { [condition('RestartLimit')]: Array.from({ length: 27 }, () => '1x49 stale _x8').join(' ') },
    quietAt: '23h',
    firesAt: '1445m',
    labels: ofNode('RestartLimit'),
    summary: 'worker-1 has not taken up its config for a day: RestartLimit',
  },
  KubeletConfigVersionSkew: {
    series: { [version('a', '1')]: '1x1500', [version('b', '2')]: '1x1500', [version('c', '3')]: '1x1500' },
    quietAt: '23h',
    firesAt: '1445m',
    labels: { node_config_source: '/api/v1/x' },
    summary: 'nodes have run 3 versions of /api/v1/x for a day',
  },
}

const NAMES = alertRules.map(({ alert = '' }) => alert)

t.test('every alert fires in its scenario, and not before', { skip: NO_PROMTOOL }, async (t) => {
  t.same(Object.keys(SCENARIOS).sort(), [...NAMES].sort())
  const tests = alertRules.flatMap(({ alert = '', labels = {}, annotations = {} }) => {
    const scenario = SCENARIOS[alert]
    if (scenario === undefined) return []
    const expected = { labels: { ...labels, ...scenario.labels }, annotations: { ...annotations, summary: scenario.summary } }
    const alerts = [
      { at: scenario.quietAt, name: alert, alerts: [] },
      { at: scenario.firesAt, name: alert, alerts: [expected] },
    ]
    return [{ name: alert, series: scenario.series, alerts }]
  })
  t.equal(testRules(t.testdir(), tests), '')
})

/** Of all alerts that fire, in what the agent served in one state. */
const firing = (at: string, names: readonly string[]) => ({
  at,
  expression: 'count by (alertname) (ALERTS{alertstate="firing"})',
  samples: Object.fromEntries(names.map((name) => [`{alertname="${name}"}`, 1])),
})

t.test('what the agent served as it was: nothing fires on a node that is well, and on others what should', { skip: NO_PROMTOOL }, (t) => {
  const tests = [
    { name: 'local', series: standing(capture.local, 1600), expressions: [firing('26h', [])] },
    { name: 'promoted', series: standing(capture.promoted, 1600), expressions: [firing('26h', [])] },
    {
      name: 'refused',
      series: standing(capture.refused, 200),
      // The config's rollout waits for a node that takes it.
      expressions: [firing('30m', []), firing('3h', ['KubeletConfigRefused', 'KubeletConfigRolloutStuck'])],
    },
    {
      name: 'rolled back',
      series: standing(capture.rolledBack, 200),
      expressions: [firing('30m', ['KubeletConfigRolloutHalted']), firing('3h', ['KubeletConfigRefused', 'KubeletConfigRolloutHalted'])],
    },
  ]
  t.equal(testRules(t.testdir(), tests), '')
  t.end()
})

t.test('what is no reason for an alert', { skip: NO_PROMTOOL }, (t) => {
  const still = (name: string, of: Readonly<Record<string, string>>, at: string) => ({ name, series: of, expressions: [firing(at, [])] })
  const moving = Array.from({ length: 300 }, (_, minute) => `${Math.floor(minute / 14)}`).join(' ')
  const tests = [
    // Five hours long.
    still(
      'a long trial',
      { [condition('InTrial')]: '1x290', [remaining]: Array.from({ length: 290 }, (_, minute) => `${18_000 - 60 * minute}`).join(' ') },
      '4h',
    ),
    still('an operator rolled back', { [series('kubelet_cfg_agent_rollbacks_total', { reason: 'requested' })]: '0x20 1x40' }, '25m'),
    still('a pause of five hours', { [condition('Paused')]: '1x300' }, '5h'),
    still(
      'an operator rolled back three hours ago',
      { [condition('RolledBack')]: '1x200', [degraded('False', 'AsExpected')]: '1x200' },
      '3h',
    ),
    still(
      'a config that failed on a node after its rollout',
      {
        [series('kubelet_cfg_agent_rollout_turn', { config, turn: 'failed' })]: '1x300',
        [series('kubelet_cfg_agent_rollout_stage', { config })]: '5x300',
        [series('kubelet_cfg_agent_rollout_proofs', { config })]: '0x300',
      },
      '290m',
    ),
    still(
      'a rollout that goes on',
      {
        [series('kubelet_cfg_agent_rollout_turn', { config, turn: 'wait' })]: '1x300',
        [series('kubelet_cfg_agent_rollout_stage', { config })]: '1x300',
        [series('kubelet_cfg_agent_rollout_proofs', { config })]: moving,
      },
      '280m',
    ),
    still('two canaries of a small fleet', fleet(6, 2), '30m'),
    still('a tenth of the nodes', fleet(40, 4), '30m'),
    still('two versions', { [version('a', '1')]: '1x1500', [version('b', '2')]: '1x1500' }, '1445m'),
    still('a file that is new', { 'node_textfile_mtime_seconds{file="/x/kubelet-cfg-agent.prom", instance="a"}': '0+60x60' }, '50m'),
  ]
  t.equal(testRules(t.testdir(), tests), '')
  t.end()
})

t.test('an agent whose file grows old is down', { skip: NO_PROMTOOL }, (t) => {
  const file = { file: '/var/lib/prometheus/node-exporter/kubelet-cfg-agent.prom', instance: 'worker-1', job: 'node' }
  const [alert] = alertRules.filter(({ alert }) => alert === 'KubeletConfigAgentDown')
  const annotations = { ...alert?.annotations, summary: 'the agent on worker-1 is down' }
  const alerts = [
    { at: '14m', name: 'KubeletConfigAgentDown', alerts: [] },
    { at: '18m', name: 'KubeletConfigAgentDown', alerts: [{ labels: { ...alert?.labels, ...file }, annotations }] },
  ]
  t.equal(testRules(t.testdir(), [{ name: 'old', series: { [seriesName('node_textfile_mtime_seconds', file)]: '0x30' }, alerts }]), '')
  t.end()
})

t.test('a mistake in a scenario is found', { skip: NO_PROMTOOL }, (t) => {
  const alerts = [{ at: '10m', name: 'KubeletConfigNodeAtFault', alerts: [] }]
  t.match(testRules(t.testdir(), [{ name: 'wrong', series: { [condition('NodeAtFault')]: '1x20' }, alerts }]), /FAILED[\s\S]*NodeAtFault/)
  t.throws(() => series('kubelet_cfg_agent_renamed'), /serves no kubelet_cfg_agent_renamed/)
  t.throws(() => series('kubelet_cfg_agent_condition', { why: 'x' }), /with the labels why/)
  t.end()
})

t.test('the scrape configuration is one', { skip: NO_PROMTOOL }, (t) => {
  const scrape = parse(readFileSync(join(ROOT, 'deploy/monitoring/scrape.yaml'), 'utf8')) as { scrape_configs: Record<string, unknown>[] }
  // Debian builds Prometheus without the discovery of Kubernetes.
  for (const one of scrape.scrape_configs) {
    t.same(one.kubernetes_sd_configs, [{ role: 'node' }])
    t.equal(one.job_name, TARGET.job)
    delete one.kubernetes_sd_configs
  }
  const directory = t.testdir({ 'prometheus.yml': JSON.stringify(scrape), 'rules.yaml': readFileSync(RULES, 'utf8') })
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', '--syntax-only', join(directory, 'prometheus.yml')], {
    encoding: 'utf8',
  })
  t.equal(status, 0, `${stdout}${stderr}`)
  t.end()
})

t.test('no Node is scraped on which the proxy does not run', async (t) => {
  const read = (file: string) => readFileSync(join(ROOT, 'deploy/monitoring', file), 'utf8')
  const { scrape_configs: scrapes } = parse(read('scrape.yaml')) as { scrape_configs: { relabel_configs: Record<string, unknown>[] }[] }
  const kept = scrapes.map(({ relabel_configs: rules }) => rules.filter(({ action }) => action === 'keep'))
  t.same(kept, [[{ source_labels: ['__meta_kubernetes_node_label_kubernetes_io_os'], regex: 'linux', action: 'keep' }]])
  t.match(read('kube-rbac-proxy.yaml'), 'nodeSelector: { kubernetes.io/os: linux }')
  // The alternative, for a fleet with agents on some Nodes only.
  const label = 'kubelet-cfg-agent.io/install'
  t.match(read('kube-rbac-proxy.yaml'), `# nodeSelector: { kubernetes.io/os: linux, ${label}: "true" }`)
  t.match(read('scrape.yaml'), `__meta_kubernetes_node_label_${label.replaceAll(/[^a-z]/g, '_')}`)
})

t.test('every metric that a rule names is served, with these labels, or recorded by another rule', async (t) => {
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []))
  for (const { record, alert = '', expr } of rules) {
    const mentions = listMentions(expr)
    t.ok(mentions.length > 0, record ?? alert)
    const known = new Set<string>(Object.keys(TARGET))
    for (const { metric, labels } of mentions) {
      const served = everything.filter(({ name }) => name === metric)
      const others = OF_OTHERS[metric]
      t.ok(served.length > 0 || others !== undefined || recorded.has(metric), `${record ?? alert}: ${metric}`)
      const own = recorded.has(metric)
        ? listGroupings(rules.find((rule) => rule.record === metric)?.expr ?? '')
        : [...served.flatMap((sample) => Object.keys(sample.labels)), ...(others ?? [])]
      for (const label of [...own, ...Object.keys(TARGET)]) known.add(label)
      for (const label of labels)
        t.ok([...own, ...Object.keys(TARGET)].includes(label), `${record ?? alert}: ${metric} has a label ${label}`)
    }
    for (const label of listGroupings(expr)) t.ok(known.has(label), `${record ?? alert}: groups by ${label}`)
  }
})

t.test('the file for the node exporter has the same, without the metrics of the process', async (t) => {
  const namesOf = (samples: readonly Sample[]) => [...new Set(samples.map(({ name }) => name))].sort()
  t.same(
    namesOf(file),
    namesOf(capture.rolledBack).filter((name) => !name.startsWith('process_')),
  )
})

t.test('the histograms have counted the change, its check and its trial', async (t) => {
  for (const what of ['apply', 'preflight', 'trial']) {
    const count = capture.promoted.find(({ name }) => name === `kubelet_cfg_agent_${what}_duration_seconds_count`)
    t.ok((count?.value ?? 0) >= 1, what)
  }
})

t.test('promtool has nothing to say about the metrics', { skip: NO_PROMTOOL }, async (t) => {
  const { body } = await new Metrics({ version: '1' }).render()
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' })
  t.equal(status, 0, `${stdout}${stderr}`)
})

t.test('an agent serves few series, as docs/monitoring.md says', async (t) => {
  for (const samples of Object.values(served)) {
    t.ok(samples.length <= 75, `${samples.length} series`)
    t.equal(samples.filter(({ name }) => /_duration_seconds_(bucket|sum|count)$/.test(name)).length, 41)
  }
})

t.test('every alert has a severity, a summary, a description and a row in the runbook', async (t) => {
  const text = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8')
  const { anchors } = parsePage('docs/runbook.md', text)
  t.ok(NAMES.length > 8)
  for (const { alert = '', labels, annotations } of alertRules) {
    t.match(labels?.severity, /^(info|warning|critical)$/, alert)
    t.ok(annotations?.summary, alert)
    t.match(annotations?.description, /^\w.{40,}\.$/, alert)
    t.match(annotations?.runbook_url, new RegExp(`^https://[^#]+/runbook\\.md#${alert.toLowerCase()}$`), alert)
    t.ok(anchors.has(alert.toLowerCase()), `docs/runbook.md has the anchor of ${alert}`)
    t.ok(adviceOn(text, 'The alerts', alert), `docs/runbook.md says what to do about ${alert}`)
  }
  const documented = listFirstCells(text, 'The alerts')
  t.same([...documented].sort(), [...NAMES].sort(), 'and about no other')
})

t.test('what an expression names', async (t) => {
  const text = 'sum by (le, config) (rate(a_bucket{x="1", y=~"b{2}"}[5m])) / on (instance) group_left (z) time() - b offset 5m > 0.5'
  t.same(listMentions(text.replace('b{2}', 'b')), [
    { metric: 'a_bucket', labels: ['x', 'y'] },
    { metric: 'b', labels: [] },
  ])
  t.same(listGroupings(text), ['le', 'config', 'instance', 'z'])
})
