/**
 * Keeps the label `kubelet-cfg-agent.io/state` of the Node up to date. NodeRestriction lets a node
 * write it: it restricts only labels under kubernetes.io and k8s.io.
 */
import { FieldWork, type WorkOptions } from './field-work.ts'
import { metadataField, readMetadata } from './metadata-field.ts'
import { STATE_LABEL } from './state-label.ts'

const LABEL = { kind: 'label', key: STATE_LABEL } as const

export function labelWork(options: WorkOptions, isOn?: () => boolean): FieldWork<string | null, string> {
  return new FieldWork(options, metadataField(LABEL), isOn)
}

export function readStateLabel(node: unknown): string | 'absent' {
  return readMetadata(node, LABEL)
}
