// SPDX-License-Identifier: Apache-2.0
/**
 * The acts with five nodes that share one config: a rollout stops a bad edit at the first node, and
 * brings the repaired one to all of them.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ROLLOUT_ANNOTATION } from '../src/decision/channels.ts'
import { parsePlan, ROLLOUT_PLAN_ANNOTATION } from '../src/rollout/plan.ts'
import { EMPTY_RECORD, parseRecord } from '../src/rollout/record.ts'
import { KEY, NAMESPACE } from './administrator.ts'
import { section } from './api-server/objects.ts'
import { SHARED_CRASHING_CONFIG, sharedConfig } from './configs.ts'
import { tellRecord } from './narrate.ts'
import type { DemoNode } from './node.ts'
import type { Stage } from './stage.ts'
import type { World } from './world.ts'

const CONFIG = 'fleet-config'
const RECORD = 'fleet-rollout'
const NAMES = ['node-1', 'node-2', 'node-3', 'node-4', 'node-5']
/** The stages: one node, one more, half of the nodes, all. */
const PLAN = 'waves: [50%, 100%], witnesses: 1, spread: 1s'
const TRIAL_SECONDS = 1

interface Fleet {
  readonly nodes: readonly DemoNode[]
  /** Whose kubelet has started since the last edit. */
  readonly started: Set<string>
}

/** The nodes and their config, without a word. */
export async function startFleet(stage: Stage): Promise<Fleet> {
  const { world } = stage
  world.api.objects.put({ kind: 'ConfigMap', metadata: { name: CONFIG, namespace: NAMESPACE }, data: { [KEY]: sharedConfig(60) } })
  const started = new Set<string>()
  return { nodes: await Promise.all(NAMES.map((name) => addNode(stage, name, started))), started }
}

export async function playRollout(stage: Stage, fleet: Fleet): Promise<void> {
  await setUp(stage, fleet)
  await stopBadEdit(stage, fleet)
  await repair(stage, fleet)
}

async function setUp(stage: Stage, { nodes }: Fleet): Promise<void> {
  const { timeline, admin } = stage
  timeline.act('Five more nodes have started, and share one config: let it go to them by a rollout')
  timeline.write(`They are ${NAMES.join(', ')}. Their trials take ${TRIAL_SECONDS} s.`)
  timeline.write('The stages of this rollout are: one node, one more, half of the nodes, all nodes.')
  await stage.until('all nodes run the shared config', () => allRun(nodes, 60))
  await stage.until('their trials are passed', () => nodes.every(({ agent }) => agent.has('updated last-known-good config to')))
  timeline.say('kubelet', `runs ${CONFIG}, with maxPods 60, on each of the five nodes`)
  await admin.createEmptyConfigMap(RECORD)
  followRecord(stage)
  await admin.annotateConfigMap(CONFIG, { [ROLLOUT_ANNOTATION]: RECORD, [ROLLOUT_PLAN_ANNOTATION]: PLAN })
}

function addNode({ world, say }: Stage, name: string, started: Set<string>): Promise<DemoNode> {
  const configMap = { name: CONFIG, namespace: NAMESPACE, kubeletConfigKey: KEY }
  let failures = 0
  return world.addNode({
    ...{ name, trialSeconds: TRIAL_SECONDS, isOfMany: true, spec: { configSource: { configMap } } },
    onAgentLine: ({ msg, detail }) => {
      if (msg.startsWith('config failed')) say('agent', `${name}: ${msg}${detail === undefined ? '' : `: ${detail}`}`, true)
    },
    onKubeletLine: (line) => {
      if (line.startsWith('I Starting ')) started.add(name)
      if (!line.startsWith('F ')) return
      failures += 1
      say('kubelet', failures === 1 ? `${name}: ${line.slice(2)}` : `${name}: the same again`, true)
    },
  })
}

async function stopBadEdit(stage: Stage, { nodes, started }: Fleet): Promise<void> {
  const { timeline, admin, warnings, world } = stage
  timeline.act('A bad edit of the shared config: it is stopped at the first node')
  const before = new Map(nodes.map(({ name, systemd }) => [name, systemd.pid]))
  started.clear()
  await admin.editConfigMap(CONFIG, SHARED_CRASHING_CONFIG)
  await stage.until('the rollout is halted', () => warnings.includes('RolloutHalted'))
  const [failed, ...more] = started
  if (failed === undefined || more.length > 0) throw new Error(`the bad edit was started by ${[...started].join(', ') || 'nobody'}`)
  await stage.until(`${failed} runs the config of before`, () => allRun(nodes, 60))
  const others = nodes.filter(({ name }) => name !== failed)
  const restarted = others.filter(({ name, systemd }) => systemd.pid !== before.get(name))
  if (restarted.length > 0) throw new Error(`kubelet was restarted on ${restarted.map(({ name }) => name).join(', ')}`)
  timeline.say('kubelet', `on ${failed} is back to maxPods 60; on the other four it was not even restarted`)
  const [asked] = others
  if (asked === undefined) return
  await stage.until('the other nodes know it', async () => /halted: it failed on /.test(await tellRollout(world, asked)))
  timeline.say('you', `kubelet-cfg-agent rollout   # on ${asked.name}`)
  timeline.show('What it prints:', (await tellRollout(world, asked)).trimEnd().split('\n'))
}

async function repair(stage: Stage, { nodes, started }: Fleet): Promise<void> {
  const { timeline, admin } = stage
  timeline.act('Repair it: the edit proves itself on one node after another, and goes to all')
  started.clear()
  await admin.editConfigMap(CONFIG, sharedConfig(70))
  let told = 0
  await stage.until('all nodes run the repaired config', async () => {
    for (const name of [...started].slice(told)) stage.say('kubelet', `${name}: starts with it`)
    told = started.size
    return allRun(nodes, 70)
  })
  timeline.say('kubelet', `runs ${CONFIG}, with maxPods 70, on each of the five nodes`)
}

/** Tells what nodes write to the record. */
function followRecord({ world, say }: Stage): void {
  const parsed = parsePlan(PLAN)
  if (!parsed.ok) throw new Error(parsed.problem)
  let before = EMPTY_RECORD
  world.api.store.onEvent(({ plural, object }) => {
    if (plural !== 'configmaps' || section(object, 'metadata').name !== RECORD) return
    const after = parseRecord(object.data)
    if (!after.ok) throw new Error(after.problem)
    for (const line of tellRecord(parsed.plan, before, after.record)) say('record', line)
    before = after.record
  })
}

async function allRun(nodes: readonly DemoNode[], maxPods: number): Promise<boolean> {
  const configs = await Promise.all(nodes.map((node) => node.configz()))
  return configs.every((config) => config?.maxPods === maxPods)
}

async function tellRollout({ program }: World, { settingsFile }: DemoNode): Promise<string> {
  const env = { KUBELET_CFG_AGENT_CONFIG: settingsFile }
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'rollout'], { env })
  return stdout
}
