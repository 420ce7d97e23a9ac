/**
 * Finds in what a kubelet printed the one message that says why it ended. Pure. Up to 1.20 that is klog's fatal line (`F1121 ... server.go:269] message`,
 * goroutine traces below); in 1.21 and 1.22 an error with a name (`"Failed to run kubelet" err="..."`); from 1.23 on `"command failed" err="..."`
 * (component-base/cli/run.go), `Error: ...` where its log is not set up yet, or the same as an object of JSON, where the config asks for that format.
 */

/** github.com/kubernetes/klog, `formatHeader`: severity, month and day, time, thread, place. */
const HEADER = /^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [^\s:\]]+:\d+\] (.*)$/s
const ENDS = /^(?:command failed$|Failed to (?:load|validate|run|set|parse|merge|precedence|construct|initialize|create) )/

/** In one line. undefined: nothing in it says so. */
export function findLastWords(output: string): string | undefined {
  const entries = splitEntries(output)
  const found = [...entries].reverse()
  const words =
    first(found, ({ severity, text }) => (severity === 'F' ? text : undefined)) ?? first(found, readError) ?? first(found, readPlain)
  return words?.replaceAll(/\s+/g, ' ').trim()
}

interface Entry {
  /** undefined: not written by klog in its own format. */
  readonly severity: string | undefined
  readonly text: string
  /** It was the last one in JSON, and there is a trace: that may have come by the other stream. */
  readonly fatal: boolean
}

/** A message may take more than one line; a trace is none of it. */
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
  if (message === undefined || rest === undefined || !ENDS.test(unquote(message))) return undefined
  // klog writes a value of several lines between `<` and `>`.
  const [, quoted, block] = / err=(?:"((?:[^"\\]|\\.)*)"|<\n(.*?)\n >)/s.exec(rest) ?? []
  return quoted === undefined ? (block ?? unquote(message)) : unquote(quoted)
}

/** Only 1.20 writes a fatal message like any other one. */
function readJson(text: string, fatal: boolean): string | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const entry: unknown = JSON.parse(text.split('\n', 1)[0] ?? '')
    if (typeof entry !== 'object' || entry === null || !('msg' in entry) || typeof entry.msg !== 'string') return undefined
    if (fatal) return entry.msg
    if (!ENDS.test(entry.msg)) return undefined
    return 'err' in entry && typeof entry.err === 'string' ? entry.err : entry.msg
  } catch {
    return undefined
  }
}

function readPlain({ severity, text }: Entry): string | undefined {
  return severity === undefined && text.startsWith('Error: ') ? text.slice('Error: '.length).split('\n', 1)[0] : undefined
}

/** Of a string as Go's %q writes it. */
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
