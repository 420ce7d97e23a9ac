// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 17: a config on trial with which kubelet is healthy, and with which the node does not
 * work, is left within the times of docs/evidence.md, also while another config waits to replace
 * it. What keeps the agent from looking, or from asking, starts the times anew, and ends nothing
 * else.
 */
import assert from 'node:assert/strict'
import { findRunning } from '../../src/decision/held-sources.ts'
import type { Policy, Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import { assess, standsIn } from '../../src/decision/target.ts'
import { findByKey } from '../../src/decision/verdict.ts'
import type { OptionalKind } from '../../src/evidence/kinds.ts'
import { isMissing, LOCAL_CONTENT } from '../../src/subject/config-source.ts'
import { contentOfKey, type TrialKey } from '../../src/subject/trial-key.ts'
import { type Behaviour, behaviourOf, type SimProcess } from './behaviour.ts'
import { STARVED_US } from './sim-troubles.ts'
import type { KubeletObserver, SimWorld } from './sim-world.ts'
import { isOriginLost } from './unseen.ts'

/** How a kind of evidence says no of a config. */
interface Rule {
  readonly kind: OptionalKind
  /**
   * How much later the answer may come that shows it: by the first questions and the pauses between
   * them in src/evidence, and by the requests that a trial may cost.
   */
  readonly askedUs: (policy: Policy) => number
  /** The answer, or what it means, comes from the API server. */
  readonly ofServer: boolean
  /** It is a no only if it was a yes before. */
  readonly isCompared: boolean
}

/** Of the Lease, which is of 40 s here: 1.5 times its duration. */
const LEASE_US = 60e6
const MISSING_US = 150e6
/** Before the end of a trial. */
const LAST_LOOK_US = 20e6
/** Of the answer of the API server that says whose fault an answer of the TLS port is. */
const SERVER_UP_US = 15e6
/** A restart that waits may be a moment away: nothing is asked about its process for so long. */
const REPLACED_WITHIN_US = 60e6
/** A trial has eight requests, beside the first ones. */
const requestUs = ({ trialUs }: Policy) => trialUs / 8
/** The Node, the Lease and the pods share the requests. */
const OTHER_QUESTIONS = 2

/** For how long a kind is missing at a no, once kubelet is healthy: docs/evidence.md, column No. */
export const EVIDENCE_LIMITS_US: Readonly<Record<OptionalKind, (policy: Policy) => number>> = {
  runtime: ({ toleranceUs }) => toleranceUs,
  lease: ({ startDeadlineUs }) => startDeadlineUs + LEASE_US,
  ready: ({ trialUs }) => Math.min(300e6, trialUs / 2),
  serving: ({ toleranceUs }) => toleranceUs,
  'static-pods': () => MISSING_US,
  pods: () => 0,
}

const RULES: Readonly<Partial<Record<Behaviour, Rule>>> = {
  'loses-lease': {
    kind: 'lease',
    askedUs: requestUs,
    ofServer: true,
    isCompared: false,
  },
  'not-ready': {
    kind: 'ready',
    // One answer shows the first report of kubelet's, and another the end of the limit, after a
    // turn of other kinds.
    askedUs: (policy) => 5e6 + 3 * requestUs(policy),
    ofServer: true,
    isCompared: true,
  },
  'breaks-serving': {
    kind: 'serving',
    askedUs: (policy) => SERVER_UP_US + requestUs(policy),
    ofServer: true,
    isCompared: true,
  },
  'loses-static-pods': { kind: 'static-pods', askedUs: () => 20e6, ofServer: false, isCompared: true },
  'refuses-pods': { kind: 'pods', askedUs: ({ trialUs }) => trialUs / 2, ofServer: true, isCompared: true },
}

export class EvidenceTimesInvariant implements KubeletObserver {
  readonly #world: SimWorld
  readonly #isPaused: () => boolean
  /** What the agent had written down before it restarted kubelet, by the config that came then. */
  readonly #before = new Map<string, ReadonlySet<OptionalKind>>()
  #lostStates = 0
  #bootId = ''
  /** The process, in which look at the world. */
  #about = ''
  #sinceUs = 0
  #wasExcused = true
  /** When the API server was last away, of this process. */
  #awayUs = Number.NEGATIVE_INFINITY
  /** The boot and the config of the last processes, which share requests. */
  #last: readonly [string, string] = ['', '']
  /** When the first of these started. */
  #firstUs = 0
  /** The process that the agent has also asked about for the baseline of what is to replace it. */
  #baselineOf = ''
  /** As of the last look at this process. */
  #isOnTrial = false
  /** The same: the agent knows how the node was before it. */
  #isCompared = false
  /** The process that the agent has answered. */
  #answered: string | undefined
  /** A process whose trial ended while the API server could not be asked. */
  #passed: string | undefined

  constructor(world: SimWorld, isPaused: () => boolean) {
    this.#world = world
    this.#isPaused = isPaused
    world.onKubelet.push(this)
  }

  started({ text, startedAtUs }: SimProcess): void {
    const { bootId } = this.#world.clock.now()
    const [lastBootId, lastText] = this.#last
    if (text !== lastText || bootId !== lastBootId) this.#firstUs = startedAtUs
    // What replaces a config on trial is compared with how the node was before that one, if the
    // agent knows that: of one that had been promoted and was reset, it does not.
    const before = this.#isOnTrial && this.#isCompared && bootId === lastBootId ? this.#before.get(lastText) : undefined
    if (before !== undefined && !this.#before.has(text)) this.#before.set(text, without(before, 'pods'))
    this.#last = [bootId, text]
  }

  exited(): void {}

  decided(snapshot: Snapshot, step: Step): void {
    const { running } = snapshot
    if (step.kind === 'restart') this.#noteBaseline(snapshot, step.record.target)
    if (running.kind === 'known') {
      this.#isOnTrial = isOnTrial(snapshot, running)
      const { baseline, displaced } = snapshot.evidence ?? {}
      this.#isCompared = [baseline, displaced].some((each) => each !== undefined && contentOfKey(each.candidate) === running.content)
    }
    // What comes then is a fallback.
    if (step.kind === 'condemn') this.#isOnTrial = false
    if (running.kind !== 'known') return
    const { baseline } = snapshot.evidence ?? {}
    if (baseline?.invocationId === running.invocationId) this.#baselineOf = running.invocationId
    if (step.kind === 'condemn' && contentOfKey(step.verdict.key) === running.content) this.#answered = running.invocationId
  }

  /** The answer may not have been written. Until the agent is back, nobody looks. */
  agentDied(): void {
    this.#answered = undefined
    this.#wasExcused = true
  }

  check(): void {
    const { unit, nowUs, clock, lostRuntimes, lostStates, lookUs, policy } = this.#world
    const { bootId } = clock.now()
    // A boot ends pods.
    if (bootId !== this.#bootId) for (const [text, kinds] of this.#before) this.#before.set(text, without(kinds, 'pods'))
    if (lostStates !== this.#lostStates) this.#before.clear()
    this.#bootId = bootId
    this.#lostStates = lostStates
    const about = `${bootId} ${unit.invocationId} ${clock.suspensions} ${lostRuntimes}`
    if (about !== this.#about) {
      this.#isOnTrial = false
      this.#awayUs = Number.NEGATIVE_INFINITY
    }
    const { process } = unit
    const rule = process && RULES[behaviourOf(process.text)]
    const isExcused = process === undefined || rule === undefined || about !== this.#about || this.#isExcused(rule, process)
    this.#about = about
    // The excuse lasts until the next check.
    if (isExcused || this.#wasExcused) this.#sinceUs = nowUs
    this.#wasExcused = isExcused
    if (isExcused) return
    const isReplaced = this.#baselineOf === unit.invocationId
    const isShared = isReplaced || process.startedAtUs !== this.#firstUs || nowUs - this.#firstUs > policy.trialUs
    // After a gap, what the API server is asked may be due at once, and each waits for its turn.
    const turnsUs = this.#sinceUs > process.healthyFromUs + lookUs ? OTHER_QUESTIONS * requestUs(policy) : 0
    const ownUs = rule.askedUs(policy) + (rule.ofServer ? turnsUs : 0) + (isReplaced ? REPLACED_WITHIN_US : 0)
    const askedUs = rule.ofServer && isShared ? policy.trialUs : ownUs
    const lateUs = nowUs - this.#sinceUs - EVIDENCE_LIMITS_US[rule.kind](policy)
    assert(lateUs <= askedUs + 3 * lookUs, `invariant 17: ${rule.kind}: left ${Math.round(lateUs / 1e6)} s too late: ${process.text}`)
  }

  #noteBaseline({ evidence }: Snapshot, target: TrialKey): void {
    const { baseline } = evidence ?? {}
    const text = this.#world.nextText() ?? ''
    // Another content with the same meaning may have had one before.
    this.#before.delete(text)
    if (baseline?.candidate !== target) return
    const states = [baseline, baseline.earlier]
    const kinds: readonly (OptionalKind | false)[] = [
      states.some((each) => each?.ready === 'True') && 'ready',
      states.some((each) => each?.serving?.status === 403) && 'serving',
      states.some((each) => (each?.staticPods ?? []).length > 0) && 'static-pods',
      baseline.podsAtMs !== undefined && 'pods',
    ]
    this.#before.set(text, new Set(kinds.filter((kind) => kind !== false)))
  }

  /** For the time being. */
  #isExcused({ kind, ofServer, isCompared }: Rule, { text, healthyFromUs }: SimProcess): boolean {
    const { unit, nowUs, lookUs, agentFromUs, agentDead, faults, cluster, troubles, starvedUntilUs, policy, lostStamp } = this.#world
    if (!this.#world.kind.evidence || !this.#isOnTrial || !unit.isHealthy()) return true
    if (isCompared && this.#before.get(text)?.has(kind) !== true) return true
    if ([this.#answered, this.#passed].includes(unit.invocationId)) return true
    if (agentDead || nowUs < agentFromUs || nowUs < starvedUntilUs + STARVED_US || this.#isPaused()) return true
    if (faults.readsFail || unit.systemctl.fault === 'down' || lostStamp || isOriginLost(this.#world)) return true
    const isAway = ofServer && (!cluster.isUp(nowUs) || troubles.has('api-busy'))
    if (isAway) this.#awayUs = nowUs
    // The trial looked for the last time a while before its end.
    const endsUs = healthyFromUs + policy.trialUs
    if (nowUs >= endsUs && this.#awayUs >= endsUs - LAST_LOOK_US - lookUs) this.#passed = unit.invocationId
    return isAway
  }
}

/** Not what has a verdict, nor what stands in for a config that has: nothing better is left. */
function isOnTrial(snapshot: Snapshot, { content, key }: { readonly content: string; readonly key: TrialKey }): boolean {
  const { verdicts, proven, lastKnownGood, previous, nextStart } = snapshot
  const { target } = assess(snapshot)
  const isFallback = target !== undefined && target.content === content && standsIn(target)
  const hasPassed = [LOCAL_CONTENT, proven && contentOfKey(proven), lastKnownGood.content, previous.content].includes(content)
  // There is no verdict on what no version names: its checkpoint is lost, or its version has
  // another content since a restore of etcd.
  const isNext = nextStart.kind === 'known' && nextStart.held.content === content
  const isNamed = !isMissing(content) && (isNext || findRunning(snapshot) !== undefined)
  return !isFallback && !hasPassed && isNamed && findByKey(verdicts, key) === undefined
}

function without<T>(values: ReadonlySet<T>, value: T): ReadonlySet<T> {
  return new Set([...values].filter((each) => each !== value))
}
