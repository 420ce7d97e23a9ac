/**
 * Why the condition cannot say what is assigned: it has not been heard in this life of the agent, or what was heard is old. Pure. The words come from a closed
 * set, since details may name a file of the node, an address or what a program said; those are in the log.
 */
import { describeRef } from '../decision/config-source.ts'
import type { Desired, UnavailableReason } from '../decision/desired.ts'
import type { Snapshot } from '../decision/snapshot.ts'

type Doubt = readonly ['AssignmentUnknown' | 'DownloadFailed', string]

/** For how long what was heard last is as good as heard now. */
const STALE_US = 60e6

const FAILURE_TEXTS: Readonly<Record<UnavailableReason, string>> = {
  'not-found': 'there is none',
  forbidden: 'the API server forbids it',
  unreachable: 'the API server does not answer',
  malformed: 'it is malformed',
}

export function describeUnheard(desired: Desired): string | undefined {
  if (desired.kind === 'unknown') return `what is assigned to this node is not known: ${silenceText(desired)}`
  if (desired.kind !== 'config-map' || desired.object.kind !== 'pending') return undefined
  const { namespace, name } = desired.ref
  return `ConfigMap ${namespace}/${name} has not been read yet`
}

/** What was heard last stands, but whether it is still what is wanted is anybody's guess. */
export function describeStale({ desired, now }: Pick<Snapshot, 'desired' | 'now'>): Doubt | undefined {
  const stale = desired.kind === 'local' || desired.kind === 'config-map' ? desired.stale : undefined
  if (stale === undefined || now.monotonicUs - stale.sinceUs < STALE_US) return undefined
  const why = FAILURE_TEXTS[stale.reason]
  if (stale.what === 'ConfigMap' && desired.kind === 'config-map' && stale.reason === 'forbidden') {
    return ['DownloadFailed', `${describeRef(desired.ref)} cannot be read any more: ${why}; what was read before stands`]
  }
  const what = stale.what === 'fleet' ? 'the ConfigMaps with node selectors' : `the ${stale.what}`
  return ['AssignmentUnknown', `${what} cannot be read any more: ${why}; what was assigned before stands`]
}

export function readFailure(desired: Desired): string {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'unavailable') return 'it has not been'
  return FAILURE_TEXTS[desired.object.reason]
}

function silenceText({ silence }: Extract<Desired, { kind: 'unknown' }>): string {
  if (silence === undefined) return 'it has not been read yet'
  switch (silence) {
    case 'missing':
      return 'the Node does not exist'
    case 'kubeconfig':
      return 'there is no kubeconfig that can be used'
    case 'forbidden':
    case 'unreachable':
      return `the Node cannot be read: ${FAILURE_TEXTS[silence]}`
  }
}
