/**
 * Finds the message in kubelet's output that tells why it exited. Pure. Up to 1.20 it is klog's
 * fatal line (`F1121 ... server.go:269] message`, followed by goroutine traces); in 1.21 and 1.22 a
 * structured error (`"Failed to run kubelet" err="..."`); from 1.23 on `"command failed" err="..."`
 * (component-base/cli/run.go), or `Error: ...` before logging is set up. If the config selects the
 * JSON log format, it is the same as a JSON object.
 */

import { isObject } from '../../values/is-object.ts'

/**
 * github.com/kubernetes/klog, `formatHeader`: severity, month and day, time, thread, file and line.
 */
const HEADER = /^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [^\s:\]]+:\d+\] (.*)$/s
const EXIT_MESSAGE = /^(?:command failed$|Failed to (?:load|validate|run|set|parse|merge|precedence|construct|initialize|create) )/

/** In one line. undefined: the output contains no such message. */
export function findFinalMessage(output: string): string | undefined {
  const entries = splitEntries(output)
  const newestFirst = [...entries].reverse()
  const message =
    first(newestFirst, ({ severity, text }) => (severity === 'F' ? text : undefined)) ??
    first(newestFirst, readError) ??
    first(newestFirst, readPlain)
  return message?.replaceAll(/\s+/g, ' ').trim()
}

interface Entry {
  /** undefined: not in klog's own format. */
  readonly severity: string | undefined
  readonly text: string
  /** The last JSON entry, with a goroutine trace, which may come through the other stream. */
  readonly fatal: boolean
}

/** A message may have several lines; a trace does not belong to it. */
function splitEntries(output: string): Entry[] {
  const entries: { severity: string | undefined; lines: string[] }[] = []
  for (const line of output.split('\n')) {
    const [, severity, text] = HEADER.exec(line) ?? []
    const last = entries.at(-1)
    if (severity !== undefined && text !== undefined) entries.push({ severity, lines: [text] })
    else if (last === undefined || /^(?:goroutine \d+ \[|Error: |\{"|Running as unit: |Finished with result: |panic: )/.test(line))
      entries.push({ severity: undefined, lines: [line] })
    else last.lines.push(line)
  }
  const lastOfJson = entries.findLastIndex(({ lines }) => lines[0]?.startsWith('{"'))
  return entries.map(({ severity, lines }, at) => ({
    severity,
    text: lines.join('\n').trimEnd(),
    fatal: at === lastOfJson && entries.slice(at).some((later) => later.lines[0]?.startsWith('goroutine 1 [')),
  }))
}

function readError({ severity, text, fatal }: Entry): string | undefined {
  if (severity === undefined) return readJson(text, fatal)
  if (severity !== 'E') return undefined
  const [, message, rest] = /^"((?:[^"\\]|\\.)*)"(.*)$/s.exec(text) ?? []
  if (message === undefined || rest === undefined || !EXIT_MESSAGE.test(unquote(message))) return undefined
  // klog writes a value of several lines between `<` and `>`.
  const [, quoted, block] = / err=(?:"((?:[^"\\]|\\.)*)"|<\n(.*?)\n >)/s.exec(rest) ?? []
  return quoted === undefined ? (block ?? unquote(message)) : unquote(quoted)
}

/** In JSON, 1.20 writes a fatal message like any other. */
function readJson(text: string, fatal: boolean): string | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const entry: unknown = JSON.parse(text.split('\n', 1)[0] ?? '')
    if (!isObject(entry) || typeof entry.msg !== 'string') return undefined
    if (fatal) return entry.msg
    if (!EXIT_MESSAGE.test(entry.msg)) return undefined
    return typeof entry.err === 'string' ? entry.err : entry.msg
  } catch {
    return undefined
  }
}

function readPlain({ severity, text }: Entry): string | undefined {
  return severity === undefined && text.startsWith('Error: ') ? text.slice('Error: '.length).split('\n', 1)[0] : undefined
}

/** Decodes a string that Go's %q wrote. */
function unquote(text: string): string {
  return text.replace(/\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(.))/gs, (_, char?: string) =>
    char === undefined ? '\u{FFFD}' : char === 'n' || char === 't' || char === 'r' ? ' ' : char,
  )
}

function first(entries: readonly Entry[], read: (entry: Entry) => string | undefined): string | undefined {
  for (const entry of entries) {
    const found = read(entry)
    if (found !== undefined) return found
  }
  return undefined
}
