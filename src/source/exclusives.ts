// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a pod of this node has to lose what kubelet's managers gave it, or would give it, when
 * they change: by the state files of the CPU and memory managers, and by the pods. A node whose
 * pods lose nothing changes at once. Asked only while a change of the managers waits for it.
 */
import type { Exclusives } from '../decision/snapshot.ts'
import { listHolders, parseManagerState, STATE_FILES, type StateFileName } from '../kubelet/manager-state.ts'
import { rootDirectory } from '../kubelet/root-directory.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { asArguments, flagValue } from '../systemd/command-line.ts'
import { judgeExclusives, kindsIn, type Look, type Pod, readPod, type State } from './judge-exclusives.ts'
import { readAnswer, wholeNode } from './kube-object.ts'
import {
  CONFIRMED_US,
  type Failure,
  FROM_CACHE,
  hasDrainedCondition,
  isCordoned,
  listPods,
  OLD_US,
  Pauses,
  type Query,
} from './pods-of-node.ts'

interface ExclusivesDeps {
  /** undefined: there is none, so state files alone tell. */
  readonly api: Pick<KubeApi, 'request'> | undefined
  readonly files: Pick<Files, 'read'>
  readonly nodeName: string
  readonly clock: Clock
  /** In [0, 1). */
  readonly random: () => number
  /** Called when the result differs from the one before. */
  readonly onChange: () => void
}

/** An API server that has just started may refuse what it grants. Two answers are as far apart. */
const FORBIDDEN_US = 40e6
const NO_API: Look = { kind: 'no-api' }
const NONE: Exclusives = { kind: 'none' }
const NO_ANSWER: Look = { kind: 'unknown', detail: 'an answer of the API server is not what was requested' }

export class NodeExclusives {
  readonly #deps: ExclusivesDeps
  readonly #pauses: Pauses
  #look: Look | undefined
  #answeredUs = Number.NEGATIVE_INFINITY
  #confirmedUs = Number.NEGATIVE_INFINITY
  #nextUs = 0
  #isAsking = false
  /** The kinds that the last answer, and the last question, is about. */
  #answeredKinds = ''
  #kinds = ''
  #forbiddenSinceUs: number | undefined

  constructor(deps: ExclusivesDeps) {
    this.#deps = deps
    this.#pauses = new Pauses(deps.random)
    if (deps.api === undefined) this.#look = NO_API
  }

  /**
   * The last result; refreshes it in the background. undefined: not known yet.
   *
   * @param fields that change
   */
  find(unit: KnownUnit, fields: readonly string[]): Exclusives | undefined {
    const { api } = this.#deps
    const states = STATE_FILES.map((file) => this.#readState(unit, file))
    // Kubelet has not run here, or somebody who stopped it has removed the files.
    if (unit.process.kind === 'none' && states.every(({ holders }) => holders === 'no file')) return NONE
    this.#turnTo(fields)
    if (api !== undefined && !this.#isAsking && this.#nowUs() >= this.#nextUs) void this.#refresh(api, fields)
    const found = this.#look && judgeExclusives(this.#look, states, fields)
    return found?.kind === 'none' && this.#mayBeWrong() ? undefined : found
  }

  /** A look that was confirmed for other fields is not for these. */
  #turnTo(fields: readonly string[]): void {
    const kinds = kindsIn(fields).join()
    if (kinds === this.#kinds) return
    this.#kinds = kinds
    this.#confirmedUs = Number.NEGATIVE_INFINITY
    if (this.#look?.kind !== 'unknown') this.#nextUs = 0
  }

  #mayBeWrong(): boolean {
    if (this.#look?.kind === 'no-api') return false
    if (this.#answeredKinds !== this.#kinds) return true
    if (this.#look?.kind === 'forbidden') return this.#answeredUs - (this.#forbiddenSinceUs ?? this.#answeredUs) < FORBIDDEN_US
    return this.#nowUs() - this.#answeredUs > OLD_US
  }

  #readState(unit: KnownUnit, file: StateFileName): State {
    const root = unit.command && rootDirectory(flagValue(asArguments(unit.command.words), 'root-dir'))
    if (root === undefined) return { file, path: undefined, holders: undefined }
    const path = `${root}/${file}`
    try {
      const text = this.#deps.files.read(path)?.toString()
      if (text === undefined) return { file, path, holders: 'no file' }
      const state = parseManagerState(text)
      return { file, path, holders: state && listHolders(state) }
    } catch {
      return { file, path, holders: undefined }
    }
  }

  async #refresh(api: Pick<KubeApi, 'request'>, fields: readonly string[]): Promise<void> {
    this.#isAsking = true
    const kinds = this.#kinds
    const before = JSON.stringify(this.#look)
    let look = await this.#ask(api, FROM_CACHE)
    const isFree = (seen: Look) => judgeExclusives(seen, [], fields).kind === 'none'
    const isConfirmed = this.#look !== undefined && isFree(this.#look) && this.#nowUs() < this.#confirmedUs + CONFIRMED_US
    if (isFree(look) && look.kind !== 'forbidden' && !isConfirmed) {
      look = await this.#ask(api, {})
      if (isFree(look)) this.#confirmedUs = this.#nowUs()
    }
    this.#look = look
    this.#answeredKinds = kinds
    this.#answeredUs = this.#nowUs()
    this.#forbiddenSinceUs = look.kind === 'forbidden' ? (this.#forbiddenSinceUs ?? this.#answeredUs) : undefined
    const isNear = look.kind !== 'forbidden' && (isFree(look) || (look.kind === 'pods' && look.isCordoned))
    const pauseMs = look.kind === 'unknown' ? this.#pauses.afterUnknown(look.failure) : this.#pauses.afterAnswer(isNear)
    this.#nextUs = this.#answeredUs + pauseMs * 1000
    this.#isAsking = false
    if (JSON.stringify(look) !== before) this.#deps.onChange()
  }

  async #ask(api: Pick<KubeApi, 'request'>, query: Query): Promise<Look> {
    const { nodeName } = this.#deps
    const node = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}`, query })
    // A node that may not be read, or is not registered yet, has no condition that counts.
    const isUnseen = node.kind === 'refused' && (node.status === 403 || node.status === 404)
    if (node.kind !== 'ok' && !isUnseen) return { kind: 'unknown', detail: node.detail, failure: node }
    const object = node.kind === 'ok' ? node.object : undefined
    if (object !== undefined && !readAnswer(object, wholeNode(nodeName)).ok) return NO_ANSWER
    return hasDrainedCondition(object) ? { kind: 'declared' } : this.#list(api, query, isCordoned(object))
  }

  async #list(api: Pick<KubeApi, 'request'>, query: Query, isCordoned: boolean): Promise<Look> {
    const pods: Pod[] = []
    for await (const page of listPods(api, this.#deps.nodeName, query)) {
      if (page.kind === 'unknown') return toLook(page.failure)
      pods.push(...page.pods.map(readPod))
    }
    return { kind: 'pods', pods, isCordoned }
  }

  #nowUs(): number {
    return this.#deps.clock.now().monotonicUs
  }
}

function toLook(failure: Failure | undefined): Look {
  if (failure === undefined) return NO_ANSWER
  const { detail } = failure
  return failure.kind === 'refused' && failure.status === 403 ? { kind: 'forbidden', detail } : { kind: 'unknown', detail, failure }
}
