/**
 * One annotation or label of the Node as a field that is kept up to date, with a merge patch of
 * that one key. Pure.
 */
import { isObject } from '../values/is-object.ts'
import { LONG_RUN, type NodeField } from './field-work.ts'

interface MetadataKey {
  readonly kind: 'annotation' | 'label'
  readonly key: string
}

const MAPS = { annotation: 'annotations', label: 'labels' } as const

/** null removes it. */
export function metadataField(of: MetadataKey): NodeField<string | null, string> {
  const name = `${of.kind} ${of.key}`
  return {
    name,
    announce: 'debug',
    grantedBy: 'deploy/rbac/status-annotation.yaml',
    dropped: `the API server drops the ${name}, as an admission webhook would`,
    readsFirst: false,
    read: (node) => readMetadata(node, of),
    longRun: LONG_RUN,
    finalValue: null,
    shows: (seen, wanted) => seen === (wanted ?? 'absent'),
    same: (a, b) => a === b,
    write: (nodeName, text) => ({
      path: `/api/v1/nodes/${nodeName}`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { [MAPS[of.kind]]: { [of.key]: text } } },
      // The answer need not contain the whole Node.
      as: 'PartialObjectMetadata',
    }),
  }
}

export function readMetadata(node: unknown, { kind, key }: MetadataKey): string | 'absent' {
  const metadata = isObject(node) ? node.metadata : undefined
  const map = isObject(metadata) ? metadata[MAPS[kind]] : undefined
  const text = isObject(map) ? map[key] : undefined
  return typeof text === 'string' ? text : 'absent'
}
