/**
 * The agent on a simulated node, around the decision that ships. Watches only wake it: before a
 * write or a start it reads the record and then the config, and decides again (R3). It keeps the
 * observation in what stands for /run.
 */

import { decideRollout } from '../../src/rollout/decide.ts'
import { type ParsedPlan, parsePlan } from '../../src/rollout/plan.ts'
import { parseRecord } from '../../src/rollout/record.ts'
import { type Observation, observe } from '../../src/rollout/silence.ts'
import type { RecordReading, RolloutDecision, RolloutNode, RolloutWrite } from '../../src/rollout/view.ts'
import { SECOND_US } from '../../src/values/durations.ts'
import type { Random } from '../sim/random.ts'
import { CLAIM_SECONDS, type Content, TRIAL_US } from './content.ts'
import type { EventQueue } from './event-queue.ts'
import type { Answer, Client, ConfigObject, FleetApi, RecordObject } from './fleet-api.ts'
import type { FleetNode } from './fleet-node.ts'

/** As the agent takes its baseline again: src/decision/evidence-schedule.ts. */
const EVIDENCE_OLD_US = 600 * SECOND_US
const EVIDENCE_OUTAGE_US = 60 * SECOND_US

/** What a node had read when it started a content. */
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
  onStart(node: FleetNode, content: Content, reading: StartReading): void
  trace(node: string, text: () => string): void
}

interface Seen {
  readonly config: ConfigObject
  readonly recordName: string | undefined
  /** undefined: it is missing. */
  readonly record: RecordObject | undefined
}

export class FleetAgent implements Client {
  readonly node: FleetNode
  readonly name: string
  readonly #world: AgentWorld
  #isRunning = true
  #partitioned = false
  #run = 0
  #busy = false
  #dirty = false
  #timer = 0
  #seen: Seen | undefined
  #prepared: Content | undefined
  #watched: { readonly config: string; readonly record: string | undefined } | undefined
  #observation: Observation | undefined
  #contactFromUs: number | undefined
  #contactUs = 0
  /** Since when it has followed the record without a break. */
  followsSinceUs = Number.POSITIVE_INFINITY
  #lastWriteUs = Number.NEGATIVE_INFINITY
  /** Until then a drain or a window is waited for. */
  readyAtUs = 0
  unreadySinceUs: number | undefined
  /** Until then its evidence cannot be read. */
  blindUntilUs = 0
  /** When its evidence was read last, and whether it could be. */
  #evidence: { readonly atUs: number; readonly access: RolloutNode['evidence'] } | undefined
  #isReadingEvidence = false
  last: RolloutDecision | undefined

  constructor(node: FleetNode, world: AgentWorld) {
    this.node = node
    this.name = node.traits.name
    this.#world = world
    node.onChange = () => this.wake()
  }

  connected(): boolean {
    return this.#isRunning && !this.#partitioned && this.node.isUp
  }

  get follows(): boolean {
    return this.#watched?.record !== undefined
  }

  /** The network, the API server or the node came or went. */
  contactChanged(): void {
    const has = this.connected() && this.#world.api.up
    const { nowUs } = this.#world.queue
    if (has && this.#contactFromUs === undefined) {
      this.#contactFromUs = nowUs
      this.#world.queue.after(this.#world.random.between(0, 5 * SECOND_US), () => this.#refresh())
    } else if (!has) {
      this.#takeContact()
      this.#contactFromUs = undefined
      this.followsSinceUs = Number.POSITIVE_INFINITY
    }
  }

  #takeContact(): void {
    const { nowUs } = this.#world.queue
    if (this.#contactFromUs === undefined) return
    this.#contactUs += nowUs - this.#contactFromUs
    this.#contactFromUs = nowUs
  }

  partition(is: boolean): void {
    this.#partitioned = is
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

  /** What it waited for before its turn is there. */
  isReady(): void {
    this.readyAtUs = 0
    this.unreadySinceUs = undefined
    this.wake()
  }

  /** /run ends with the boot. */
  reboot(): void {
    this.#observation = undefined
    this.node.rest()
  }

  /** What the memory of the process held. */
  #forget(): void {
    this.#run += 1
    this.#busy = false
    this.#dirty = false
    this.#seen = undefined
    this.#prepared = undefined
    this.#isReadingEvidence = false
    this.#unwatch()
  }

  assignmentChanged(): void {
    this.#observation = undefined
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
          else this.#retryLater()
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
        if (answer.kind === 'failed') this.#retryLater()
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

  #retryLater(): void {
    this.#busy = false
    this.#later(this.#world.random.between(2, 10) * SECOND_US, () => this.#refresh())
  }

  #see(seen: Seen): void {
    this.#seen = seen
    const { config, record } = seen
    if (record === undefined) return
    const parsed = parsedRecord(record)
    if (!parsed.ok) return
    // Without the annotation nobody reads or writes the record, so this is no time with contact.
    if (config.rollout === undefined) this.#contactFromUs = this.#world.queue.nowUs
    this.#takeContact()
    this.followsSinceUs = Math.min(this.followsSinceUs, this.#world.queue.nowUs)
    this.#observation = observe(this.#observation, {
      record: parsed.record,
      recordUid: record.uid,
      resourceVersion: record.resourceVersion,
      configUid: config.uid,
      hash: config.content.hash,
      retry: planRetry(config),
      nowUs: this.#world.queue.nowUs,
      contactUs: this.#contactUs,
    })
    this.#contactUs = 0
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
      this.#watch(configName, undefined)
      if (this.#mayStart(seen.config)) this.#start(configName, seen, 'no rollout')
      return
    }
    // The time that has passed without a word counts too.
    this.#see(seen)
    const decision = this.#decide(seen)
    this.last = decision
    this.#watch(configName, decision.follow ? seen.recordName : undefined)
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
    if (!this.#isReady(config) && this.readyAtUs > this.#world.queue.nowUs) this.#wakeAt(this.readyAtUs)
    return decideRollout({
      nowUs: this.#world.queue.nowUs,
      config: { uid: config.uid, resourceVersion: config.resourceVersion, hash: config.content.hash, plan: planOf(config) },
      record: this.#reading(seen),
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
        ready: this.#isReady(config) ? { ok: true } : { ok: false, detail: 'a drain or a window is waited for' },
        evidence: this.#evidenceAccess(),
        claimSeconds: CLAIM_SECONDS,
        trialUs: TRIAL_US,
      },
    })
  }

  #evidenceAccess(): RolloutNode['evidence'] {
    const read = this.#evidence
    if (read === undefined) return { kind: 'unread' }
    const ageUs = this.#world.queue.nowUs - read.atUs
    return ageUs > (read.access.kind === 'readable' ? EVIDENCE_OLD_US : EVIDENCE_OUTAGE_US) ? { kind: 'unread' } : read.access
  }

  #readEvidence(): void {
    if (this.#isReadingEvidence || this.#evidenceAccess().kind !== 'unread') {
      if (!this.#isReadingEvidence) this.#wakeAt(this.#world.queue.nowUs + EVIDENCE_OUTAGE_US + SECOND_US)
      return
    }
    this.#isReadingEvidence = true
    this.#later(this.#world.random.between(10, 1500) * 1000, () => {
      const { nowUs } = this.#world.queue
      this.#isReadingEvidence = false
      this.#evidence = {
        atUs: nowUs,
        access: nowUs < this.blindUntilUs ? { kind: 'unreadable', detail: 'unreachable' } : { kind: 'readable' },
      }
      this.wake()
    })
  }

  #reading({ config, record, recordName }: Seen): RecordReading {
    if (config.rollout === undefined) return { kind: 'unavailable', detail: 'the annotation is gone' }
    if (record === undefined || this.#observation === undefined) return { kind: 'unavailable', detail: `${recordName} is missing` }
    const parsed = parsedRecord(record)
    if (!parsed.ok) return { kind: 'unavailable', detail: `${recordName} cannot be read: ${parsed.problem}` }
    return { kind: 'read', record: parsed.record, resourceVersion: record.resourceVersion, observation: this.#observation }
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
      this.#world.trace(this.name, () => `${write.kind}: ${answer} (${write.detail})`)
      if (answer === 'failed') this.#retryLater()
      else if (answer === 'refused') this.#later(60 * SECOND_US, () => this.#refresh())
      else this.#refresh()
    })
  }

  /** From the fresh reading to the activation it is a moment, in which the agent may be killed. */
  #start(configName: string, { config, record, recordName }: Seen, turn: string): void {
    this.#busy = true
    this.#later(this.#world.random.between(1, 1000) * 1000, () => {
      this.#busy = false
      this.#world.onStart(this.node, config.content, { config, record, recordName, turn })
      this.node.start(configName, config.content, planRetry(config))
      this.wake()
    })
  }

  #watch(config: string, record: string | undefined): void {
    const before = this.#watched
    if (before?.config === config && before.record === record) return
    const { api } = this.#world
    if (before?.record !== undefined && before.record !== record) api.unwatch(this, before.record)
    if (before?.config !== config) api.watch(this, config, this.#seen?.config.resourceVersion, () => this.#changed())
    if (record !== undefined && before?.record !== record)
      api.watch(this, record, this.#seen?.record?.resourceVersion, () => this.#changed())
    this.#watched = { config, record }
  }

  #unwatch(): void {
    if (this.#watched === undefined) return
    this.#world.api.unwatch(this, this.#watched.config)
    if (this.#watched.record !== undefined) this.#world.api.unwatch(this, this.#watched.record)
    this.#watched = undefined
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

const PARSED = new WeakMap<RecordObject, ReturnType<typeof parseRecord>>()

/** Thousands of nodes read the same text. */
export function parsedRecord(record: RecordObject): ReturnType<typeof parseRecord> {
  const known = PARSED.get(record)
  if (known !== undefined) return known
  const parsed = parseRecord(record.data)
  PARSED.set(record, parsed)
  return parsed
}

const PLANS = new WeakMap<ConfigObject, ParsedPlan>()

function planOf(config: ConfigObject): ParsedPlan {
  const known = PLANS.get(config)
  if (known !== undefined) return known
  const parsed = parsePlan(config.planText)
  PLANS.set(config, parsed)
  return parsed
}

function planRetry(config: ConfigObject): number {
  const parsed = planOf(config)
  return parsed.ok ? parsed.plan.retry : 0
}
