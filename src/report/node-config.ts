// SPDX-License-Identifier: Apache-2.0
/**
 * `Node.status.config` as a channel: builds the merge patch and reads the server's answer. Pure.
 * Upstream: `NodeConfigStatus` in `k8s.io/api/core/v1`. Merge patch: RFC 7386, where null removes a
 * field, so a node that is back on local config gets `{}`.
 */
import { type ConfigMapSource, type ConfigSource, sameSource, withoutOverlay } from '../subject/config-source.ts'
import { isObject } from '../values/is-object.ts'
import type { ReportChannel } from './channel.ts'
import type { ConfigStatus } from './status.ts'

/** As in the API: an absent source is local. */
interface NodeConfigStatus {
  readonly assigned?: WireSource
  readonly active?: WireSource
  readonly lastKnownGood?: WireSource
  readonly error?: string
}
interface WireSource {
  readonly configMap: ConfigMapSource
}
type NodeConfigPatch = { readonly [field in keyof NodeConfigStatus]: NodeConfigStatus[field] | null }

/** Unknown fields are left out, so the server keeps them. */
function patchOf(status: ConfigStatus): NodeConfigPatch {
  return {
    ...(status.assigned && { assigned: wireSource(status.assigned) }),
    ...(status.active && { active: wireSource(status.active) }),
    ...(status.lastKnownGood && { lastKnownGood: wireSource(status.lastKnownGood) }),
    error: status.error === '' ? null : status.error,
  }
}

/** null: local. */
export function wireSource(source: ConfigSource): WireSource | null {
  if (source === 'local') return null
  // Field by field: other fields of a source are not for the API.
  const { kubeletConfigKey, name, namespace, resourceVersion, uid } = source
  return { configMap: { kubeletConfigKey, name, namespace, resourceVersion, uid } }
}

/** `absent`: the object has no `status.config`, as with a server that drops it. */
export function readNodeConfig(node: unknown): ConfigStatus | 'absent' {
  return readConfig(member(member(node, 'status'), 'config'))
}

export function readConfig(config: unknown): ConfigStatus | 'absent' {
  if (config === undefined || config === null) return 'absent'
  const error = member(config, 'error')
  return {
    assigned: readSource(member(config, 'assigned')),
    active: readSource(member(config, 'active')),
    lastKnownGood: readSource(member(config, 'lastKnownGood')),
    error: typeof error === 'string' ? error : '',
  }
}

/** undefined: a source of unknown form. */
function readSource(source: unknown): ConfigSource | undefined {
  if (source === undefined || source === null) return 'local'
  const configMap = member(source, 'configMap')
  const [namespace, name, kubeletConfigKey, uid, resourceVersion] = ['namespace', 'name', 'kubeletConfigKey', 'uid', 'resourceVersion'].map(
    (field) => member(configMap, field),
  )
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof kubeletConfigKey !== 'string') return undefined
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string') return undefined
  return { namespace, name, kubeletConfigKey, uid, resourceVersion }
}

/** Whether the server already shows every known field. */
function shows(server: ConfigStatus, ours: ConfigStatus): boolean {
  return (
    server.error === ours.error &&
    isShown(server.assigned, ours.assigned) &&
    isShown(server.active, ours.active) &&
    isShown(server.lastKnownGood, ours.lastKnownGood)
  )
}

function isShown(theirs: ConfigSource | undefined, ours: ConfigSource | undefined): boolean {
  return ours === undefined || (theirs !== undefined && sameSource(asShown(theirs), asShown(ours)))
}

/**
 * The API has no overlays: without this, sources that differ only by overlay would be patched
 * forever.
 */
function asShown(source: ConfigSource): ConfigSource {
  return source === 'local' ? source : withoutOverlay(source)
}

function sameStatus(a: ConfigStatus, b: ConfigStatus): boolean {
  return shows(a, b) && shows(b, a)
}

function member(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined
}

/** Servers from 1.22 on drop the field without an error. Upstream (`status.Sync`) did not retry. */
export const CONFIG: ReportChannel<ConfigStatus> = {
  name: 'Node.Status.Config',
  part: 'status',
  says: ({ status }) => status,
  // As upstream does.
  announce: 'info',
  grantedBy: 'deploy/rbac/status.yaml',
  dropped:
    'the API server drops Node.Status.Config, as servers of 1.22 and later do; the status is in the condition and the annotation of the Node, the metrics and `kubelet-cfg-agent status`',
  mayBeDropped: true,
  readsFirst: false,
  read: readNodeConfig,
  shows: (seen, wanted) => seen !== 'absent' && shows(seen, wanted),
  same: sameStatus,
  write: (nodeName, status) => ({
    path: `/api/v1/nodes/${nodeName}/status`,
    contentType: 'application/merge-patch+json',
    body: { status: { config: patchOf(status) } },
  }),
}
