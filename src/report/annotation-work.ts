/**
 * Keeps the annotation `kubelet-cfg-agent.io/status` of the Node up to date. Every watch of the
 * Node shows metadata, so the agent's own write comes back as an event; its text identifies it.
 * NodeRestriction does not restrict annotations.
 */
import { STATUS_ANNOTATION } from './annotation.ts'
import { FieldWork, type WorkOptions } from './field-work.ts'
import { metadataField, readMetadata } from './metadata-field.ts'

const ANNOTATION = { kind: 'annotation', key: STATUS_ANNOTATION } as const

export function annotationWork(options: WorkOptions, isOn?: () => boolean): FieldWork<string | null, string> {
  return new FieldWork(options, metadataField(ANNOTATION), isOn)
}

export function readStatusAnnotation(node: unknown): string | 'absent' {
  return readMetadata(node, ANNOTATION)
}
