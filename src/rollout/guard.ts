// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a rollout hurts nodes that are no witnesses: a fold of what Nodes show over time into a
 * verdict. `rollout status --halt-if-not-ready` feeds it, with an administrator's rights, since no
 * agent sees the Nodes of others. Pure.
 *
 * A node counts once it has started the content, if it was Ready then. What is not known of a node
 * counts for nothing: neither an unknown readiness, nor time in which nobody could look.
 */
import { MINUTE_US } from '../values/durations.ts'

/** One reading of a Node. */
export interface NodeSight {
  readonly name: string
  /** Another uid is another machine. */
  readonly uid: string
  /** The Node's condition `Ready`; Unknown is no. undefined: it has none. */
  readonly ready: boolean | undefined
  /**
   * `waiting`: it uses the config, and has not started this content. `other`: it uses another
   * config. undefined: it does not say.
   */
  readonly content: Content | undefined
  /** The content failed on it, or kubelet fails with every config, as its agent says. */
  readonly failed: boolean
  /**
   * Somebody takes it away. `marked`: by an autoscaler, which stops its kubelet next. `cordoned`:
   * it may stay.
   */
  readonly leaving: 'cordoned' | 'marked' | undefined
}
type Content = 'started' | 'waiting' | 'other'

/** How many nodes may be hurt. */
export type Limit = { readonly kind: 'nodes'; readonly most: number } | { readonly kind: 'share'; readonly percent: number }

export interface HurtNode {
  readonly node: string
  readonly how: 'not ready' | 'failed' | 'gone'
}

export interface GuardVerdict {
  /** How many nodes have started the content and were Ready then. */
  readonly started: number
  /** Those among them that are hurt, by name. */
  readonly hurt: readonly HurtNode[]
  readonly exceeds: boolean
}

interface Watched {
  readonly uid: string
  readonly content: Content | undefined
  /** Until the start, but for the time of a restart. undefined: not known. */
  readonly readyBefore: boolean | undefined
  /** In time with contact. undefined: it is Ready, or that is not known. */
  readonly unreadySinceUs: number | undefined
  readonly failed: boolean
  readonly leaving: boolean
  /** An autoscaler marked it while it was Ready, as far as is known: who stops it is no content. */
  readonly isTaken: boolean
}

/** A node that restarts, or misses a few heartbeats, is back before. */
const UNREADY_US = 2 * MINUTE_US
/**
 * How long after its start a node can turn out to be hurt: until its agent has told of the start,
 * the control plane has missed the node's heartbeats, and `UNREADY_US` is over.
 */
const SETTLES_US = UNREADY_US + 2 * MINUTE_US

export class RolloutGuard {
  readonly #nodes = new Map<string, Watched>()
  /** Nodes that counted and are gone, and whether they were hurt before. */
  readonly #gone = new Map<string, HurtNode['how']>()
  /** Names of machines that are gone. */
  readonly #removed = new Set<string>()
  #contactUs = 0
  #listedUs = 0
  #lastStartUs = 0
  /** When the last nodes start it by themselves. undefined: the rollout is not finished. */
  #turnsEndUs: number | undefined
  /**
   * Ready nodes that wait and nodes that count: how many, for how long in all, and how many went.
   */
  #waiting = 0
  #counting = 0
  #waitingUs = 0
  #countingUs = 0
  #wentWaiting = 0

  /** @param us in which the Nodes could be watched, by a monotonic clock */
  pass(us: number): void {
    const passedUs = Math.max(0, us)
    this.#contactUs += passedUs
    this.#waitingUs += passedUs * this.#waiting
    this.#countingUs += passedUs * this.#counting
  }

  see(sight: NodeSight): void {
    const { name, uid, ready, failed, leaving } = sight
    if (this.#nodes.get(name)?.uid !== uid) this.remove(name)
    // A node that was hurt stays so, whatever machine has its name.
    if (this.#gone.get(name) === 'gone') this.#gone.delete(name)
    const known = this.#nodes.get(name)
    const content = contentOf(known, sight)
    if (content === 'started' && known?.content !== 'started') this.#lastStartUs = this.#contactUs
    this.#set(name, {
      uid,
      content,
      readyBefore: readyBefore(known && this.#wasReady(known), content, ready),
      unreadySinceUs: ready === false ? (known?.unreadySinceUs ?? this.#contactUs) : undefined,
      failed,
      leaving: leaving !== undefined,
      isTaken: leaving === 'marked' && (known?.isTaken === true || known?.unreadySinceUs === undefined),
    })
  }

  /**
   * The Node does not exist any more.
   *
   * @param isGap how it went is not known: somebody may have taken it away
   */
  remove(name: string, isGap = false): void {
    const known = this.#nodes.get(name)
    if (known === undefined) return
    this.#set(name, undefined)
    this.#removed.add(name)
    if (this.#gone.has(name)) return
    const how = this.#howHurt(known)
    if (how !== undefined) this.#gone.set(name, how)
    else if (known.leaving || isGap) return
    else if (counts(known)) this.#gone.set(name, 'gone')
    else if (known.content === 'waiting' && this.#wasReady(known) === true) this.#wentWaiting += 1
  }

  /**
   * All Nodes that exist.
   *
   * @param isGap what happened to them since the last sight is not known
   */
  list(sights: readonly NodeSight[], isGap: boolean): void {
    const uids = new Map(sights.map(({ name, uid }) => [name, uid]))
    for (const [name, known] of [...this.#nodes]) {
      if (uids.get(name) !== known.uid) this.remove(name, isGap)
      else if (isGap) this.#set(name, forget(known))
    }
    for (const sight of sights) this.see(sight)
    this.#listedUs = this.#contactUs
  }

  /** Nodes that the record names: they started it, whether or not their Nodes say so already. */
  tellStarted(names: Iterable<string>): void {
    for (const name of names) {
      const known = this.#nodes.get(name)
      // The record may name the machine before this one.
      if (known === undefined || this.#removed.has(name)) continue
      if (known.content === 'started' || known.content === 'other') continue
      this.#lastStartUs = this.#contactUs
      this.#set(name, { ...known, content: 'started', readyBefore: this.#wasReady(known) })
    }
  }

  /** @param excluded nodes that count for nothing in the rollout */
  verdict(limit: Limit, excluded: readonly string[] = []): GuardVerdict {
    const alive = [...this.#nodes].filter(([node, known]) => counts(known) && !this.#gone.has(node))
    const all = [
      ...alive.map(([node, known]) => ({ node, how: this.#howHurt(known) })),
      ...[...this.#gone].map(([node, how]) => ({ node, how })),
    ]
    const counted = all.filter(({ node }) => !excluded.includes(node))
    const hurt = counted.filter((each): each is HurtNode => each.how !== undefined).sort((a, b) => (a.node < b.node ? -1 : 1))
    const started = counted.length
    const gone = hurt.filter(({ how }) => how === 'gone').length
    // As many as go without the content in the same time, go with it.
    const expected = this.#waitingUs === 0 ? 0 : (this.#countingUs * this.#wentWaiting) / this.#waitingUs
    const count = hurt.length - gone + Math.max(0, gone - expected)
    return { started, hurt, exceeds: count > (limit.kind === 'nodes' ? limit.most : (started * limit.percent) / 100) }
  }

  /**
   * The rollout is open to all nodes. The first answer counts, unless a later one is sooner.
   *
   * @param turnsUs in how long the last of them start it. undefined: in a window that is not known
   */
  finish(turnsUs: number | undefined): void {
    this.#turnsEndUs = Math.min(this.#turnsEndUs ?? Number.POSITIVE_INFINITY, this.#contactUs + (turnsUs ?? Number.POSITIVE_INFINITY))
  }

  /** A pause, or another plan, keeps nodes from starting it. Their spread begins anew. */
  hold(): void {
    this.#turnsEndUs = undefined
  }

  /**
   * `settling`: all nodes that could start a finished rollout by themselves have had the time to,
   * and to become unready. `over`: and those that are unready, to be hurt.
   */
  ending(excluded: readonly string[] = []): 'under way' | 'settling' | 'over' {
    if (this.#turnsEndUs === undefined) return 'under way'
    const nodes = [...this.#nodes].flatMap(([name, known]) => (excluded.includes(name) ? [] : [known]))
    const isWaited = nodes.some(({ content }) => content === 'waiting')
    const lastUs = isWaited ? this.#turnsEndUs : Math.min(this.#turnsEndUs, this.#lastStartUs)
    const settledUs = lastUs + SETTLES_US
    if (this.#contactUs < settledUs) return 'under way'
    // In a large fleet some node is always unready, so this has a bound.
    const isBound = this.#contactUs >= Math.max(settledUs, this.#listedUs) + UNREADY_US
    const isOpen = (known: Watched) => counts(known) && !known.isTaken && known.unreadySinceUs !== undefined
    return isBound || !nodes.some((known) => isOpen(known) && this.#howHurt(known) === undefined) ? 'over' : 'settling'
  }

  #set(name: string, known: Watched | undefined): void {
    const before = this.#nodes.get(name)
    this.#waiting += Number(isReadyAndWaits(known)) - Number(isReadyAndWaits(before))
    this.#counting += Number(counts(known)) - Number(counts(before))
    if (known === undefined) this.#nodes.delete(name)
    else this.#nodes.set(name, known)
  }

  #howHurt(known: Watched): HurtNode['how'] | undefined {
    if (!counts(known)) return undefined
    if (known.failed) return 'failed'
    return this.#isUnreadyForLong(known) && !known.isTaken ? 'not ready' : undefined
  }

  #isUnreadyForLong({ unreadySinceUs }: Watched): boolean {
    return unreadySinceUs !== undefined && this.#contactUs - unreadySinceUs >= UNREADY_US
  }

  /** Kubelet restarts, and is unready for a moment, before the agent can tell of the start. */
  #wasReady(known: Watched): boolean | undefined {
    const isReady = known.readyBefore === true && known.content !== 'started'
    return isReady && this.#isUnreadyForLong(known) ? false : known.readyBefore
  }
}

function counts(known: Watched | undefined): boolean {
  return known?.content === 'started' && known.readyBefore === true
}

function isReadyAndWaits(known: Watched | undefined): boolean {
  return known?.content === 'waiting' && known.readyBefore === true
}

/** A node that has gone back to what ran before has started the content all the same. */
function contentOf(known: Watched | undefined, { content }: NodeSight): Content | undefined {
  if (known?.content === 'started' && content !== 'other') return 'started'
  return content ?? known?.content
}

/**
 * Of a node that is first seen with the content, its readiness before is known only if it is Ready
 * still.
 */
function readyBefore(before: boolean | undefined, content: Content | undefined, ready: boolean | undefined): boolean | undefined {
  if (content === 'started') return before ?? (ready === true ? true : undefined)
  return ready === false ? (before ?? false) : ready
}

/** Before a gap. */
function forget(known: Watched): Watched {
  const { content } = known
  return { ...known, unreadySinceUs: undefined, readyBefore: content === 'started' ? known.readyBefore : undefined }
}

/** As `2%` or `3`. */
export function parseLimit(text: string): Limit | undefined {
  const [, number, sign] = /^([0-9]{1,6}(?:\.[0-9]{1,2})?)(%?)$/.exec(text) ?? []
  if (number === undefined) return undefined
  if (sign === '%') return Number(number) <= 100 ? { kind: 'share', percent: Number(number) } : undefined
  return number.includes('.') ? undefined : { kind: 'nodes', most: Number(number) }
}

export function showLimit(limit: Limit): string {
  return limit.kind === 'nodes' ? String(limit.most) : `${limit.percent}%`
}
