/**
 * Keeps the label `kubelet-cfg-agent.io/state` of the Node up to date, with a merge patch of that
 * one key. NodeRestriction lets a node write it: it restricts only labels under kubernetes.io and
 * k8s.io.
 */
import { isObject } from '../values/is-object.ts'
import { FieldWork, LONG_RUN, type NodeField, type WorkOptions } from './field-work.ts'
import { STATE_LABEL } from './state-label.ts'

/** null removes the label. */
const LABEL: NodeField<string | null, string> = {
  name: `label ${STATE_LABEL}`,
  announce: 'debug',
  grantedBy: 'deploy/rbac/status-annotation.yaml',
  dropped: `the API server drops the label ${STATE_LABEL}, as an admission webhook would`,
  readsFirst: false,
  read: readStateLabel,
  longRun: LONG_RUN,
  finalValue: null,
  shows: (seen, wanted) => seen === (wanted ?? 'absent'),
  same: (a, b) => a === b,
  write: (nodeName, text) => ({
    path: `/api/v1/nodes/${nodeName}`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { labels: { [STATE_LABEL]: text } } },
    // The answer need not contain the whole Node.
    as: 'PartialObjectMetadata',
  }),
}

export function labelWork(options: WorkOptions, isOn?: () => boolean): FieldWork<string | null, string> {
  return new FieldWork(options, LABEL, isOn)
}

export function readStateLabel(node: unknown): string | 'absent' {
  const metadata = isObject(node) ? node.metadata : undefined
  const labels = isObject(metadata) ? metadata.labels : undefined
  const text = isObject(labels) ? labels[STATE_LABEL] : undefined
  return typeof text === 'string' ? text : 'absent'
}
