// SPDX-License-Identifier: Apache-2.0
/**
 * An administrator's `rollout status --halt-if-not-ready` beside a simulated fleet, around the
 * judgement that ships: it looks at the Nodes and the record from time to time, and halts a rollout
 * that hurts. It may look seldom, and its looks fail with the API server.
 */

import { type Limit, type NodeSight, parseLimit, RolloutGuard } from '../../src/rollout/guard.ts'
import { guardVetoes } from '../../src/rollout/guard-veto.ts'
import { progressOf } from '../../src/rollout/progress.ts'
import { observeRecord } from '../../src/rollout/silence.ts'
import { findWindow, untilLastTurnUs } from '../../src/rollout/window-turn.ts'
import { SECOND_US } from '../../src/values/durations.ts'
import type { FleetAgent } from './fleet-agent.ts'
import type { ConfigObject, RecordObject } from './fleet-api.ts'
import type { FleetWorld } from './fleet-world.ts'
import { parsedRecord, planOf, planRetry } from './parsed.ts'
import { type Guard, recordName } from './schedule.ts'
import { Violation } from './violation.ts'

/** The node lifecycle controller marks a Node so long after its last heartbeat. */
const HEARTBEATS_US = 40 * SECOND_US
/** No node has its name, so no policy holds it and no key is its own. */
export const ADMINISTRATOR = 'administrator'

interface Following {
  readonly about: string
  readonly guard: RolloutGuard
  /** When it looked last; undefined: what happened since is not known. */
  lookedUs: number | undefined
  /**
   * No more nodes start it by themselves: this one is done, and another waits for the next edit.
   */
  isOver: boolean
}

export class FleetGuard {
  readonly name = ADMINISTRATOR
  readonly #world: FleetWorld
  readonly #order: Guard
  readonly #limit: Limit
  /** The content that each Node showed when its agent could last write to it. */
  readonly #shown = new Map<string, Pick<NodeSight, 'content' | 'failed'>>()
  #following: Following | undefined
  #isOver = false

  constructor(world: FleetWorld, order: Guard) {
    this.#world = world
    this.#order = order
    this.#limit = parseLimit(order.limit) ?? { kind: 'nodes', most: 0 }
  }

  connected(): boolean {
    return true
  }

  begin(): void {
    const { queue } = this.#world
    const untilUs = queue.nowUs + this.#order.forSeconds * SECOND_US
    const again = (): void => {
      if (this.#isOver || queue.nowUs > untilUs) return
      this.#look()
      queue.after(this.#order.everySeconds * SECOND_US, again)
    }
    again()
  }

  /** The record and the config, then the Nodes. */
  #look(): void {
    const { api } = this.#world
    const { config: name } = this.#order
    api.get(this, recordName(name), (record) =>
      api.get(this, name, (config) => {
        const isRead =
          record.kind === 'found' && record.object.kind === 'record' && config.kind === 'found' && config.object.kind === 'config'
        if (isRead) this.#judge(config.object, record.object)
        else if (this.#following !== undefined) this.#following.lookedUs = undefined
      }),
    )
  }

  #judge(config: ConfigObject, object: RecordObject): void {
    const { nowUs } = this.#world.queue
    const [plan, parsed] = [planOf(config), parsedRecord(object)]
    const { hash } = config.content
    const state = parsed.ok ? parsed.record.state : undefined
    if (!plan.ok || !parsed.ok || state === undefined || state.hash !== hash || plan.plan.retry > state.retry) {
      this.#following = undefined
      return
    }
    const { record } = parsed
    const about = `${state.configUid} ${state.configVersion} ${state.generation}`
    // What a Node showed about another content says nothing about this one.
    if (this.#following?.about !== about) {
      this.#shown.clear()
      this.#following = { about, guard: new RolloutGuard(), lookedUs: undefined, isOver: false }
    }
    if (this.#following.isOver) return
    const { guard, lookedUs } = this.#following
    if (lookedUs !== undefined) guard.pass(nowUs - lookedUs)
    guard.list(this.#sights(config), lookedUs === undefined)
    this.#following.lookedUs = nowUs
    const words = [...record.entries].filter(
      ([node, { generation }]) => generation === state.generation && !plan.plan.excluded.includes(node),
    )
    guard.tellStarted(words.map(([node]) => node))
    const seen = { record, recordUid: object.uid, resourceVersion: object.resourceVersion, configUid: config.uid, hash }
    const observation = observeRecord(undefined, { ...seen, assignment: 0, retry: planRetry(config), nowUs, contactUs: 0 })
    const progress = progressOf(plan.plan, record, hash, observation)
    const window = findWindow(plan.plan, hash, this.#world.time(plan.plan.timeZone), nowUs)
    if (progress?.finished === true) guard.finish(untilLastTurnUs(plan.plan, window, nowUs))
    else guard.hold()
    this.#following.isOver = guard.ending(plan.plan.excluded) === 'over'
    const verdict = guard.verdict(this.#limit, plan.plan.excluded)
    if (progress?.halted === true) this.#isOver = true
    if (progress?.halted !== false || !verdict.exceeds) return
    this.#world.trace(ADMINISTRATOR, () => `halts: ${verdict.hurt.map(({ node, how }) => `${node} ${how}`).join(', ')}`)
    for (const { node } of verdict.hurt) this.#mustBeHurt(node, config)
    const data = guardVetoes(plan.plan, state, record, { verdict, limit: this.#limit })
    if (data === undefined) return
    this.#world.api.patch(this, recordName(this.#order.config), object.resourceVersion, data, (answer) => {
      this.#world.trace(ADMINISTRATOR, () => `veto: ${answer.kind}`)
      if (answer.kind !== 'done') return
      this.#isOver = true
      this.#world.ledger.halts += 1
    })
  }

  #sights(config: ConfigObject): readonly NodeSight[] {
    return this.#world.agents.filter(({ node }) => !node.isDeleted).map((agent) => this.#sight(agent, config))
  }

  #sight(agent: FleetAgent, config: ConfigObject): NodeSight {
    const { name, node } = agent
    if (agent.connected()) this.#shown.set(name, this.#show(agent, config))
    const { content, failed } = this.#shown.get(name) ?? { content: undefined, failed: false }
    // The agent writes at once that it starts, also where that kills the node.
    const started = node.config === this.#order.config && node.started.has(config.content.hash) ? 'started' : content
    return {
      name,
      uid: node.traits.uid,
      ready: isReady(agent, this.#world.queue.nowUs),
      content: started,
      failed,
      leaving: node.isCordoned ? 'cordoned' : undefined,
    }
  }

  #show({ node }: FleetAgent, config: ConfigObject): Pick<NodeSight, 'content' | 'failed'> {
    const { hash } = config.content
    if (node.config !== this.#order.config) return { content: 'other', failed: false }
    const verdict = node.verdicts.get(hash)
    const failed = verdict !== undefined && verdict.retry >= planRetry(config)
    return { content: failed || node.runs.hash === hash ? 'started' : 'waiting', failed }
  }

  /** A good content on healthy nodes is never halted. */
  #mustBeHurt(name: string, { content }: ConfigObject): void {
    const agent = this.#world.agents.find((candidate) => candidate.name === name)
    if (agent === undefined) throw new Violation('a guard halts for nodes that are hurt', `there is no ${name}`)
    const { node } = agent
    const isHurt = node.isDeleted || !isReady(agent, this.#world.queue.nowUs) || node.verdicts.has(content.hash)
    // A machine that was made anew has forgotten what failed on it.
    if (!isHurt && !node.wasReimaged) throw new Violation('a guard halts for nodes that are hurt', `${name} is well`)
    // The claim is the start, and a liar may claim without one.
    const hasWord = `node.${name}` in this.#world.record(this.#order.config).data || node.traits.liar
    if (!node.started.has(content.hash) && !node.wasReimaged && !hasWord)
      throw new Violation('a guard halts for nodes that started it', name)
  }
}

function isReady({ node, partitionedSinceUs }: FleetAgent, nowUs: number): boolean {
  const awayUs = Math.min(node.downSinceUs ?? nowUs, partitionedSinceUs ?? nowUs)
  return !node.isSick && nowUs - awayUs < HEARTBEATS_US
}
