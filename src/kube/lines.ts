/** How a watch is framed: JSON documents, one a line, out of chunks that end anywhere. Pure but for the line that is under way. */
import { isObject } from '../values/is-object.ts'

/** Answers the lines that this chunk completes; undefined: a line is longer than the limit, and the stream is no watch. */
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

/** undefined: does not parse. The parser's own message quotes the text, which may be anything. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
