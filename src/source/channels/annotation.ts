/**
 * The annotation channel: `namespace/name[:key]`, or a NodeConfigSource as JSON, as in the Node's
 * spec. A node can write its own annotations, so this channel can be switched off in the settings.
 * Pure.
 */

import { CONFIG_SOURCE_ANNOTATION } from '../../decision/channels.ts'
import { isObject } from '../../values/is-object.ts'
import { type Assignment, readConfigSource } from '../config-source-field.ts'
import { readConfigMapName } from './config-map-name.ts'

const NO_CONFIG_MAP = 'the key configMap is missing, as in {"configMap":{"namespace":"…","name":"…","kubeletConfigKey":"…"}}'

export function readSourceAnnotation(text: string, defaultKey: string): Exclude<Assignment, { kind: 'local' }> {
  const trimmed = text.trim()
  const read = trimmed.startsWith('{') ? readJson(trimmed) : readName(trimmed, defaultKey)
  return read.kind === 'invalid' ? { kind: 'invalid', detail: `annotation ${CONFIG_SOURCE_ANNOTATION}: ${read.detail}` } : read
}

function readName(text: string, defaultKey: string): Exclude<Assignment, { kind: 'local' }> {
  const reading = readConfigMapName(text)
  if (!reading.ok) return { kind: 'invalid', detail: reading.detail }
  const { namespace, name, key = defaultKey } = reading
  return { kind: 'config-map', ref: { namespace, name, kubeletConfigKey: key } }
}

function readJson(text: string): Exclude<Assignment, { kind: 'local' }> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'invalid', detail: 'it is not valid JSON' }
  }
  // Upstream's text for an empty source speaks of subfields, which says nothing of the key.
  if (isObject(value) && (value.configMap ?? null) === null) return { kind: 'invalid', detail: NO_CONFIG_MAP }
  return readConfigSource(value)
}
