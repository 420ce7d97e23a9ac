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

/** What one reading of a Node says. */
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
  /** The content failed on it, as its agent says. */
  readonly failed: boolean
  /** Somebody takes it away: it is cordoned, or an autoscaler has marked it. */
  readonly leaving: boolean
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
  /** At the last reading before the start. undefined: not known. */
  readonly readyBefore: boolean | undefined
  /** In time with contact. undefined: it is Ready, or that is not known. */
  readonly unreadySinceUs: number | undefined
  readonly failed: boolean
  readonly leaving: boolean
  readonly hasWaited: boolean
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
  readonly #gone = new Map<string, Pick<HurtNode, 'how'>>()
  #contactUs = 0
  #lastStartUs = 0
  #finishedUs: number | undefined
  /** Nodes that have ever waited, and those among them that went while they did. */
  #waited = 0
  #wentWaiting = 0

  /** @param us in which the Nodes could be watched, by a monotonic clock */
  pass(us: number): void {
    this.#contactUs += Math.max(0, us)
  }

  see(sight: NodeSight): void {
    const { name, uid } = sight
    if (this.#nodes.get(name)?.uid !== uid) this.remove(name)
    this.#gone.delete(name)
    const known = this.#nodes.get(name)
    const content = contentOf(known, sight)
    const hasWaited = known?.hasWaited === true || content === 'waiting'
    if (hasWaited && known?.hasWaited !== true) this.#waited += 1
    if (content === 'started' && known?.content !== 'started') this.#lastStartUs = this.#contactUs
    this.#nodes.set(name, {
      uid,
      content,
      readyBefore: readyBefore(known, content, sight.ready),
      unreadySinceUs: sight.ready === false ? (known?.unreadySinceUs ?? this.#contactUs) : undefined,
      failed: sight.failed,
      leaving: sight.leaving,
      hasWaited,
    })
  }

  /** The Node does not exist any more. */
  remove(name: string): void {
    const known = this.#nodes.get(name)
    if (known === undefined) return
    this.#nodes.delete(name)
    const how = this.#howHurt(known)
    if (how !== undefined) this.#gone.set(name, { how })
    else if (known.leaving) return
    else if (counts(known)) this.#gone.set(name, { how: 'gone' })
    else if (known.content === 'waiting') this.#wentWaiting += 1
  }

  /**
   * All Nodes that exist.
   *
   * @param isGap what happened to them since the last sight is not known
   */
  list(sights: readonly NodeSight[], isGap: boolean): void {
    if (isGap) for (const [name, known] of this.#nodes) this.#nodes.set(name, forget(known))
    const names = new Set(sights.map(({ name }) => name))
    for (const name of [...this.#nodes.keys()]) if (!names.has(name)) this.remove(name)
    for (const sight of sights) this.see(sight)
  }

  /** Nodes that the record names: they started it, whether or not their Nodes say so already. */
  tellStarted(names: Iterable<string>): void {
    for (const name of names) {
      const known = this.#nodes.get(name)
      if (known === undefined || known.content === 'started' || known.content === 'other') continue
      this.#lastStartUs = this.#contactUs
      this.#nodes.set(name, { ...known, content: 'started' })
    }
  }

  verdict(limit: Limit): GuardVerdict {
    const alive = [...this.#nodes].filter(([, known]) => counts(known))
    const started = alive.length + this.#gone.size
    const hurt = [
      ...alive.map(([node, known]) => ({ node, how: this.#howHurt(known) })),
      ...[...this.#gone].map(([node, { how }]) => ({ node, how })),
    ]
      .filter((each): each is HurtNode => each.how !== undefined)
      .sort((a, b) => (a.node < b.node ? -1 : 1))
    const gone = hurt.filter(({ how }) => how === 'gone').length
    // As many as go without the content, go with it.
    const expected = this.#waited === 0 ? 0 : (started * this.#wentWaiting) / this.#waited
    const count = hurt.length - gone + Math.max(0, gone - expected)
    return { started, hurt, exceeds: count > (limit.kind === 'nodes' ? limit.most : (started * limit.percent) / 100) }
  }

  /** The rollout is open to all nodes. */
  finish(): void {
    this.#finishedUs ??= this.#contactUs
  }

  /**
   * Whether all nodes that could start a finished rollout by themselves have had the time to, and
   * to turn out to be hurt.
   */
  isOver(spreadUs: number): boolean {
    if (this.#finishedUs === undefined) return false
    const nodes = [...this.#nodes.values()]
    if (nodes.some((known) => counts(known) && known.unreadySinceUs !== undefined && this.#howHurt(known) === undefined)) return false
    const isWaited = nodes.some(({ content }) => content === 'waiting')
    const lastUs = isWaited ? this.#finishedUs + spreadUs : this.#lastStartUs
    return this.#contactUs >= lastUs + SETTLES_US
  }

  #howHurt(known: Watched): HurtNode['how'] | undefined {
    if (!counts(known)) return undefined
    if (known.failed) return 'failed'
    const { unreadySinceUs } = known
    return unreadySinceUs !== undefined && this.#contactUs - unreadySinceUs >= UNREADY_US ? 'not ready' : undefined
  }
}

function counts({ content, readyBefore }: Watched): boolean {
  return content === 'started' && readyBefore === true
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
function readyBefore(known: Watched | undefined, content: Content | undefined, ready: boolean | undefined): boolean | undefined {
  if (content !== 'started') return ready
  return known?.readyBefore ?? (ready === true ? true : undefined)
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
