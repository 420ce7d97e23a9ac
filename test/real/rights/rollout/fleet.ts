// SPDX-License-Identifier: Apache-2.0
/**
 * A fleet that decides with the agent's own code and writes what it decides, each node as itself,
 * to a real API server. Kubelets and time are simulated: a content passes its trial after ten
 * minutes, or fails after one.
 */
import { strict as assert } from 'node:assert'
import { decideRollout } from '../../../../src/rollout/decide.ts'
import { parsePlan } from '../../../../src/rollout/plan.ts'
import { type ParsedRecord, parseRecord } from '../../../../src/rollout/record.ts'
import { type Observation, observeRecord, observeTurn } from '../../../../src/rollout/silence.ts'
import type { RolloutDecision, RolloutNode, RolloutWriteKind } from '../../../../src/rollout/view.ts'
import type { ControlPlane } from '../../lab/control-plane.ts'
import { eventually } from '../../lab/eventually.ts'
import { ask, type Who } from '../ask.ts'
import { pathOf } from './write.ts'

const SECOND_US = 1_000_000
const TICK_US = 10 * SECOND_US
const TRIAL_US = 600 * SECOND_US
const CRASH_US = 60 * SECOND_US

interface Content {
  readonly hash: string
  readonly isGood: boolean
}

interface Config {
  readonly uid: string
  readonly resourceVersion: string
  readonly plan: string
  readonly content: Content
}

interface Member {
  readonly name: string
  readonly controlPlane: boolean
  arrival: RolloutNode['arrival']
  observation: Observation | undefined
  /** The content that kubelet runs, and since when. */
  runs: { readonly hash: string; readonly sinceUs: number } | undefined
  readonly promoted: Set<string>
  readonly failed: Map<string, { readonly reason: string; readonly retry: number }>
}

export class Fleet {
  readonly #plane: ControlPlane
  readonly #as: (name: string) => Who
  readonly #path: string
  readonly #members = new Map<string, Member>()
  readonly #writes: { readonly kind: RolloutWriteKind; readonly node: string }[] = []
  readonly #starts: string[] = []
  #nowUs = SECOND_US

  constructor(plane: ControlPlane, record: string, as: (name: string) => Who) {
    this.#plane = plane
    this.#as = as
    this.#path = pathOf({ namespace: 'kube-system', name: record })
  }

  join(name: string, { controlPlane = false, arrival = 'there' }: Partial<Pick<Member, 'controlPlane' | 'arrival'>> = {}): void {
    this.#members.set(name, {
      name,
      controlPlane,
      arrival,
      observation: undefined,
      runs: undefined,
      promoted: new Set(),
      failed: new Map(),
    })
  }

  /**
   * How often each kind of write was made, and which nodes started a content, since the last call.
   */
  account(): { readonly writes: Readonly<Partial<Record<RolloutWriteKind, number>>>; readonly started: readonly string[] } {
    const writes: Partial<Record<RolloutWriteKind, number>> = {}
    for (const { kind } of this.#writes.splice(0)) writes[kind] = (writes[kind] ?? 0) + 1
    return { writes, started: this.#starts.splice(0) }
  }

  runningOn({ hash }: Content): number {
    return [...this.#members.values()].filter(({ runs }) => runs?.hash === hash).length
  }

  /** Lets time pass until nobody has done anything for an hour. */
  async settle(config: Config): Promise<void> {
    let quietUs = 0
    let reading = await this.#read()
    while (quietUs < 3600 * SECOND_US) {
      this.#nowUs += TICK_US
      quietUs += TICK_US
      for (const member of this.#members.values()) {
        this.#liveOn(member, config)
        const { turn, write } = this.#decide(member, config, reading)
        if (write !== undefined) {
          await this.#write(member.name, write)
          reading = await this.#read()
          quietUs = 0
        } else if (turn.kind === 'go' && member.runs?.hash !== config.content.hash && !member.failed.has(config.content.hash)) {
          member.runs = { hash: config.content.hash, sinceUs: this.#nowUs }
          this.#starts.push(member.name)
          quietUs = 0
        }
      }
    }
  }

  /** Kubelet crashes on a bad content, and the node goes back. `retry` lifts the verdict. */
  #liveOn(member: Member, { plan, content }: Config): void {
    const parsed = parsePlan(plan)
    assert(parsed.ok)
    const verdict = member.failed.get(content.hash)
    if (verdict !== undefined && verdict.retry < parsed.plan.retry) member.failed.delete(content.hash)
    if (member.runs?.hash !== content.hash) return
    const forUs = this.#nowUs - member.runs.sinceUs
    if (!content.isGood && forUs >= CRASH_US) {
      member.failed.set(content.hash, { reason: `kubelet crashed on ${member.name}`, retry: parsed.plan.retry })
      member.runs = undefined
    } else if (forUs >= TRIAL_US) member.promoted.add(content.hash)
  }

  #decide(member: Member, config: Config, { record, recordUid, resourceVersion }: Reading): RolloutDecision {
    const { name, controlPlane, arrival, runs, promoted, failed } = member
    const { uid, content } = config
    const nowUs = this.#nowUs
    const plan = parsePlan(config.plan)
    const retry = plan.ok ? plan.plan.retry : 0
    const sighting = {
      record,
      recordUid,
      resourceVersion,
      configUid: uid,
      hash: content.hash,
      assignment: 0,
      retry,
      nowUs,
      contactUs: TICK_US,
    }
    const observation = observeRecord(member.observation, sighting)
    const decision = decideRollout({
      nowUs,
      node: {
        name,
        uid: `uid-of-${name}`,
        canary: false,
        controlPlane,
        arrival,
        hash: content.hash,
        verdict: failed.get(content.hash),
        runs: runs?.hash === content.hash,
        proven: runs?.hash === content.hash && promoted.has(content.hash),
        promoted: promoted.has(content.hash),
        workedBefore: promoted.has(content.hash),
        // No member reboots: what it observed tells the same.
        sawUnfinished: false,
        waves: undefined,
        ready: { ok: true },
        evidence: { kind: 'readable' },
        claimSeconds: 900,
        trialUs: TRIAL_US,
      },
      config: { uid, resourceVersion: config.resourceVersion, hash: content.hash, plan },
      record: { kind: 'read', record, resourceVersion, observation },
    })
    member.observation = observeTurn(observation, decision.letGo === true, nowUs)
    return decision
  }

  async #read(): Promise<Reading> {
    const { status, message, body } = await ask(this.#plane, this.#as('n1'), { method: 'GET', path: this.#path })
    assert.equal(status, 200, message)
    const { metadata, data } = JSON.parse(body)
    const parsed = parseRecord(data)
    assert(parsed.ok, 'the record cannot be read')
    return { record: parsed.record, recordUid: metadata.uid, resourceVersion: metadata.resourceVersion }
  }

  /** A policy learns of an edit of its parameter a moment late. */
  async #write(node: string, { kind, resourceVersion, data, detail }: NonNullable<RolloutDecision['write']>): Promise<void> {
    const body = { metadata: { resourceVersion }, data }
    const send = async () => {
      const { status, message } = await ask(this.#plane, this.#as(node), { method: 'PATCH', path: this.#path, body, forReal: true })
      assert(status < 400, message)
      return true
    }
    await eventually(send, { what: `${node} writes ${kind}: ${detail}` })
    this.#writes.push({ kind, node })
  }
}

interface Reading {
  readonly record: Extract<ParsedRecord, { ok: true }>['record']
  readonly recordUid: string
  readonly resourceVersion: string
}
