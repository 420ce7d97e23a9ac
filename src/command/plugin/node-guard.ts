// SPDX-License-Identifier: Apache-2.0
/**
 * Watches the Nodes beside a rollout, and halts it where it hurts more of them than it may. The
 * judgement is in `src/rollout/guard.ts`.
 */
import { type GuardVerdict, type Limit, type NodeSight, RolloutGuard } from '../../rollout/guard.ts'
import { guardVetoes } from '../../rollout/guard-veto.ts'
import type { Plan } from '../../rollout/plan.ts'
import type { RolloutState } from '../../rollout/record.ts'
import { untilLastTurnUs } from '../../rollout/window-turn.ts'
import { Failure } from '../command.ts'
import { objectOf } from '../failure.ts'
import { findWindowNow } from '../plan-text.ts'
import type { PluginContext } from './command.ts'
import { pathOf } from './config-maps.ts'
import { NodeFollowing } from './follow-nodes.ts'
import { readSight } from './node-sight.ts'
import { LIST_NODES, NODES_PATH } from './node-state.ts'
import type { RolloutLook } from './rollout-state.ts'

export interface GuardLook {
  readonly limit: Limit
  readonly verdict: GuardVerdict
  /** The limit is exceeded, and a list of the Nodes has confirmed it. */
  readonly mustHalt: boolean
  /** No more nodes start a finished rollout by themselves: a list has confirmed that, too. */
  readonly isOver: boolean
}

/** The Nodes beside one generation. */
interface Watch {
  readonly about: string
  readonly guard: RolloutGuard
  readonly following: NodeFollowing<NodeSight>
  readonly stopper: AbortController
  /** How often the Nodes were listed. */
  lists: number
  /** The number of lists when it was first found. undefined: it is not so, or no longer. */
  readonly found: { exceeds?: number | undefined; over?: number | undefined }
}

export class NodeGuard {
  readonly #context: PluginContext
  readonly #limit: Limit
  #watch: Watch | undefined
  #failure: unknown

  constructor(context: PluginContext, limit: Limit) {
    this.#context = context
    this.#limit = limit
  }

  /**
   * To be called with each reading of the record, and before the one after it.
   *
   * @returns undefined: no generation of this content has begun, or the Nodes are not known yet
   * @throws Failure where the Nodes may not be watched
   */
  look({ config, plan, hash, progress, record, isPaused }: RolloutLook): GuardLook | undefined {
    if (this.#failure !== undefined) throw this.#failure
    const { state } = record.words
    if (progress === undefined || state === undefined) {
      this.close()
      return undefined
    }
    const about = `${state.configUid} ${state.configVersion} ${state.generation}`
    if (this.#watch?.about !== about) {
      this.close()
      this.#watch = this.#open(about, config.name, state)
    }
    const watch = this.#watch
    const { guard, following } = watch
    guard.pass(following.takeContactUs())
    guard.tellStarted([...record.words.entries].filter(([, { generation }]) => generation === state.generation).map(([name]) => name))
    if (progress.finished && !isPaused) guard.finish(this.#untilLastTurnUs(plan, hash))
    else guard.hold()
    if (watch.lists === 0) return undefined
    const verdict = guard.verdict(this.#limit, plan.excluded)
    const ending = guard.ending(plan.excluded)
    const mustHalt = this.#isConfirmed(watch, 'exceeds', verdict.exceeds)
    const isListed = this.#isConfirmed(watch, 'over', ending !== 'under way')
    return { limit: this.#limit, verdict, mustHalt, isOver: ending === 'over' && isListed && !verdict.exceeds }
  }

  close(): void {
    this.#watch?.stopper.abort()
    this.#watch = undefined
  }

  #open(about: string, name: string, { configUid, configVersion }: RolloutState): Watch {
    const content = { namespace: this.#context.namespace, name, uid: configUid, version: configVersion }
    const guard = new RolloutGuard()
    const follower = {
      selector: '',
      resourceVersion: '',
      read: (node: unknown) => readSight(node, content),
      onList(sights: readonly NodeSight[], isGap: boolean) {
        guard.pass(following.takeContactUs())
        guard.list(sights, isGap)
        watch.lists += 1
        return undefined
      },
      onChange(sight: NodeSight, isDeleted: boolean) {
        guard.pass(following.takeContactUs())
        guard.see(sight)
        if (isDeleted) guard.remove(sight.name)
        return undefined
      },
    }
    const stopper = new AbortController()
    const following = new NodeFollowing(this.#context, follower, AbortSignal.any([stopper.signal, this.#context.signal]))
    const watch: Watch = { about, guard, following, stopper, lists: 0, found: {} }
    following.run().catch((error: unknown) => {
      this.#failure = error
    })
    return watch
  }

  #untilLastTurnUs(plan: Plan, hash: string): number | undefined {
    const { wallMs, monotonicUs } = this.#context
    const nowUs = monotonicUs()
    return untilLastTurnUs(plan, findWindowNow(plan, hash, wallMs(), nowUs), nowUs)
  }

  /**
   * A watch may be behind, or broken: before this command acts or ends, the Nodes are read anew.
   */
  #isConfirmed({ found, lists, following }: Watch, what: 'exceeds' | 'over', isSo: boolean): boolean {
    const foundAt = isSo ? (found[what] ?? lists) : undefined
    found[what] = foundAt
    if (foundAt === lists) following.refresh()
    return foundAt !== undefined && lists > foundAt
  }
}

/** @throws Failure where it could not see the Nodes, or not halt the rollout later */
export async function checkMayHalt(context: PluginContext, { record }: RolloutLook): Promise<void> {
  objectOf(LIST_NODES, await context.api.request({ method: 'GET', path: NODES_PATH, query: { limit: '1' } }))
  await patchRecord(context, record.name, { metadata: {} }, { dryRun: 'All' })
}

/**
 * Halts the rollout as it was looked at.
 *
 * @returns false: somebody has changed the record since
 * @throws Failure
 */
export async function haltRollout(context: PluginContext, { plan, record }: RolloutLook, { verdict, limit }: GuardLook): Promise<boolean> {
  const { name, resourceVersion, words } = record
  const data = words.state && guardVetoes(plan, words.state, words, { verdict, limit })
  if (data === undefined)
    throw new Failure(`the record ${context.namespace}/${name} has no room for the vetoes that would halt the rollout`)
  return patchRecord(context, name, { metadata: { resourceVersion }, data })
}

async function patchRecord(
  context: PluginContext,
  name: string,
  body: object,
  query: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const { api, namespace } = context
  const path = pathOf(context, name)
  const answer = await api.request({ method: 'PATCH', path, query, body, contentType: 'application/merge-patch+json' })
  if (answer.kind === 'refused' && answer.status === 409) return false
  objectOf({ verb: 'patch', resource: 'configmaps', name, namespace }, answer)
  return true
}
