/**
 * Turns a transition into a Kubernetes Event. Pure. The name is derived from the transition, so
 * sending an event twice creates one event. Upstream: `makeEvent` and
 * `KubeletConfigChangedEventReason` in Kubernetes 1.20 `pkg/kubelet/kubeletconfig`; only the
 * component differs.
 */
import type { Transition } from '../decision/records.ts'
import {
  downloadFailedMessage,
  invalidMessage,
  promotedMessage,
  rejectedMessage,
  restartingMessage,
  rolledBackMessage,
} from '../decision/status-texts.ts'
import { cutToBytes } from '../values/cut.ts'
import { showTime } from './deadlines.ts'
import { instantOf } from './history-lines.ts'

export const EVENT_NAMESPACE = 'default'
const COMPONENT = 'kubelet-cfg-agent'
/** Newer servers refuse longer messages (`NoteLengthLimit`). */
const MESSAGE_BYTES = 1024

export interface NodeEvent {
  readonly apiVersion: 'v1'
  readonly kind: 'Event'
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly involvedObject: { readonly kind: 'Node'; readonly name: string; readonly uid: string }
  readonly type: 'Normal' | 'Warning'
  readonly reason: EventReason
  readonly message: string
  readonly source: { readonly component: string; readonly host: string }
  readonly firstTimestamp: string
  readonly lastTimestamp: string
  readonly count: 1
}
export type EventReason =
  | 'KubeletConfigChanged'
  | 'KubeletConfigRejected'
  | 'KubeletConfigRolledBack'
  | 'KubeletConfigPromoted'
  | 'KubeletConfigDownloadFailed'
  | 'KubeletConfigInvalid'

/** undefined: this transition makes no event. */
export function eventOf(transition: Transition, nodeName: string): NodeEvent | undefined {
  const description = describeTransition(transition)
  if (description === undefined) return undefined
  const timestamp = showTime(instantOf(transition).getTime())
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${nodeName}.${BigInt(transition.atNs).toString(16)}`, namespace: EVENT_NAMESPACE },
    // kubelet uses the name as the uid, and `kubectl describe node` searches for that.
    involvedObject: { kind: 'Node', name: nodeName, uid: nodeName },
    type: description.type,
    reason: description.reason,
    message: cutToBytes(description.message, MESSAGE_BYTES),
    source: { component: COMPONENT, host: nodeName },
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
    count: 1,
  }
}

function describeTransition({ kind, from, to, why }: Transition): Pick<NodeEvent, 'type' | 'reason' | 'message'> | undefined {
  switch (kind) {
    case 'restarting':
      return { type: 'Normal', reason: 'KubeletConfigChanged', message: restartingMessage(to) }
    case 'rejected':
      return { type: 'Warning', reason: 'KubeletConfigRejected', message: rejectedMessage(from, why) }
    case 'rolled-back':
      return { type: 'Warning', reason: 'KubeletConfigRolledBack', message: rolledBackMessage(from, to, why) }
    case 'promoted':
      return { type: 'Normal', reason: 'KubeletConfigPromoted', message: promotedMessage(to) }
    case 'download-failed':
      return { type: 'Warning', reason: 'KubeletConfigDownloadFailed', message: downloadFailedMessage(why) }
    case 'invalid':
      return { type: 'Warning', reason: 'KubeletConfigInvalid', message: invalidMessage(why) }
    case 'assigned':
    case 'synced':
    case 'retrying':
    case 'set-aside':
      return undefined
  }
}
