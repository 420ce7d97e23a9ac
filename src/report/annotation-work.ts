/**
 * Keeps the annotation `kubelet-cfg-agent.io/status` of the Node what the agent says it is, by a merge patch of that one key. It is metadata, which every
 * watch of the Node shows: its own write comes back as an event and is recognised by its text. NodeRestriction does not guard annotations.
 */
import { isObject } from '../values/is-object.ts'
import { STATUS_ANNOTATION } from './annotation.ts'
import { FieldWork, LONG_RUN, type NodeField, type WorkOptions } from './field-work.ts'

/** null: none. */
const ANNOTATION: NodeField<string | null, string> = {
  name: `annotation ${STATUS_ANNOTATION}`,
  announce: 'debug',
  dropped: `the API server drops the annotation ${STATUS_ANNOTATION}, as an admission webhook would`,
  readsFirst: false,
  read: readStatusAnnotation,
  longRun: LONG_RUN,
  farewell: null,
  shows: (seen, wanted) => seen === (wanted ?? 'absent'),
  same: (a, b) => a === b,
  write: (nodeName, text) => ({
    path: `/api/v1/nodes/${nodeName}`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations: { [STATUS_ANNOTATION]: text } } },
    // The answer to what was asked, and not all of the Node.
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
