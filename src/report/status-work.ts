/**
 * Keeps `status.config` of the Node up to date. Servers from 1.22 on drop the field without an
 * error. Upstream (`status.Sync`) did not retry.
 */
import { FieldWork, type NodeField, type WorkOptions } from './field-work.ts'
import { patchOf, readNodeConfig, sameStatus, shows } from './node-config.ts'
import type { ConfigStatus } from './status.ts'

const CONFIG: NodeField<ConfigStatus> = {
  name: 'Node.Status.Config',
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

export function statusWork(options: WorkOptions, isOn?: () => boolean): FieldWork<ConfigStatus> {
  return new FieldWork(options, CONFIG, isOn)
}
