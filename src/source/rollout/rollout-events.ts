// SPDX-License-Identifier: Apache-2.0
/**
 * Events on the config about its rollout: started, advanced, halted. The node whose write caused
 * the change sends them once, and does not try again: an event is a convenience, and the record is
 * the truth.
 */

import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import { describeShare, describeVetoes, type Progress } from '../../rollout/progress.ts'
import type { ConfigMapRef } from '../../subject/config-source.ts'

interface RolloutEventsDeps {
  readonly nodeName: string
  readonly api: Pick<KubeApi, 'request'>
  readonly log: Log
  readonly wallMs: () => number
  /** Whether events are to be sent; may change at any time. */
  readonly isOn: () => boolean
}

type RolloutEventReason = 'RolloutStarted' | 'RolloutAdvanced' | 'RolloutHalted'

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
  #hasLoggedRefusal = false

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
    // The name follows from what happened, so two nodes that report the same make one event.
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
    if (answer.kind !== 'refused' || answer.status === 409 || this.#hasLoggedRefusal) return
    this.#hasLoggedRefusal = true
    const remedy = `grant create on events in namespace ${namespace}, or leave rollout-events out of --publish`
    log.warn(`events about the rollout of ConfigMap ${namespace}/${name} are refused: ${remedy} (logged once)`, {
      failure: `${answer.status} ${answer.reason}`,
      detail: answer.detail,
    })
  }
}

/** The events about what a write changed. */
export function listEvents(nodeName: string, before: Progress | undefined, after: Progress): readonly RolloutEvent[] {
  const events: RolloutEvent[] = []
  const isNew = before?.generation !== after.generation
  const share = `open to ${describeShare(after)}`
  const proofs = after.needed === 1 ? '1 proof opens' : `${after.needed} proofs open`
  if (isNew)
    events.push({
      type: 'Normal',
      reason: 'RolloutStarted',
      message: `node ${nodeName} began rollout ${after.generation} of this config`,
    })
  else if (after.stage > (before?.stage ?? 0)) {
    const message = after.finished
      ? `rollout ${after.generation} is finished: ${share}`
      : `rollout ${after.generation} is in stage ${after.stage} of ${after.lastStage}: ${share}, and ${proofs} the next stage`
    events.push({ type: 'Normal', reason: 'RolloutAdvanced', message })
  }
  if (after.halted && (isNew || before?.halted !== true)) {
    const message = `rollout ${after.generation} is halted: ${describeVetoes(after.vetoes)}; fix the config, or raise retry in its plan`
    events.push({ type: 'Warning', reason: 'RolloutHalted', message })
  }
  return events
}
