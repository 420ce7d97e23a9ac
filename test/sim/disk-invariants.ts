// SPDX-License-Identifier: Apache-2.0
/** The invariants of the files on the simulated disk, checked after every operation on it. */
import assert from 'node:assert/strict'
import { basename, dirname } from 'node:path'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { parseSource } from '../../src/checkpoint/serialize.ts'
import { isRefused, meaningOf } from './behaviour.ts'
import { DIRECTORY } from './paths.ts'
import type { SimWorld } from './sim-world.ts'

export class DiskInvariants {
  readonly #world: SimWorld
  readonly #isProven: (text: string) => boolean
  readonly #checkPromotion: (text: string) => void
  readonly #layout = layoutOf(DIRECTORY)
  #checkpoints = new Map<string, string>()
  /**
   * The text of each file before it was replaced last, and how often power had been lost by then.
   */
  readonly #replaced = new Map<string, { readonly text: string; readonly lostPowers: number }>()
  #seenOperations = -1
  /** Of the present agent. undefined: it could not read its state yet. */
  #firstDecisionUs: number | undefined
  #lastKnownGood = ''
  #lostStates = 0
  /** The records of last-known-good whose promotions have been checked. */
  readonly #promoted = new Set<string>()

  /**
   * @param isProven whether kubelet was healthy with this text for a whole trial without a break
   */
  constructor(world: SimWorld, isProven: (text: string) => boolean, checkPromotion: (text: string) => void) {
    this.#world = world
    this.#isProven = isProven
    this.#checkPromotion = checkPromotion
  }

  /** The agent could read its state, and has decided. */
  decided(): void {
    this.#firstDecisionUs ??= this.#world.nowUs
  }

  /** The agent, or the machine, has died. */
  agentDied(): void {
    this.#firstDecisionUs = undefined
  }

  check(): void {
    if (this.#seenOperations === this.#world.operations) return
    this.#seenOperations = this.#world.operations
    this.#checkImmutable()
    this.#checkNextStart()
    this.#checkLastKnownGood()
  }

  /** Invariant 1. What was there before the directory was lost is no checkpoint any more. */
  #checkImmutable(): void {
    const now = new Map<string, string>()
    const { files, lostStates } = this.#world
    if (lostStates !== this.#lostStates) this.#checkpoints = now
    this.#lostStates = lostStates
    for (const uid of files.list(this.#layout.checkpoints) ?? []) {
      for (const version of files.list(`${this.#layout.checkpoints}/${uid}`) ?? []) {
        this.#readInto(now, `${this.#layout.checkpoints}/${uid}/${version}`)
      }
    }
    for (const uid of files.list(this.#layout.rendered) ?? []) {
      for (const version of files.list(`${this.#layout.rendered}/${uid}`) ?? []) {
        const overlays = `${this.#layout.rendered}/${uid}/${version}`
        for (const overlay of files.list(overlays) ?? []) this.#readInto(now, `${overlays}/${overlay}`)
      }
    }
    for (const [path, text] of this.#checkpoints) {
      const found = now.get(path)
      if (found === undefined || found === text) continue
      assert(path.includes('~') || this.#wasSetAside(path) || this.#isUndone(path, found), `invariant 1: ${path} changed`)
      this.#replaced.set(path, { text, lostPowers: this.#world.lostPowers })
    }
    this.#checkpoints = now
  }

  /** A power loss can undo the replacement of a version, whose last rename was not durable yet. */
  #isUndone(path: string, found: string): boolean {
    const before = this.#replaced.get(path)
    return before?.text === found && this.#world.lostPowers > before.lostPowers
  }

  #readInto(now: Map<string, string>, directory: string): void {
    const { files } = this.#world
    for (const key of files.list(directory) ?? []) now.set(`${directory}/${key}`, files.read(`${directory}/${key}`)?.toString() ?? '')
  }

  /** Invariant 2. */
  #checkNextStart(): void {
    const path = this.#world.nextConfigPath()
    const text = this.#world.nextText()
    // To replace a version that came back with other content takes two renames. After a crash
    // between them, or after the directory was lost in part, the next agent repairs it in the first
    // pass in which it can read its state. On a failing disk, a half-done replacement cannot be
    // undone.
    const { nowUs, agentDead, faults } = this.#world
    const cutShort = agentDead || nowUs <= (this.#firstDecisionUs ?? Number.POSITIVE_INFINITY) || faults.writesFail
    if (text === undefined && cutShort && (this.#world.lostStates > 0 || this.#wasSetAside(path))) return
    assert(text !== undefined, `invariant 2: kubelet starts next with ${path}, which does not exist`)
    assert(!isRefused(text), `invariant 2: kubelet starts next with ${path}, which preflight rejects: ${text}`)
  }

  /** A version is replaced only after a restore of etcd, and its old content is set aside. */
  #wasSetAside(path: string): boolean {
    if (!this.#world.wasRestored) return false
    const version = dirname(path)
    return (this.#world.files.list(dirname(version)) ?? []).some((name) => name.startsWith(`${basename(version)}~set-aside`))
  }

  /** Invariant 3. */
  #checkLastKnownGood(): void {
    const bytes = this.#world.files.read(this.#layout.record('last-known-good'))
    const found = bytes?.toString() ?? ''
    if (found === this.#lastKnownGood) return
    this.#lastKnownGood = found
    const parsed = parseSource(Buffer.from(found))
    assert(parsed.ok, `invariant 3: last-known-good cannot be parsed: ${found}`)
    if (parsed.source === 'local') return
    const { uid, resourceVersion, kubeletConfigKey, overlay } = parsed.source
    const text = this.#world.files.read(`${this.#layout.checkpoint(uid, resourceVersion, overlay)}/${kubeletConfigKey}`)?.toString()
    // A power loss brought back the record of a directory that was lost, and not the checkpoint.
    if (text === undefined && this.#world.lostStates > 0 && this.#promoted.has(found)) return
    assert(text !== undefined && this.#isProven(meaningOf(text)), `invariant 3: promoted without a whole trial: ${text}`)
    this.#checkPromotion(meaningOf(text))
    this.#promoted.add(found)
  }
}
