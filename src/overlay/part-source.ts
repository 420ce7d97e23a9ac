// SPDX-License-Identifier: Apache-2.0
/**
 * Assignment sources that merge what is assigned on this node: parts with the local config, and all
 * configs with the overlay. Pure: what parses YAML, the clock and the timer are passed in.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Desired } from '../decision/desired.ts'
import type { AssignmentSource, LocalConfigView, ReadLocalConfig } from '../ports/assignment-source.ts'
import type { Log } from '../ports/log.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import type { NodeShown } from '../subject/node-shown.ts'
import { errorMessage } from '../values/errors.ts'
import { applyOverlay, applyPart, type Made, NO_NODE, whileWaiting } from './apply.ts'
import { type HeldFacts, holdFacts } from './held-facts.ts'
import type { BaseTexts, MergeResult } from './merge-part.ts'
import { OVERLAY, type PatchSet } from './patch-set.ts'
import type { OverlayView } from './read-overlay.ts'

interface PartSourceDeps {
  /** @param signal aborts once the result is not wanted any more */
  readonly merge: (
    base: BaseTexts,
    data: ConfigMapData,
    key: string,
    node: NodeShown | undefined,
    signal: AbortSignal,
  ) => Promise<MergeResult>
  readonly pace: SettlePace
  readonly log: Log
}

interface Merging {
  readonly bases: BaseTexts
  readonly data: ConfigMapData
  readonly key: string
  /** undefined: no value is computed from it. */
  readonly node: NodeShown | undefined
  readonly stopper: AbortController
  readonly beganMs: number
  /** undefined: under way. */
  result: Made | undefined
  /** When it is merged once more. An expression may have failed by a limit of time. */
  againMs: number
  /** How often nothing was heard of it, since the helper ended or could not start. */
  failures: number
  /** How often a value could not be computed. */
  faults: number
}

/** The first time, the limit of time may have met the start of a helper on a node that boots. */
const [AGAIN_FIRST_MS, AGAIN_MS] = [60_000, 10 * 60_000]
/** An expression may end each helper in a way that no limit tells from another, as by SIGKILL. */
const MOST_FAILURES = 3

/**
 * Merges parts over the local config, which must stay the same for a while before it counts: the
 * first half of a YAML file is often valid YAML, and kubeadm writes it in place.
 */
export class PartSource implements AssignmentSource {
  readonly #inner: AssignmentSource
  readonly #deps: PartSourceDeps
  readonly #local: SettledLocal
  #onChange: () => void = () => {}
  /** The merging of the arguments that were asked for last: they change rarely. */
  #merging: Merging | undefined
  /** undefined: nothing is computed. */
  #facts: HeldFacts | undefined
  /** The latest result that was known, with each pause that was heard since. */
  #applied: Desired | undefined
  readonly #faults: FaultLog

  constructor(inner: AssignmentSource, deps: PartSourceDeps) {
    this.#inner = inner
    this.#deps = deps
    this.#faults = new FaultLog(deps.log, 'the assigned config cannot be merged or computed')
    this.#local = new SettledLocal(deps.pace, () => this.#onChange())
  }

  /** While the answer is not known, it is as if the change had not arrived yet. */
  desired(readLocal: ReadLocalConfig): Desired {
    let wanted = false
    const applied = applyPart(
      this.#inner.desired(readLocal),
      () => this.#local.settle(readLocal()),
      (...parts) => this.#merge(...parts),
      () => {
        wanted = true
        return this.#inner.node?.(true) ?? NO_NODE
      },
    )
    if (!wanted) this.#inner.node?.(false)
    const isWaiting = applied.kind === 'waiting'
    this.#applied = isWaiting ? whileWaiting(applied.desired, this.#applied) : applied.desired
    if (!isWaiting) this.#faults.see(applied.kind === 'faulty' ? applied.detail : '')
    return this.#applied
  }

  #merge(bases: BaseTexts, data: ConfigMapData, key: string, node: NodeShown | undefined): Made | undefined {
    const before = this.#merging
    const isSame = before?.data === data && before.key === key && isDeepStrictEqual([before.bases, before.node], [bases, node])
    const nowMs = this.#deps.pace.nowMs()
    if (isSame && nowMs < before.againMs) return before.result
    const failures = isSame && before.result === undefined ? before.failures : 0
    const faults = isSame ? before.faults : 0
    before?.stopper.abort()
    const stopper = new AbortController()
    const merging: Merging = {
      ...{ bases, data, key, node, stopper, failures, faults },
      beganMs: nowMs,
      result: undefined,
      againMs: Number.POSITIVE_INFINITY,
    }
    this.#merging = merging
    void this.#start(merging)
    return undefined
  }

  async #start(merging: Merging): Promise<void> {
    const { bases, data, key, node, stopper } = merging
    try {
      this.#end(merging, await this.#deps.merge(bases, data, key, node, stopper.signal))
    } catch (error) {
      if (stopper.signal.aborted) return
      merging.failures += 1
      if (node !== undefined && merging.failures >= MOST_FAILURES) {
        const detail = `it cannot be computed, ${MOST_FAILURES} times in a row: ${errorMessage(error)}`
        this.#end(merging, { ok: false, fault: 'computed', detail })
        return
      }
      // The next look tries again: the agent's package may be in the middle of an upgrade.
      merging.againMs = 0
      this.#deps.log.error('cannot merge or compute the assigned config now; trying again shortly', { error })
    }
  }

  #end(merging: Merging, result: MergeResult): void {
    const { bases, data, key, node, beganMs } = merging
    this.#facts = node && holdFacts(this.#facts, { node, texts: [bases, data, key], result }, beganMs)
    merging.result = this.#facts === undefined ? result : { ...result, factsSinceUs: this.#facts.sinceMs * 1000 }
    if (!result.ok && result.fault === 'computed') {
      merging.againMs = this.#deps.pace.nowMs() + (merging.faults === 0 ? AGAIN_FIRST_MS : AGAIN_MS)
      merging.faults += 1
    }
    this.#onChange()
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#inner.start(onChange)
  }

  async stop(): Promise<void> {
    this.#merging?.stopper.abort()
    await Promise.all([this.#local.stop(), this.#inner.stop()])
  }
}

interface SettlePace {
  /** Monotonic. */
  nowMs(): number
  /** Ends early, without throwing, when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

const SETTLE_MS = 1000
/** A timer may fire a little early. */
const SLACK_MS = 20

/**
 * The local config once it has stayed the same for a while. Until then the one before counts. A
 * look that cannot tell does not count.
 */
class SettledLocal {
  readonly #pace: SettlePace
  readonly #onSettled: () => void
  readonly #stopper = new AbortController()
  #settled: LocalConfigView | undefined
  #unsettled: { readonly view: LocalConfigView; readonly sinceMs: number } | undefined
  #nextLook: Promise<void> | undefined

  /** @param onSettled what was seen last may have settled */
  constructor(pace: SettlePace, onSettled: () => void) {
    this.#pace = pace
    this.#onSettled = onSettled
  }

  /** undefined: nothing has settled yet. */
  settle(view: LocalConfigView): LocalConfigView | undefined {
    if (view.kind === 'unknown') return this.#settled ?? view
    if (isDeepStrictEqual(view, this.#settled)) {
      this.#unsettled = undefined
      return this.#settled
    }
    const nowMs = this.#pace.nowMs()
    if (!isDeepStrictEqual(view, this.#unsettled?.view)) this.#unsettled = { view, sinceMs: nowMs }
    const sinceMs = this.#unsettled?.sinceMs ?? nowMs
    if (nowMs - sinceMs < SETTLE_MS) this.#lookAgain()
    else this.#settled = view
    return this.#settled
  }

  async stop(): Promise<void> {
    this.#stopper.abort()
    await this.#nextLook
  }

  #lookAgain(): void {
    this.#nextLook ??= this.#pace.sleep(SETTLE_MS + SLACK_MS, this.#stopper.signal).then(() => {
      this.#nextLook = undefined
      if (!this.#stopper.signal.aborted) this.#onSettled()
    })
  }
}

export interface OverlaySource {
  /** The latest view, from memory. */
  view(): OverlayView
  start(onChange: () => void): void
  stop(): Promise<void>
}

/** Applies this node's overlay. Source and overlay keep their views in memory. */
export class OverlaidSource implements AssignmentSource {
  readonly #inner: AssignmentSource
  readonly #overlay: OverlaySource
  readonly #patches: PatchSet
  #onChange: () => void = () => {}
  /** The latest result that was rendered, with each pause that was heard since. */
  #applied: Desired | undefined
  readonly #faults: FaultLog

  constructor(inner: AssignmentSource, overlay: OverlaySource, log: Log, patches: PatchSet = OVERLAY) {
    this.#inner = inner
    this.#overlay = overlay
    this.#patches = patches
    this.#faults = new FaultLog(log, `this node's ${patches.name} cannot be applied to the assigned config`)
  }

  /** While a config is being parsed, the answer is as if it had not arrived yet. */
  desired(readLocal: ReadLocalConfig): Desired {
    let fault = ''
    let isRendered = true
    const onApply = {
      onFault: (detail: string) => {
        fault = detail
      },
      onWait: () => {
        isRendered = false
      },
      onRendered: () => this.#onChange(),
    }
    const desired = applyOverlay(this.#inner.desired(readLocal), this.#overlay.view(), onApply, this.#patches)
    this.#applied = isRendered ? desired : whileWaiting(desired, this.#applied)
    if (isRendered) this.#faults.see(fault)
    return this.#applied
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#overlay.start(onChange)
    this.#inner.start(onChange)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#overlay.stop(), this.#inner.stop()])
  }
}

/** Logs each fault once, although it is met again at every look. */
class FaultLog {
  readonly #log: Log
  readonly #problem: string
  #last = ''

  constructor(log: Log, problem: string) {
    this.#log = log
    this.#problem = problem
  }

  /** @param detail empty: no fault */
  see(detail: string): void {
    if (detail !== '' && detail !== this.#last) this.#log.error(`${this.#problem}; nothing is changed: ${detail}`)
    this.#last = detail
  }
}
