/** Labels and annotations of an object, read from JSON or YAML of any shape. Pure. */
import { isObject } from '../../values/is-object.ts'

export interface Metadata {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * undefined: a value is not a string, for example `true` without quotes in a manifest. Both may be
 * missing.
 */
export function metadataOf(object: unknown): Metadata | undefined {
  const metadata = isObject(object) ? object.metadata : undefined
  if (!isObject(metadata)) return undefined
  const labels = readStringMap(metadata.labels)
  const annotations = readStringMap(metadata.annotations)
  return labels === undefined || annotations === undefined ? undefined : { labels, annotations }
}

function readStringMap(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return {}
  if (!isObject(value)) return undefined
  const entries: [string, string][] = []
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') return undefined
    entries.push([key, text])
  }
  return Object.fromEntries(entries)
}
