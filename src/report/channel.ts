// SPDX-License-Identifier: Apache-2.0
/**
 * One contract for a channel by which the Node shows what the agent says: what the channel says,
 * when, and how a refusal is met. `NodeField` has the second half of it, and `FieldWork` carries it
 * out. The table of channels is in `channels.ts`. Pure.
 */
import { isObject } from '../values/is-object.ts'
import { FieldWork } from './field-work.ts'
import { LONG_RUN, type NodeField, type WorkOptions } from './node-field.ts'
import type { JointField } from './node-work.ts'
import type { Condition } from './reasons.ts'
import type { ConfigStatus } from './status.ts'

/** The report of one pass of the loop. A part that is not known well enough yet is absent. */
export interface NodeReport {
  readonly status?: ConfigStatus
  readonly condition?: Condition
  /** The annotation's error is that of the condition. */
  readonly annotation?: string
  /** CLOCK_MONOTONIC: not to be written before. undefined: at once. */
  readonly slotUs?: number | undefined
  /** The same of the events about it. */
  readonly eventSlotUs?: number | undefined
}

export interface ReportChannel<Wanted, Seen = Wanted> extends NodeField<Wanted, Seen> {
  /** Which part of the Node it is in: each takes a right of its own to write. */
  readonly part: 'status' | 'metadata'
  /** undefined: what the Node shows stays. */
  says(report: NodeReport): Wanted | undefined
  /** Where it says nothing, what it said before and the Node does not show yet is outdated. */
  drops?(report: NodeReport): boolean
  /** Written only once the server has answered for a while, where its cause kept it from that. */
  readonly mayBeCutOff?: true
  /** Removes it from the Node once the agent is gone. Absent: it stays, as with kubelet. */
  remove?(nodeName: string): Removal
}

interface Removal {
  /** A strategic merge patch. */
  readonly body: unknown
  /** The command that does the same. */
  readonly byHand: string
}

/** A channel of an agent that runs. */
export interface OpenChannel {
  readonly work: JointField & Pick<FieldWork<unknown>, 'again' | 'writtenAtUs' | 'slotInMs'>
  say(report: NodeReport): void
  /** To be called with each Node read or watched. */
  see(uid: string, node: unknown, form: 'whole' | 'metadata'): void
}

/** The same for all channels, whatever they write. */
export interface AnyChannel extends Pick<ReportChannel<unknown>, 'part' | 'grantedBy' | 'remove'> {
  isShown(node: unknown): boolean
  open(options: WorkOptions, isOn: () => boolean): OpenChannel
}

export function anyChannel<Wanted, Seen>(channel: ReportChannel<Wanted, Seen>): AnyChannel {
  return {
    ...channel,
    isShown: (node) => channel.read(node) !== 'absent',
    open(options, isOn) {
      const work = new FieldWork(options, channel, isOn)
      return {
        work,
        say(report) {
          const wanted = channel.says(report)
          if (wanted === undefined && channel.drops?.(report) !== true) return
          const cutOff = channel.mayBeCutOff && report.condition?.cutOff
          work.want(wanted, { cutOff, slotUs: report.slotUs })
        },
        see: (uid, node, form) => work.observe(uid, form === 'whole' || channel.part === 'metadata' ? channel.read(node) : undefined),
      }
    },
  }
}

const MAPS = { annotation: 'annotations', label: 'labels' } as const

/**
 * One annotation or label of the Node, with a merge patch of that one key. NodeRestriction
 * restricts no annotations, and only labels under kubernetes.io and k8s.io. Every watch of the Node
 * shows metadata, so the agent's own write comes back as an event; its text identifies it.
 *
 * @param says null: it is removed
 */
export function metadataChannel(
  kind: keyof typeof MAPS,
  key: string,
  says: ReportChannel<string | null>['says'],
): ReportChannel<string | null, string> {
  const name = `${kind} ${key}`
  const patch = (text: string | null) =>
    ({ contentType: 'application/merge-patch+json', body: { metadata: { [MAPS[kind]]: { [key]: text } } } }) as const
  return {
    name,
    part: 'metadata',
    says,
    announce: 'debug',
    grantedBy: 'deploy/rbac/status-annotation.yaml',
    dropped: `the API server drops the ${name}, as an admission webhook would`,
    readsFirst: false,
    longRun: LONG_RUN,
    finalValue: null,
    read(node) {
      const metadata = isObject(node) ? node.metadata : undefined
      const map = isObject(metadata) ? metadata[MAPS[kind]] : undefined
      const text = isObject(map) ? map[key] : undefined
      return typeof text === 'string' ? text : 'absent'
    },
    shows: (seen, wanted) => seen === (wanted ?? 'absent'),
    same: (a, b) => a === b,
    // The answer need not contain the whole Node.
    write: (nodeName, text) => ({ path: `/api/v1/nodes/${nodeName}`, ...patch(text), as: 'PartialObjectMetadata' }),
    remove: (nodeName) => ({
      body: patch(null).body,
      byHand: `kubectl ${kind === 'label' ? 'label' : 'annotate'} node ${nodeName} ${key}-`,
    }),
  }
}
