// SPDX-License-Identifier: Apache-2.0
/**
 * Why the condition cannot tell what is assigned: the assignment has not been read since the agent
 * started, or not for a while. Pure. The texts are fixed, since details may contain a file of the
 * node, an address or the output of a program; those are in the log.
 */

import type { Desired, Silence, Stale, UnavailableReason, WatchFailure } from '../decision/desired.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { SILENCE_TEXTS } from '../kube/answer.ts'
import { describeRef } from '../subject/config-source.ts'

type ReasonAndMessage = readonly ['AssignmentUnknown' | 'DownloadFailed', string]

/** An assignment that was read this recently counts as current. */
const STALE_US = 60e6

type Failure = UnavailableReason | WatchFailure

const FAILURE_TEXTS: Readonly<Record<Failure, string>> = {
  'not-found': 'it does not exist',
  forbidden: 'the API server forbids it',
  unauthenticated: 'the API server does not accept the identity of the agent',
  malformed: 'it is malformed',
  ...SILENCE_TEXTS,
}

/** The file that grants the right that is missing, by the kind of object. */
const GRANTS: Readonly<Record<Stale['what'], string>> = {
  Node: 'deploy/rbac/serviceaccount.yaml grants it to a ServiceAccount',
  ConfigMap: 'deploy/rbac/node-configmaps.yaml grants it',
  base: 'deploy/rbac/node-configmaps.yaml grants it',
  fleet: 'deploy/rbac/node-fleet-selector.yaml grants it',
}

function describeFailure(reason: Failure, what: Stale['what']): string {
  return reason === 'forbidden' ? `${FAILURE_TEXTS[reason]} (${GRANTS[what]})` : FAILURE_TEXTS[reason]
}

const STALE_NAMES: Readonly<Record<Stale['what'], string>> = {
  Node: 'the Node',
  ConfigMap: 'the ConfigMap',
  base: 'a ConfigMap that is merged with the assigned one',
  fleet: 'the ConfigMaps with node selectors',
}

export function describeUnknown(of: Pick<Snapshot, 'desired' | 'now'>): string | undefined {
  const { desired } = of
  if (desired.kind === 'unknown') return `the assignment of this node is not known: ${silenceText(desired)}`
  if (desired.kind !== 'config-map') return undefined
  const isUnread = desired.object.kind === 'pending' || isUnanswered(of)
  return isUnread ? `ConfigMap ${desired.ref.namespace}/${desired.ref.name} has not been read yet` : undefined
}

/**
 * Whether the assigned ConfigMap has been asked for, for less than a minute, and nothing was said
 * about it. The next attempt may find it.
 */
export function isUnanswered(of: Pick<Snapshot, 'desired' | 'now'>): boolean {
  return isSilent(findReadFailure(of.desired)) && findStale(of) === undefined
}

/**
 * Why the assigned ConfigMap is not there, as its watch says: the ConfigMap itself only has that
 * there was no answer that can be used. undefined: it was read, or not asked for.
 */
function findReadFailure(desired: Desired): Failure | undefined {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'unavailable') return undefined
  return desired.stale?.what === 'ConfigMap' ? desired.stale.reason : desired.object.reason
}

/** undefined: all that decides was read recently. */
function findStale({ desired, now }: Pick<Snapshot, 'desired' | 'now'>): Stale | undefined {
  const stale = desired.kind === 'local' || desired.kind === 'config-map' ? desired.stale : undefined
  return stale === undefined || now.monotonicUs - stale.sinceUs < STALE_US ? undefined : stale
}

/**
 * The last assignment stays in effect, but may have changed meanwhile. undefined: it is current.
 */
export function describeStale(of: Pick<Snapshot, 'desired' | 'now'>): ReasonAndMessage | undefined {
  const { desired } = of
  const stale = findStale(of)
  if (stale === undefined) return undefined
  const failure = describeFailure(stale.reason, stale.what)
  if (stale.what === 'ConfigMap' && desired.kind === 'config-map' && stale.reason === 'forbidden') {
    return ['DownloadFailed', `${describeRef(desired.ref)} can no longer be read: ${failure}; the version read last stays in effect`]
  }
  return ['AssignmentUnknown', `${STALE_NAMES[stale.what]} can no longer be read: ${failure}; the previous assignment stays in effect`]
}

/**
 * Whether what keeps the agent from reading keeps it from writing as well. Not where an assignment
 * was read that it cannot follow yet: what is published about the one before it is no longer right.
 */
export function isCutOff(of: Pick<Snapshot, 'desired' | 'now'>): boolean {
  const { desired } = of
  switch (desired.kind) {
    case 'unknown':
      return isSilent(desired.silence)
    case 'local':
      return isSilent(desired.stale?.reason)
    case 'config-map':
      if (desired.object.kind === 'pending' || isUnanswered(of)) return false
      return isSilent(findReadFailure(desired) ?? desired.stale?.reason)
    case 'invalid':
      return false
  }
}

function isSilent(reason: UnavailableReason | Silence | undefined): boolean {
  return reason === 'unreachable' || reason === 'unauthenticated' || reason === 'kubeconfig'
}

export function describeReadFailure(desired: Desired): string {
  const reason = findReadFailure(desired)
  return reason === undefined ? 'it has not been read yet' : describeFailure(reason, 'ConfigMap')
}

function silenceText({ silence }: Extract<Desired, { kind: 'unknown' }>): string {
  if (silence === undefined) return 'it has not been read yet'
  switch (silence) {
    case 'missing':
      return 'the Node does not exist'
    case 'kubeconfig':
      return FAILURE_TEXTS[silence]
    case 'forbidden':
    case 'unauthenticated':
    case 'unreachable':
    case 'too-long':
      return `the Node cannot be read: ${describeFailure(silence, 'Node')}`
  }
}
