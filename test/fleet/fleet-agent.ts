// SPDX-License-Identifier: Apache-2.0
/**
 * The agent on a simulated node, around the decision that ships. Watches only wake it: before a
 * write or a start it reads the record and then the config, and decides again (R3). It keeps the
 * observation in what stands for /run.
 */

import { decideRollout } from '../../src/rollout/decide.ts'
import { keepOrder, zoneOrderOf } from '../../src/rollout/plan.ts'
import { progressOf } from '../../src/rollout/progress.ts'
import { parseState } from '../../src/rollout/record.ts'
import type { RecordReading, RolloutDecision, RolloutTime, RolloutWrite } from '../../src/rollout/view.ts'
import { SECOND_US } from '../../src/values/durations.ts'
import type { Random } from '../sim/random.ts'
import { CLAIM_SECONDS, type Content, TRIAL_US } from './content.ts'
import type { EventQueue } from './event-queue.ts'
import { EvidenceReader } from './evidence-reader.ts'
import type { Answer, Client, ConfigObject, FleetApi, RecordObject } from './fleet-api.ts'
import type { FleetNode } from './fleet-node.ts'
import { planOf, planRetry, planTimeZone } from './parsed.ts'
import { type Seen, Sightings } from './sightings.ts'
import { Watches } from './watches.ts'
import { zoneOf } from './zones.ts'

/** The objects that a node had read when it started a content. */
export interface StartReading {
  readonly config: ConfigObject
  readonly record: RecordObject | undefined
  /** undefined: the node had never seen that the config has a rollout. */
  readonly recordName: string | undefined
  readonly turn: string
}

export interface AgentWorld {
  readonly queue: EventQueue
  readonly random: Random
  readonly api: FleetApi
  time(timeZone: string): RolloutTime
  onStart(node: FleetNode, content: Content, reading: StartReading): void
  trace(node: string, text: () => string): void
}

export class FleetAgent implements Client {
  readonly node: FleetNode
  readonly name: string
  readonly #world: AgentWorld
  #isRunning = true
  /** Since when its node has no network. */
  partitionedSinceUs: number | undefined
  #run = 0
  #busy = false
  #dirty = false
  #timer = 0
  #seen: Seen | undefined
  #sawAtUs = -1
  #prepared: Content | undefined
  readonly #watches: Watches
  readonly #sightings = new Sightings()
  #lastWriteUs = Number.NEGATIVE_INFINITY
  /** Before then the API server wants no request of it. */
  #notBeforeUs = 0
  /** Until then a drain or a window is waited for. */
  readyAtUs = 0
  unreadySinceUs: number | undefined
  readonly evidence = new EvidenceReader()
  last: RolloutDecision | undefined

  constructor(node: FleetNode, world: AgentWorld) {
    this.node = node
    this.name = node.traits.name
    this.#world = world
    this.#watches = new Watches(this, world.api, () => this.#changed())
    node.onChange = () => this.wake()
  }

  connected(): boolean {
    return this.#isRunning && this.partitionedSinceUs === undefined && this.node.isUp
  }

  /** Since when it has followed the record without a break. */
  get followsSinceUs(): number {
    return this.#sightings.followsSinceUs
  }

  /** The network, the API server or the node came or went. */
  contactChanged(): void {
    const { api, queue, random } = this.#world
    const has = this.connected() && api.up
    if (this.#sightings.contactChanged(has, queue.nowUs)) queue.after(random.between(0, 5 * SECOND_US), () => this.#refresh())
  }

  partition(is: boolean): void {
    this.partitionedSinceUs = is ? (this.partitionedSinceUs ?? this.#world.queue.nowUs) : undefined
    this.contactChanged()
  }

  stop(): void {
    this.#isRunning = false
    this.#forget()
    this.contactChanged()
  }

  begin(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#forget()
    this.contactChanged()
  }

  /** The download, drain or window that the node waited for before its turn is there. */
  isReady(): void {
    this.readyAtUs = 0
    this.unreadySinceUs = undefined
    this.wake()
  }

  /** /run ends with the boot. */
  reboot(): void {
    this.#sightings.forget()
    this.node.rest()
  }

  /** Forgets the memory of the process. */
  #forget(): void {
    this.#run += 1
    this.#busy = false
    this.#dirty = false
    this.#seen = undefined
    this.#prepared = undefined
    this.evidence.stop()
    this.#watches.close()
  }

  assignmentChanged(): void {
    this.#sightings.forget()
    this.node.sawUnfinished = undefined
    this.node.began = undefined
    this.#forget()
    this.#refresh()
  }

  wake(): void {
    if (!this.connected()) return
    if (this.#busy) this.#dirty = true
    else if (this.#seen === undefined || this.#dirty) this.#refresh()
    else this.#act(false)
  }

  #later(delayUs: number, run: () => void): void {
    const started = this.#run
    this.#world.queue.after(delayUs, () => {
      if (this.#run === started && this.node.isUp) run()
    })
  }

  /** The record, then the config, both at the newest. */
  #refresh(then: () => void = () => this.#act(false)): void {
    const { config } = this.node
    if (config === undefined || this.#busy || !this.connected()) return
    if (this.#world.queue.nowUs < this.#notBeforeUs) {
      this.#wakeAt(this.#notBeforeUs)
      return
    }
    this.#busy = true
    this.#dirty = false
    const recordName = this.node.rollouts.get(config)
    const started = this.#run
    const guarded = (next: (answer: Answer) => void) => (answer: Answer) => {
      if (this.#run === started && this.node.isUp) next(answer)
    }
    const readConfig = (record: RecordObject | undefined) =>
      this.#world.api.get(
        this,
        config,
        guarded((answer) => {
          if (answer.kind === 'found' && answer.object.kind === 'config') this.#hasRead(answer.object, recordName, record, then)
          else this.#retryLater(answer.kind === 'failed' ? answer.retryAfterUs : 0)
        }),
      )
    if (recordName === undefined) {
      readConfig(undefined)
      return
    }
    this.#world.api.get(
      this,
      recordName,
      guarded((answer) => {
        if (answer.kind === 'failed') this.#retryLater(answer.retryAfterUs)
        else readConfig(answer.kind === 'found' && answer.object.kind === 'record' ? answer.object : undefined)
      }),
    )
  }

  #hasRead(config: ConfigObject, recordName: string | undefined, record: RecordObject | undefined, then: () => void): void {
    this.#busy = false
    const named = config.rollout
    if (named !== undefined && named !== 'off' && named !== recordName) {
      this.node.rollouts.set(this.node.config ?? '', named)
      this.#refresh(then)
      return
    }
    this.#see({ config, recordName, record })
    then()
    if (this.#dirty && !this.#busy) this.#later(0, () => this.wake())
  }

  /** @param retryAfterUs what the API server asks for: a whole fleet may get the same */
  #retryLater(retryAfterUs: number): void {
    const { queue, random } = this.#world
    this.#busy = false
    const ownUs = random.between(2, 10) * SECOND_US
    const askedUs = retryAfterUs === 0 ? 0 : retryAfterUs * (1 + 0.2 * random.next())
    if (askedUs > 0) this.#notBeforeUs = queue.nowUs + askedUs
    this.#later(Math.max(ownUs, askedUs), () => this.#refresh())
  }

  #see(seen: Seen): void {
    const { nowUs } = this.#world.queue
    // A fleet of thousands is told of each write, and acts on that at once.
    if (seen === this.#seen && nowUs === this.#sawAtUs) return
    this.#seen = seen
    this.#sawAtUs = nowUs
    this.#sightings.see(seen, nowUs)
  }

  #act(fresh: boolean): void {
    const { node, name } = this
    const seen = this.#seen
    const configName = node.config
    if (seen === undefined || configName === undefined || node.traits.liar) return
    const { content } = seen.config
    if (this.#prepared?.hash !== content.hash) this.#prepare(content)
    this.#timer += 1
    if (node.traits.old || seen.config.rollout === 'off' || seen.recordName === undefined) {
      this.#watches.open(configName, undefined, seen)
      if (this.#mayStart(seen.config)) this.#start(configName, seen, 'no rollout')
      return
    }
    // The time that has passed without a word counts too.
    this.#see(seen)
    const decision = this.#decide(seen)
    this.#sightings.decided(decision, this.#world.queue.nowUs)
    this.#rememberFailure(content.hash, decision)
    this.last = decision
    this.#watches.open(configName, decision.follow ? seen.recordName : undefined, seen)
    const { turn, write } = decision
    const starts = turn.kind === 'go' && this.#mayStart(seen.config)
    if (!fresh && (write !== undefined || starts)) {
      this.#refresh(() => this.#act(true))
      return
    }
    this.#world.trace(name, () => `${turn.kind}: ${turn.detail}${write === undefined ? '' : `; writes ${write.kind}`}`)
    if (write !== undefined) this.#write(seen.recordName, write)
    else if (starts) this.#start(configName, seen, turn.detail)
    else if (turn.kind === 'wait-until') this.#wakeAt(turn.atUs)
    else if (turn.kind === 'wait' && turn.asks === 'evidence') this.#readEvidence()
  }

  #wakeAt(atUs: number): void {
    const timer = this.#timer
    this.#later(atUs - this.#world.queue.nowUs, () => {
      if (this.#timer === timer) this.wake()
    })
  }

  #prepare(content: Content): void {
    this.#later(this.#world.random.between(1, 4) * SECOND_US, () => {
      if (this.#seen?.config.content.hash !== content.hash) return
      this.#prepared = content
      this.wake()
    })
  }

  #mayStart(config: ConfigObject): boolean {
    const { node } = this
    const verdict = node.verdicts.get(config.content.hash)
    const isCondemned = verdict !== undefined && verdict.retry >= planRetry(config)
    return node.runs.hash !== config.content.hash && this.#prepared?.hash === config.content.hash && !isCondemned && this.#isReady(config)
  }

  #isReady(config: ConfigObject): boolean {
    return !config.paused && this.#world.queue.nowUs >= this.readyAtUs
  }

  #decide(seen: Seen): RolloutDecision {
    const { node } = this
    const { traits } = node
    const { config } = seen
    const hash = this.#prepared?.hash ?? '-'
    const runs = node.runs.hash === hash
    const paused = config.paused ? ({ on: 'ConfigMap', by: 'the config' } as const) : undefined
    if (!this.#isReady(config) && this.readyAtUs > this.#world.queue.nowUs) this.#wakeAt(this.readyAtUs)
    const record = this.#sightings.reading(seen)
    this.#remember(seen, record, hash)
    return decideRollout({
      nowUs: this.#world.queue.nowUs,
      config: { uid: config.uid, resourceVersion: config.resourceVersion, hash: config.content.hash, plan: planOf(config), paused },
      record,
      time: this.#world.time(planTimeZone(config)),
      node: {
        name: traits.name,
        uid: traits.uid,
        canary: traits.canary,
        controlPlane: traits.controlPlane,
        arrival: node.runsConfig === node.config ? 'there' : traits.joined && node.runsConfig === undefined ? 'joined' : 'switched',
        hash,
        verdict: node.verdicts.get(hash),
        runs,
        proven: runs && node.proven,
        promoted: node.promoted.has(hash),
        broughtIn: node.broughtIn.get(hash),
        workedBefore: node.everPromoted.has(hash),
        sawUnfinished: node.sawUnfinished === hash,
        waves: node.began?.waves,
        zones: node.began?.zones,
        zone: zoneOf(traits),
        ready: this.#isReady(config) ? { ok: true } : { ok: false, detail: 'a drain or a window is waited for' },
        evidence: this.evidence.access(this.#world.queue.nowUs),
        claimSeconds: CLAIM_SECONDS,
        trialUs: TRIAL_US,
      },
    })
  }

  /** On the disk: what was observed is forgotten at a reboot. */
  #remember({ config }: Seen, reading: RecordReading, hash: string): void {
    const parsed = planOf(config)
    if (!parsed.ok || hash !== config.content.hash) return
    const { retry, waves } = parsed.plan
    const { began } = this.node
    if (began?.hash === hash && retry > began.retry) this.node.isAskedAnew(hash)
    if (began?.hash !== hash || retry > began.retry) this.node.began = { hash, retry, waves, zones: zoneOrderOf(parsed.plan) }
    const plan = keepOrder(parsed.plan, this.node.began?.waves, this.node.began?.zones)
    if (reading.kind === 'read' && progressOf(plan, reading.record, hash, reading.observation)?.finished === false)
      this.node.sawUnfinished = hash
  }

  #rememberFailure(hash: string, { failed, turn }: RolloutDecision): void {
    const verdict = this.node.verdicts.get(hash)
    if (failed === undefined || verdict === undefined || verdict.late === true) return
    const halted = failed === 'in-rollout' && (verdict.halted === true || turn.kind === 'halted')
    this.node.verdicts.set(hash, { ...verdict, late: failed === 'late', halted })
  }

  #readEvidence(): void {
    const { queue, random } = this.#world
    const { begins, againUs } = this.evidence.begin(queue.nowUs)
    if (againUs !== undefined) this.#wakeAt(againUs)
    if (!begins) return
    this.#later(random.between(10, 1500) * 1000, () => {
      this.evidence.end(queue.nowUs)
      this.wake()
    })
  }

  #write(recordName: string, write: RolloutWrite): void {
    const { queue, api } = this.#world
    if (queue.nowUs < this.#lastWriteUs + SECOND_US) {
      this.#wakeAt(this.#lastWriteUs + SECOND_US)
      return
    }
    this.#lastWriteUs = queue.nowUs
    this.#busy = true
    const started = this.#run
    api.patch(this, recordName, write.resourceVersion, write.data, (answer) => {
      if (this.#run !== started || !this.node.isUp) return
      this.#busy = false
      this.#world.trace(this.name, () => `${write.kind}: ${answer.kind} (${write.detail})`)
      if (answer.kind === 'failed') this.#retryLater(answer.retryAfterUs)
      else if (answer.kind === 'refused') this.#later(60 * SECOND_US, () => this.#refresh())
      else this.#refresh()
    })
  }

  /** From the fresh reading to the activation it is a moment, in which the agent may be killed. */
  #start(configName: string, { config, record, recordName }: Seen, turn: string): void {
    this.#busy = true
    this.#later(this.#world.random.between(1, 1000) * 1000, () => {
      this.#busy = false
      this.#world.onStart(this.node, config.content, { config, record, recordName, turn })
      const state = parseState(record?.data.state ?? '')
      this.node.start(configName, config.content, planRetry(config), state?.hash === config.content.hash ? state.generation : undefined)
      this.wake()
    })
  }

  /** A watch delivers what it is about; only a write or a start needs to be read for. */
  #changed(): void {
    const { api } = this.#world
    const seen = this.#seen
    if (seen === undefined || this.#busy || this.node.config === undefined) {
      this.wake()
      return
    }
    const config = api.peek(this.node.config)
    const record = seen.recordName === undefined ? undefined : api.peek(seen.recordName)
    if (config?.kind !== 'config' || (config.rollout !== undefined && config.rollout !== 'off' && config.rollout !== seen.recordName)) {
      this.#refresh()
      return
    }
    this.#see({ config, recordName: seen.recordName, record: record?.kind === 'record' ? record : undefined })
    this.wake()
  }
}
