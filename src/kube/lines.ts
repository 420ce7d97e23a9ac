/**
 * The framing of a watch: one JSON document per line, from chunks of any length. Pure, apart from
 * the unfinished line.
 */
import { isObject } from '../values/is-object.ts'

/**
 * Returns the lines that this chunk completes; undefined: a line exceeds the limit, so the stream
 * is not a watch.
 */
export type LineSplitter = (chunk: string) => readonly string[] | undefined

export function splitLines(limit: number): LineSplitter {
  let unfinished = ''
  return (chunk) => {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      lines.push(unfinished + chunk.slice(start, end))
      unfinished = ''
      start = end + 1
    }
    unfinished += chunk.slice(start)
    return unfinished.length > limit ? undefined : lines.filter((line) => line.trim() !== '')
  }
}

export function parseEvent(line: string): { readonly type: string; readonly object: unknown } | undefined {
  const event = parseJson(line)
  if (!isObject(event) || !('object' in event)) return undefined
  return typeof event.type === 'string' ? { type: event.type, object: event.object } : undefined
}

/** undefined: not valid JSON. The parser's error is dropped, since it quotes the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
