/**
 * Keeps the annotation `kubelet-cfg-agent.io/status` of the Node up to date, with a merge patch of
 * that one key. Every watch of the Node shows metadata, so the agent's own write comes back as an
 * event; its text identifies it. NodeRestriction does not restrict annotations.
 */
import { isObject } from '../values/is-object.ts'
import { STATUS_ANNOTATION } from './annotation.ts'
import { FieldWork, LONG_RUN, type NodeField, type WorkOptions } from './field-work.ts'

/** null removes the annotation. */
const ANNOTATION: NodeField<string | null, string> = {
  name: `annotation ${STATUS_ANNOTATION}`,
  announce: 'debug',
  grantedBy: 'deploy/rbac/status-annotation.yaml',
  dropped: `the API server drops the annotation ${STATUS_ANNOTATION}, as an admission webhook would`,
  readsFirst: false,
  read: readStatusAnnotation,
  longRun: LONG_RUN,
  finalValue: null,
  shows: (seen, wanted) => seen === (wanted ?? 'absent'),
  same: (a, b) => a === b,
  write: (nodeName, text) => ({
    path: `/api/v1/nodes/${nodeName}`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations: { [STATUS_ANNOTATION]: text } } },
    // The answer need not contain the whole Node.
    as: 'PartialObjectMetadata',
  }),
}

export function annotationWork(options: WorkOptions, isOn?: () => boolean): FieldWork<string | null, string> {
  return new FieldWork(options, ANNOTATION, isOn)
}

export function readStatusAnnotation(node: unknown): string | 'absent' {
  const metadata = isObject(node) ? node.metadata : undefined
  const annotations = isObject(metadata) ? metadata.annotations : undefined
  const text = isObject(annotations) ? annotations[STATUS_ANNOTATION] : undefined
  return typeof text === 'string' ? text : 'absent'
}
