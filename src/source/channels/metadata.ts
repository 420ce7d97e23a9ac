/** Labels and annotations of an object, read from JSON (or YAML) that may be anything. Pure. */
import { isObject } from '../../values/is-object.ts'

export interface Metadata {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** undefined: they are not text by key, as where a manifest has `true` without quotes. None at all is fine. */
export function metadataOf(object: unknown): Metadata | undefined {
  const metadata = isObject(object) ? object.metadata : undefined
  if (!isObject(metadata)) return undefined
  const labels = textsOf(metadata.labels)
  const annotations = textsOf(metadata.annotations)
  return labels === undefined || annotations === undefined ? undefined : { labels, annotations }
}

function textsOf(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return {}
  if (!isObject(value)) return undefined
  const texts: [string, string][] = []
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') return undefined
    texts.push([key, text])
  }
  return Object.fromEntries(texts)
}
