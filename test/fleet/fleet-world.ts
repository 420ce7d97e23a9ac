// SPDX-License-Identifier: Apache-2.0
/**
 * A simulated fleet: nodes, their agents, an API server, and what happens to them. Checks the
 * invariants as it goes.
 */
import type { RolloutTime } from '../../src/rollout/view.ts'
import { SECOND_US } from '../../src/values/durations.ts'
import { type Random, seededRandom } from '../sim/random.ts'
import { refusal } from './admission.ts'
import { type Content, describe } from './content.ts'
import { checkEnd, type EndState } from './end-invariants.ts'
import { EventQueue } from './event-queue.ts'
import { type AgentWorld, FleetAgent, type StartReading } from './fleet-agent.ts'
import { type ConfigObject, FleetApi, type RecordObject } from './fleet-api.ts'
import { applyEvent, healAll } from './fleet-events.ts'
import { ADMINISTRATOR } from './fleet-guard.ts'
import { FleetNode } from './fleet-node.ts'
import { Ledger } from './ledger.ts'
import { planOf } from './parsed.ts'
import { isCalm, type PlacedNode, recordName, type Schedule } from './schedule.ts'
import { checkStart } from './start-invariants.ts'
import { watchWindows } from './window-liveness.ts'
import { type Clock, timeAt } from './windows.ts'
import { checkWrite } from './write-invariants.ts'
import { earlierZonesClaimFirst } from './zone-invariants.ts'

const NO_CLOCK: Clock = { startMs: Date.UTC(2026, 10, 30, 11) }

export type Trace = (atUs: number, who: string, text: string) => void

export class FleetWorld implements AgentWorld {
  readonly schedule: Schedule
  readonly queue = new EventQueue()
  readonly random: Random
  readonly api: FleetApi
  readonly agents: FleetAgent[] = []
  readonly ledger = new Ledger()
  readonly #trace: Trace | undefined
  readonly #liars = new Set<string>()
  readonly #byName = new Map<string, FleetAgent>()
  restore: (() => void) | undefined
  lastStartUs = 0
  honestWrites = 0

  constructor(schedule: Schedule, trace?: Trace) {
    this.schedule = schedule
    this.#trace = trace
    this.random = seededRandom(schedule.seed)
    this.api = new FleetApi(this.queue, this.random, schedule.faults, seededRandom(schedule.seed + 1))
    this.api.onWrite = (name, before, after, writer, data) => this.#written(name, before, after, writer, data)
    this.api.admit = (name, before, after, writer) => this.#admit(name, before, after, writer)
    for (const config of schedule.configs) this.#makeConfig(config)
    for (const placed of schedule.nodes) this.add(placed, schedule.settled)
  }

  time(timeZone: string): RolloutTime {
    return timeAt(this.schedule.clock ?? NO_CLOCK, timeZone, this.queue.nowUs)
  }

  #makeConfig({ name, content, planText }: Schedule['configs'][number]): void {
    const uid = `00000000-0000-0000-0000-${name.length.toString(16).padStart(12, '0')}`
    this.api.put(name, (resourceVersion) => ({
      kind: 'config',
      uid,
      resourceVersion,
      content,
      rollout: recordName(name),
      planText,
      excluded: [],
      paused: false,
    }))
    this.api.put(recordName(name), (resourceVersion) => ({ kind: 'record', uid: `uid-${resourceVersion}`, resourceVersion, data: {} }))
  }

  add({ traits, config }: PlacedNode, settled: boolean): FleetAgent {
    const node = new FleetNode(traits, this.queue)
    const agent = new FleetAgent(node, this)
    node.config = config
    if (traits.liar) this.#liars.add(traits.name)
    if (settled && config !== undefined) {
      const { content } = this.config(config)
      node.runs = content
      node.runsConfig = config
      node.lastGood = content
      node.promoted.add(content.hash)
      node.everPromoted.add(content.hash)
      node.started.add(content.hash)
      node.rollouts.set(config, recordName(config))
    }
    node.failsAnyway = () => (this.random.chance(this.schedule.backgroundFailures) ? this.random.between(30, 300) * SECOND_US : undefined)
    node.onDeath = () => agent.contactChanged()
    this.agents.push(agent)
    this.#byName.set(agent.name, agent)
    agent.contactChanged()
    return agent
  }

  config(name: string): ConfigObject {
    const object = this.api.peek(name)
    if (object?.kind !== 'config') throw new Error(`there is no config ${name}`)
    return object
  }

  record(config: string): RecordObject {
    const object = this.api.peek(recordName(config))
    return object?.kind === 'record' ? object : { kind: 'record', uid: '', resourceVersion: '0', data: {} }
  }

  trace(who: string, text: () => string): void {
    this.#trace?.(this.queue.nowUs, who, text())
  }

  onStart(node: FleetNode, content: Content, reading: StartReading): void {
    const { nowUs } = this.queue
    this.lastStartUs = nowUs
    this.trace(node.traits.name, () => `STARTS ${describe(content)}`)
    if (node.traits.old || reading.recordName === undefined) return
    const replaced = reading.record === undefined ? undefined : this.ledger.replacedAtUs.get(reading.record)
    const by = checkStart(node, reading, {
      nowUs,
      replacedAtUs: replaced,
      clock: this.schedule.clock,
      contactSinceUs: this.#byName.get(node.traits.name)?.followsSinceUs ?? nowUs,
      claimedAtUs: (name, words) => this.ledger.claimedAtUs.get(`${reading.config.uid} ${name} ${words}`),
    })
    this.ledger.started(content.hash, { node: node.traits.name, atUs: nowUs, by })
    this.ledger.count(this.ledger.progress, reading.config.uid)
  }

  #configOf(record: string): ConfigObject {
    return this.config(record.replace(/-rollout$/, ''))
  }

  #admit(name: string, before: RecordObject, after: RecordObject, writer: string): string | undefined {
    const config = this.#configOf(name)
    const plan = planOf(config)
    if (!this.schedule.policy || !plan.ok || writer === ADMINISTRATOR) return undefined
    const refused = refusal(before, after, writer, config, plan.plan)
    if (refused !== undefined && !this.#liars.has(writer)) this.#check(name, before, after, writer, after.data)
    return refused
  }

  #check(name: string, before: RecordObject, after: RecordObject, writer: string, data: Readonly<Record<string, string | null>>): void {
    const config = this.#configOf(name)
    const configSinceUs = this.configSinceUs.get(config) ?? 0
    const unreadySinceUs = this.#byName.get(writer)?.unreadySinceUs
    const { nowUs } = this.queue
    checkWrite({ writer, before, after, data, config, configSinceUs, nowUs, unreadySinceUs, clock: this.schedule.clock }, this.ledger)
  }

  readonly configSinceUs = new WeakMap<ConfigObject, number>()

  #written(name: string, before: RecordObject, after: RecordObject, writer: string, data: Readonly<Record<string, string | null>>): void {
    this.ledger.replacedAtUs.set(before, this.queue.nowUs)
    this.#changedUs.set(after, this.queue.nowUs)
    this.trace(name, () => `${writer} writes ${JSON.stringify(data)}`)
    const stage = `${this.#configOf(name).uid} ${after.data.state}`
    // A restore may take a stage back for a moment that not all nodes see.
    if (!this.ledger.stageOpenedUs.has(stage)) this.ledger.stageOpenedUs.set(stage, this.queue.nowUs)
    const words = data[`node.${writer}`]
    if (words != null) this.ledger.claimedAtUs.set(`${this.#configOf(name).uid} ${writer} ${words}`, this.queue.nowUs)
    if (this.#liars.has(writer) || writer === ADMINISTRATOR) return
    this.honestWrites += 1
    this.ledger.count(this.ledger.progress, this.#configOf(name).uid)
    this.#check(name, before, after, writer, data)
    if (words?.includes(' claim ') && data.state === undefined) this.#checkOrder(name, before, writer)
  }

  /** Where nothing but time keeps nodes from claiming. */
  #checkOrder(name: string, before: RecordObject, writer: string): void {
    const config = this.#configOf(name)
    const agent = this.#byName.get(writer)
    const openedUs = this.ledger.stageOpenedUs.get(`${config.uid} ${before.data.state}`)
    if (!isCalm(this.schedule) || agent === undefined || openedUs === undefined) return
    const changedUs = this.#changedUs.get(before) ?? openedUs
    earlierZonesClaimFirst({ writer: agent, agents: this.agents, config, before, openedUs, changedUs, nowUs: this.queue.nowUs })
  }

  readonly #changedUs = new WeakMap<RecordObject, number>()

  run(): EndState {
    for (const { atSeconds, event } of this.schedule.events) {
      this.queue.at(atSeconds * SECOND_US, () => {
        this.trace('world', () => JSON.stringify(event))
        applyEvent(this, event)
      })
    }
    // A restore of a backup takes a while.
    const lastUs = (Math.max(0, ...this.schedule.events.map(({ atSeconds }) => atSeconds)) + 200) * SECOND_US
    this.queue.runUntil(lastUs)
    if (this.schedule.restSeconds > 0) {
      this.trace('world', () => 'everything that can be healed is')
      healAll(this)
      for (const { name } of this.schedule.configs) watchWindows(this, name, this.#end())
      this.queue.runUntil(lastUs + this.schedule.restSeconds * SECOND_US)
    }
    return this.#end()
  }

  #end(): EndState {
    return {
      schedule: this.schedule,
      agents: this.agents,
      ledger: this.ledger,
      writes: this.honestWrites,
      agent: (name) => this.#byName.get(name),
      config: (name) => this.config(name),
      record: (config) => this.record(config),
    }
  }
}

/** Runs one schedule and checks it. */
export function runFleet(schedule: Schedule, trace?: Trace): FleetWorld {
  const world = new FleetWorld(schedule, trace)
  checkEnd(world.run())
  return world
}
