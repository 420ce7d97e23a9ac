// SPDX-License-Identifier: Apache-2.0
/** The effect of each event on a simulated fleet, and how everything that can be healed is. */
import { parsePlan } from '../../src/rollout/plan.ts'
import { SECOND_US } from '../../src/values/durations.ts'
import type { FleetAgent } from './fleet-agent.ts'
import type { ConfigObject, RecordObject } from './fleet-api.ts'
import { FleetGuard } from './fleet-guard.ts'
import type { FleetWorld } from './fleet-world.ts'
import { tellLie } from './liars.ts'
import { parsedRecord } from './parsed.ts'
import { type FleetEvent, recordName } from './schedule.ts'
import { goneNodes, vanish } from './vanishing.ts'

export function applyEvent(world: FleetWorld, event: FleetEvent): void {
  switch (event.kind) {
    case 'edit':
      changeConfig(world, event.config, () => ({ content: event.content }))
      return
    case 'plan':
      changeConfig(world, event.config, () => ({ planText: event.text }))
      return
    case 'retry':
      raiseRetry(world, event.config)
      return
    case 'now':
      setInPlan(world, event.config, 'now', event.hash)
      return
    case 'pause':
    case 'resume':
      changeConfig(world, event.config, () => ({ paused: event.kind === 'pause' }))
      return
    case 'exclude':
      exclude(world, event.config, [event.name])
      return
    case 'include':
      changeConfig(world, event.config, ({ excluded }) => ({ excluded: excluded.filter((name) => name !== event.name) }))
      return
    case 'exclude-gone':
      exclude(world, event.config, goneNodes(world, event.config))
      return
    case 'vanish':
      vanish(world, event)
      return
    case 'guard':
      new FleetGuard(world, event).begin()
      return
    case 'overload':
      overload(world, event)
      return
    case 'annotation':
      changeConfig(world, event.config, () => ({ rollout: annotation(event.value, event.config) }))
      return
    case 'delete-record':
      loseRecord(world, event.config, () => world.api.delete(recordName(event.config)))
      return
    case 'make-record':
      putRecord(world, event.config, {})
      return
    case 'garble-record':
      putRecord(world, event.config, { state: '1 what is this' })
      return
    case 'api-down':
      takeApiDown(world, event.forSeconds)
      return
    case 'backup':
      world.restore = world.api.backup()
      return
    case 'restore':
      restoreBackup(world)
      return
    case 'join':
      world.add(event.node, false)
      return
    case 'assign':
      assign(world, event.nodes, event.config)
      return
    case 'lie':
      onNode(world, event.node, (agent) => agent.node.traits.liar && tellLie(world, agent, event.lie))
      return
    default:
      onNode(world, event.node, (agent) => disturbNode(world, agent, event))
      return
  }
}

type NodeEvent = Extract<FleetEvent, { readonly node: number }>

function disturbNode(world: FleetWorld, agent: FleetAgent, event: Exclude<NodeEvent, { readonly kind: 'lie' }>): void {
  const later = (run: () => void) => 'forSeconds' in event && world.queue.after(event.forSeconds * SECOND_US, run)
  switch (event.kind) {
    case 'die':
    case 'leave':
      agent.node.isDeleted = event.kind === 'leave'
      agent.node.die()
      return
    case 'reimage':
    case 'reboot':
      if (event.kind === 'reimage') agent.node.reimage()
      agent.reboot()
      agent.stop()
      world.queue.after(60 * SECOND_US, () => agent.begin())
      return
    case 'sleep':
      agent.node.sleep()
      agent.contactChanged()
      later(() => awaken(world, agent))
      return
    case 'partition':
      agent.partition(true)
      later(() => agent.partition(false))
      return
    case 'agent-down':
      agent.stop()
      later(() => agent.begin())
      return
    case 'blind':
      agent.evidence.blindUntilUs = world.queue.nowUs + event.forSeconds * SECOND_US
      return
    case 'not-ready':
      agent.readyAtUs = world.queue.nowUs + event.forSeconds * SECOND_US
      agent.unreadySinceUs = world.queue.nowUs
      later(() => {
        if (world.queue.nowUs >= agent.readyAtUs) agent.isReady()
      })
      return
  }
}

function onNode(world: FleetWorld, index: number, run: (agent: FleetAgent) => unknown): void {
  const agent = world.agents[index % world.agents.length]
  if (agent !== undefined && agent.node.state === 'up') run(agent)
}

function awaken(world: FleetWorld, agent: FleetAgent): void {
  if (agent.node.state !== 'asleep') return
  const parsed = parsePlan(world.config(agent.node.config ?? world.schedule.configs[0]?.name ?? '').planText)
  agent.node.wakeUp(parsed.ok ? parsed.plan.retry : 0)
  agent.stop()
  agent.begin()
}

function changeConfig(world: FleetWorld, name: string, change: (before: ConfigObject) => Partial<ConfigObject>): void {
  const before = world.config(name)
  world.api.put(name, (resourceVersion) => ({ ...before, ...change(before), resourceVersion }))
  world.configSinceUs.set(world.config(name), world.queue.nowUs)
}

function exclude(world: FleetWorld, config: string, names: readonly string[]): void {
  for (const name of names) world.ledger.excluded.add(name)
  changeConfig(world, config, ({ excluded }) => ({ excluded: [...new Set([...excluded, ...names])] }))
}

function annotation(value: 'name' | 'off' | 'none', config: string): string | undefined {
  if (value === 'none') return undefined
  return value === 'off' ? 'off' : recordName(config)
}

function raiseRetry(world: FleetWorld, name: string): void {
  const parsed = parsePlan(world.config(name).planText)
  setInPlan(world, name, 'retry', String(parsed.ok ? parsed.plan.retry + 1 : 1))
}

function setInPlan(world: FleetWorld, name: string, setting: string, value: string): void {
  changeConfig(world, name, ({ planText }) => {
    const others = (planText ?? '').split('\n').filter((line) => line !== '' && !line.startsWith(`${setting}:`))
    return { planText: [...others, `${setting}: ${value}`].join('\n') }
  })
}

/** Whatever was in the record is not there any more, so everything may begin again. */
function loseRecord(world: FleetWorld, config: string, lose: () => void): void {
  const record = world.api.peek(recordName(config))
  if (record?.kind === 'record') world.ledger.replacedAtUs.set(record, world.queue.nowUs)
  world.ledger.count(world.ledger.resets, world.config(config).content.hash)
  lose()
}

function putRecord(world: FleetWorld, config: string, data: RecordObject['data']): void {
  loseRecord(world, config, () =>
    world.api.put(recordName(config), (resourceVersion, before) => {
      const uid = before?.kind === 'record' ? before.uid : `uid-${resourceVersion}`
      return { kind: 'record', uid, resourceVersion, data }
    }),
  )
}

function takeApiDown(world: FleetWorld, forSeconds: number): void {
  if (!world.api.up) return
  setApi(world, false)
  world.queue.after(forSeconds * SECOND_US, () => setApi(world, true))
}

function overload(world: FleetWorld, { share, retryAfterSeconds, forSeconds }: Extract<FleetEvent, { readonly kind: 'overload' }>): void {
  const begun = { share, retryAfterUs: retryAfterSeconds * SECOND_US }
  world.api.overload = begun
  world.queue.after(forSeconds * SECOND_US, () => {
    if (world.api.overload === begun) world.api.overload = undefined
  })
}

function setApi(world: FleetWorld, up: boolean): void {
  if (world.api.up === up) return
  world.api.up = up
  for (const agent of world.agents) agent.contactChanged()
}

/** An API server is down for longer than a request lasts when etcd is restored. */
function restoreBackup(world: FleetWorld): void {
  const { restore } = world
  if (restore === undefined) return
  takeApiDown(world, 90)
  world.queue.after(60 * SECOND_US, () => {
    restore()
    for (const { name } of world.schedule.configs) {
      world.configSinceUs.set(world.config(name), world.queue.nowUs)
      for (const content of world.ledger.begins.keys()) world.ledger.count(world.ledger.resets, content)
    }
  })
}

function assign(world: FleetWorld, nodes: readonly number[], config: string): void {
  for (const index of nodes) {
    onNode(world, index, (agent) => {
      if (agent.node.config === config) return
      agent.node.config = config
      agent.assignmentChanged()
    })
  }
}

export function healAll(world: FleetWorld): void {
  setApi(world, true)
  world.api.overload = undefined
  for (const agent of world.agents) {
    awaken(world, agent)
    agent.partition(false)
    agent.begin()
    agent.evidence.blindUntilUs = 0
    agent.isReady()
  }
  for (const { name } of world.schedule.configs) {
    const { rollout, paused, planText } = world.config(name)
    const wrongPlan = !parsePlan(planText).ok
    // A new version ends a dispute about what the old one held.
    const isDisputed = world.schedule.nodes.some(({ traits }) => traits.liar)
    if (paused || rollout === undefined || wrongPlan || isDisputed) {
      changeConfig(world, name, () => ({ paused: false, rollout: rollout ?? recordName(name), planText: wrongPlan ? undefined : planText }))
    }
    const record = world.api.peek(recordName(name))
    if (record?.kind !== 'record' || !parsedRecord(record).ok) putRecord(world, name, {})
  }
}
