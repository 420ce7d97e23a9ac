/**
 * The rights that the agent needs for its settings and for what is assigned: those of
 * docs/rights.md that can be told beforehand. Pure.
 */
import type { ConfigMapRef } from '../decision/config-source.ts'
import type { Desired } from '../decision/desired.ts'
import { ROLLOUT_OFF } from '../decision/staging.ts'
import { CHANNEL_NAMES, CHANNELS } from '../report/channels.ts'
import type { Settings } from '../settings/settings.ts'

/** As in `resourceAttributes` of a SelfSubjectAccessReview. */
export interface Right {
  readonly verb: 'get' | 'list' | 'watch' | 'patch' | 'create'
  readonly group?: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  /** Servers before 1.31 know no such field, and decide without it. */
  readonly fieldSelector?: { readonly requirements: readonly { key: string; operator: 'In'; values: readonly string[] }[] }
  /** What it means to lack it. */
  readonly level: 'warn' | 'fail'
  /** The file that has it. */
  readonly grantedBy: string
}

export function listRights(nodeName: string, settings: Settings, desired: Desired | undefined): readonly Right[] {
  const { channels, configNamespace, publish } = settings
  const node = { resource: 'nodes', name: nodeName } as const
  return [
    { ...node, verb: 'get', level: 'fail', grantedBy: READS },
    { ...node, verb: 'watch', level: 'warn', grantedBy: READS },
    ...(channels.includes('selector') ? listFleetRights(configNamespace) : []),
    ...listConfigMaps(desired).flatMap(listReads),
    ...listRolloutRights(desired, publish.includes('rollout-events')),
    ...listChannelRights(node, publish),
    { verb: 'create', resource: 'events', namespace: 'default', level: 'warn', grantedBy: WRITES },
    ...listEvidenceRights(nodeName, settings),
  ]
}

const READS = 'deploy/rbac/serviceaccount.yaml'
const WRITES = 'deploy/rbac/status.yaml'
const EVIDENCE = 'deploy/rbac/evidence.yaml'

/** The channels of one part of the Node take one right. */
function listChannelRights(node: Pick<Right, 'resource' | 'name'>, publish: Settings['publish']): readonly Right[] {
  const published = CHANNEL_NAMES.filter((name) => publish.includes(name)).map((name) => CHANNELS[name])
  const [status, metadata] = (['status', 'metadata'] as const).map((part) => published.find((channel) => channel.part === part))
  return [
    ...(status === undefined
      ? []
      : [{ ...node, subresource: 'status', verb: 'patch', level: 'warn', grantedBy: status.grantedBy } as const]),
    ...(metadata === undefined ? [] : [{ ...node, verb: 'patch', level: 'warn', grantedBy: metadata.grantedBy } as const]),
  ]
}

function listFleetRights(namespace: string): readonly Right[] {
  const fleet = { resource: 'configmaps', namespace, grantedBy: 'deploy/rbac/node-fleet-selector.yaml' } as const
  return [
    { ...fleet, verb: 'list', level: 'fail' },
    { ...fleet, verb: 'watch', level: 'warn' },
  ]
}

/**
 * The assigned one, and those under it, as far as they could be read. Layers come with the list of
 * the fleet.
 */
function listConfigMaps(desired: Desired | undefined): readonly ConfigMapRef[] {
  if (desired?.kind !== 'config-map') return []
  const { ref, object } = desired
  if (object.kind !== 'found') return [ref]
  return [ref, ...(object.bases?.views ?? []).map((view) => view.ref)]
}

function listReads({ namespace, name }: ConfigMapRef): readonly Right[] {
  const map = { resource: 'configmaps', namespace, name, grantedBy: 'deploy/rbac/node-configmaps.yaml' } as const
  return [
    { ...map, verb: 'get', level: 'fail' },
    { ...map, verb: 'watch', level: 'warn' },
  ]
}

/** Without `get`, the node starts no new content. */
function listRolloutRights(desired: Desired | undefined, withEvents: boolean): readonly Right[] {
  if (desired?.kind !== 'config-map' || desired.object.kind !== 'found') return []
  const { namespace } = desired.ref
  const record = desired.object.rollout?.record
  if (record === undefined || record === ROLLOUT_OFF) return []
  const map = { resource: 'configmaps', namespace, name: record, grantedBy: 'deploy/rbac/rollout.yaml' } as const
  const event = { verb: 'create', resource: 'events', namespace, level: 'warn', grantedBy: 'deploy/rbac/rollout-events.yaml' } as const
  return [
    { ...map, verb: 'get', level: 'fail' },
    { ...map, verb: 'watch', level: 'warn' },
    { ...map, verb: 'patch', level: 'warn' },
    ...(withEvents ? [event] : []),
  ]
}

/** The list of pods as a trial asks for it, which a node may read of itself only. */
function listEvidenceRights(nodeName: string, { evidence }: Settings): readonly Right[] {
  const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', name: nodeName } as const
  const fieldSelector = { requirements: [{ key: 'spec.nodeName', operator: 'In', values: [nodeName] } as const] }
  return [
    ...(evidence.lease === 'off' ? [] : [{ ...lease, verb: 'get', level: 'warn', grantedBy: EVIDENCE } as const]),
    ...(evidence.pods === 'off' ? [] : [{ verb: 'list', resource: 'pods', fieldSelector, level: 'warn', grantedBy: EVIDENCE } as const]),
  ]
}
