/**
 * Events on the config about its rollout: started, advanced, halted. The node whose write made it so
 * tells of it, once and without another try: an event is a convenience, and the record is the truth.
 */
import type { ConfigMapRef } from '../../decision/config-source.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import type { Progress } from '../../rollout/progress.ts'

export interface RolloutEventsDeps {
  readonly nodeName: string
  readonly api: Pick<KubeApi, 'request'>
  readonly log: Log
  readonly wallMs: () => number
  /** Whether events are to be sent; may change at any time. */
  readonly isOn: () => boolean
}

export type RolloutEventReason = 'RolloutStarted' | 'RolloutAdvanced' | 'RolloutHalted'

interface RolloutEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: RolloutEventReason
  readonly message: string
}

const COMPONENT = 'kubelet-cfg-agent'
/** Newer servers refuse longer messages (`NoteLengthLimit`). */
const LONGEST_MESSAGE = 1024
const LONGEST_NAME = 200

export class RolloutEvents {
  readonly #deps: RolloutEventsDeps
  #isRefused = false

  constructor(deps: RolloutEventsDeps) {
    this.#deps = deps
  }

  /** @param after as the record is with this node's write */
  async tell(config: ConfigMapRef & { readonly uid: string }, before: Progress | undefined, after: Progress): Promise<void> {
    if (!this.#deps.isOn()) return
    for (const event of listEvents(this.#deps.nodeName, before, after)) await this.#send(config, event, after)
  }

  async #send({ namespace, name, uid }: ConfigMapRef & { readonly uid: string }, event: RolloutEvent, after: Progress): Promise<void> {
    const { api, nodeName, log, wallMs } = this.#deps
    const timestamp = `${new Date(wallMs()).toISOString().slice(0, 19)}Z`
    // Derived from what happened: two nodes that tell of the same make one event.
    const unique = `${after.generation}-${after.stage}-${event.reason.toLowerCase()}`
    const answer = await api.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/events`,
      contentType: 'application/json',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${name.slice(0, LONGEST_NAME)}.${uid.slice(0, 8)}.${unique}`, namespace },
        involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace, name, uid },
        type: event.type,
        reason: event.reason,
        message: event.message.slice(0, LONGEST_MESSAGE),
        source: { component: COMPONENT, host: nodeName },
        firstTimestamp: timestamp,
        lastTimestamp: timestamp,
        count: 1,
      },
    })
    if (answer.kind !== 'refused' || answer.status === 409 || this.#isRefused) return
    this.#isRefused = true
    log.info('events about rollouts are refused, and left out from now on', {
      failure: `${answer.status} ${answer.reason}`,
      detail: answer.detail,
    })
  }
}

/** What a write made of the rollout. */
export function listEvents(nodeName: string, before: Progress | undefined, after: Progress): readonly RolloutEvent[] {
  const events: RolloutEvent[] = []
  const isNew = before?.generation !== after.generation
  if (isNew)
    events.push({
      type: 'Normal',
      reason: 'RolloutStarted',
      message: `rollout ${after.generation} of this config was begun by node ${nodeName}`,
    })
  else if (after.stage > (before?.stage ?? 0)) {
    const message = after.finished
      ? `rollout ${after.generation} has proved itself: all nodes may go`
      : `rollout ${after.generation} is in stage ${after.stage} of ${after.stages}: ${after.freePercent} % of the nodes may go, and ${after.needed} more ${after.needed === 1 ? 'has' : 'have'} to prove it`
    events.push({ type: 'Normal', reason: 'RolloutAdvanced', message })
  }
  if (after.halted && (isNew || before?.halted !== true)) {
    const vetoes = after.vetoes.map(({ node, reason }) => `${node} (${reason})`).join(', ')
    events.push({ type: 'Warning', reason: 'RolloutHalted', message: `rollout ${after.generation} is halted: it failed on ${vetoes}` })
  }
  return events
}
