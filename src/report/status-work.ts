/**
 * Keeps `status.config` of the Node what the agent says it is: newest wins, written only where the server shows something else, and
 * the answer is read, because a server of 1.22 or later drops the field without an error. Upstream (`status.Sync`) did not retry.
 * Sends no more than one request a second, whatever happens; a difference that somebody else made is mended at most once a minute.
 */
import type { Clock, KubeAnswer, KubeApi, Log } from '../agent/ports.ts'
import type { Work } from './lane.ts'
import { patchOf, readConfig, readNodeConfig, sameStatus, shows } from './node-config.ts'
import { Pace } from './pace.ts'
import type { ConfigStatus } from './status.ts'

export interface WorkOptions {
  readonly api: KubeApi
  readonly nodeName: string
  readonly clock: Clock
  readonly log: Log
  /** In [0, 1). */
  readonly random: () => number
}

const MEND_EVERY_MS = 60_000
/** A watch may still tell of the state before our own patch. */
const MEND_GRACE_MS = 2000
/** How often a server that drops or refuses the status is asked again: it may have been replaced by another version. */
const PARKED_MS = 3600_000

export class StatusWork implements Work {
  readonly #options: WorkOptions
  readonly #pace: Pace
  #wanted: ConfigStatus | undefined
  /** undefined: not known. */
  #server: ConfigStatus | 'absent' | undefined
  #nodeUid: string | undefined
  /** What the server last answered that it has. */
  #kept: { readonly status: ConfigStatus; readonly atMs: number } | undefined
  /** When a difference that somebody else made is mended. undefined: there is none. */
  #mendAtMs: number | undefined
  #announced: ConfigStatus | undefined
  #parked: 'dropped' | 'refused' | undefined
  #parkSaid = ''

  constructor(options: WorkOptions) {
    this.#options = options
    this.#pace = new Pace(options.clock, options.random)
  }

  want(status: ConfigStatus): void {
    if (this.#wanted !== undefined && sameStatus(this.#wanted, status)) return
    this.#wanted = status
    // It was this status that was refused; the next may pass.
    if (this.#parked === 'refused') this.#unpark()
  }

  /** What a read or a watch shows of the Node: `config` is its `status.config`. `status` is undefined where only metadata was asked for. */
  observe(uid: string, status: { readonly config: unknown } | undefined): void {
    if (this.#nodeUid !== undefined && this.#nodeUid !== uid) {
      this.#options.log.info('Node was created anew; its status is sent again', { uid })
      this.#kept = undefined
      if (this.#parked !== 'dropped') this.#unpark()
    }
    this.#nodeUid = uid
    if (status === undefined) return
    this.#server = readConfig(status.config)
    // What a server shows, it stores.
    if (this.#parked === 'dropped' && this.#server !== 'absent') this.#unpark()
    if (this.#kept === undefined || this.#isShown()) this.#mendAtMs = undefined
    else this.#mendAtMs ??= Math.max(this.#pace.nowMs() + MEND_GRACE_MS, this.#kept.atMs + MEND_EVERY_MS)
  }

  dueInMs(): number | undefined {
    if (this.#wanted === undefined || this.#isShown()) return undefined
    const mends = this.#kept !== undefined && sameStatus(this.#kept.status, this.#wanted)
    return Math.max(this.#pace.dueInMs(), mends && this.#mendAtMs !== undefined ? this.#mendAtMs - this.#pace.nowMs() : 0)
  }

  async attempt(): Promise<void> {
    const { api, nodeName, log } = this.#options
    const status = this.#wanted
    if (status === undefined) return
    if (this.#announced !== status) log.info('updating Node.Status.Config')
    this.#announced = status
    const answer = await api.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${nodeName}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { config: patchOf(status) } },
    })
    if (answer.kind === 'ok') this.#learn(readNodeConfig(answer.object), status)
    else this.#fail(answer)
  }

  #learn(answered: ConfigStatus | 'absent', sent: ConfigStatus): void {
    this.#server = answered
    this.#pace.succeeded()
    if (answered !== 'absent' && shows(answered, sent)) {
      this.#parked = undefined
      this.#mendAtMs = undefined
      this.#kept = { status: sent, atMs: this.#pace.nowMs() }
      return
    }
    this.#park(answered === 'absent' ? 'dropped' : 'refused')
    const said = answered === 'absent' ? DROPPED : ALTERED
    if (said !== this.#parkSaid) this.#options.log.warn(said, { node: this.#options.nodeName })
    this.#parkSaid = said
  }

  #fail(answer: Exclude<KubeAnswer, { kind: 'ok' }>): void {
    const { log, nodeName } = this.#options
    this.#server = undefined
    const failure = answer.kind === 'refused' ? `${answer.status} ${answer.reason}` : answer.kind
    const isNew = this.#pace.failed(failure, answer.kind === 'refused' ? answer.retryAfterMs : undefined)
    if (answer.kind === 'refused' && isFinal(answer.status)) this.#park('refused')
    if (isNew) log.warn('Node.Status.Config could not be updated; it is tried again', { node: nodeName, failure, detail: answer.detail })
  }

  #isShown(): boolean {
    if (this.#server === undefined || this.#server === 'absent' || this.#wanted === undefined) return false
    return shows(this.#server, this.#wanted)
  }

  #park(why: 'dropped' | 'refused'): void {
    this.#parked = why
    this.#pace.hold(PARKED_MS)
  }

  #unpark(): void {
    this.#parked = undefined
    this.#pace.release()
  }
}

const DROPPED =
  'the API server drops Node.Status.Config, as servers of 1.22 and later do; the status is in the metrics and in `kubelet-cfg-agent status`'
const ALTERED = 'the API server keeps another Node.Status.Config than was sent to it, as an admission webhook would'

/** Not worth repeating soon: the server understood and said no. Missing Nodes, rights and conflicts come and go. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 404, 408, 409, 429].includes(status)
}
