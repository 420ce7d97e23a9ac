// SPDX-License-Identifier: Apache-2.0
/**
 * Finds in kubelet's output the message that tells why it exited, and its effective config. Pure.
 *
 * Up to 1.20 the message is klog's fatal line (`F1121 ... server.go:269] message`, followed by
 * goroutine traces); in 1.21 and 1.22 a structured error (`"Failed to run kubelet" err="..."`);
 * from 1.23 on `"command failed" err="..."` (component-base/cli/run.go), or `Error: ...` before
 * logging is set up. If the config selects the JSON log format, it is the same as a JSON object.
 * From 1.32 on kubelet panics over a feature gate that it does not know
 * (`SetDefaults_KubeletConfiguration`), which the Go runtime prints. If nothing has a known form,
 * the last thing that it printed counts, unless that only informs.
 */
import { isObject } from '../../values/is-object.ts'

/**
 * github.com/kubernetes/klog, `formatHeader`: severity, month and day, time, thread, file and line.
 */
const HEADER = /^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [^\s:\]]+:\d+\] (.*)$/s
/** The lines of systemd-run(1) itself, `run_context_update()`. */
const OF_SYSTEMD_RUN =
  /^(?:Running as unit|Finished with result|Main processes terminated with|Service runtime|CPU time consumed|Memory (?:swap )?peak|IP traffic \w+|IO bytes \w+): /
/** How the Go runtime begins its last words: `printpanics` and `throw`, runtime/panic.go. */
const OF_GO = /^(?:panic: |fatal error: )/
const BEGINS_ENTRY = /^(?:goroutine \d+ \[|Error: |\{"|panic: |fatal error: )/
/** Of those that begin like them, kubelet goes on after some that are about its node. */
const EXIT_MESSAGE =
  /^(?:command failed$|Failed to (?:load|validate|run|set(?! rlimit| some node)|parse|merge|precedence|construct|initialize|create|listen) )/

/** In one line. undefined: the output contains no such message. */
export function findFinalMessage(output: string): string | undefined {
  const entries = splitEntries(output)
  const newestFirst = [...entries].reverse()
  const message =
    first(newestFirst, ({ severity, text }) => (severity === 'F' ? text : undefined)) ??
    first(newestFirst, readError) ??
    first(newestFirst, readPlain) ??
    first(entries, readGo) ??
    readLastWords(entries)
  return message?.replaceAll(/\s+/g, ' ').trim()
}

/** Of a real kubelet it has some 3 KB. */
const LONGEST_CONFIG = 64 << 10

/**
 * The config that kubelet made of its file, drop-ins and flags, as YAML. From 1.37 on, kubelet logs
 * it before it validates it (`marshalKubeletConfigForLog`, cmd/kubelet/app/server.go), with the
 * headers of staticPodURL masked. undefined: kubelet did not log it, or it is too long.
 */
export function findEffectiveConfig(output: string): string | undefined {
  const found = first(splitEntries(output), ({ severity, text }) => (severity === undefined ? readJsonConfig(text) : readTextConfig(text)))
  return found === undefined || found.length > LONGEST_CONFIG ? undefined : found
}

function readTextConfig(text: string): string | undefined {
  // klog indents each line of the value.
  const [, block] = /^"Effective KubeletConfiguration" config=<\n(.*?)\n >/s.exec(text) ?? []
  return block?.replaceAll(/^\t/gm, '')
}

function readJsonConfig(text: string): string | undefined {
  const entry = text.startsWith('{') && text.includes('Effective KubeletConfiguration') ? parseEntry(text) : undefined
  return entry?.msg === 'Effective KubeletConfiguration' && typeof entry.config === 'string' ? entry.config : undefined
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
    if (OF_SYSTEMD_RUN.test(line)) continue
    const [, severity, text] = HEADER.exec(line) ?? []
    const last = entries.at(-1)
    if (severity !== undefined && text !== undefined) entries.push({ severity, lines: [text] })
    else if (last === undefined || BEGINS_ENTRY.test(line)) entries.push({ severity: undefined, lines: [line] })
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
  const entry = text.startsWith('{') ? parseEntry(text) : undefined
  if (entry === undefined) return undefined
  if (fatal) return entry.msg
  if (!EXIT_MESSAGE.test(entry.msg)) return undefined
  return typeof entry.err === 'string' ? entry.err : entry.msg
}

function parseEntry(text: string): (Readonly<Record<string, unknown>> & { readonly msg: string }) | undefined {
  try {
    const entry: unknown = JSON.parse(text.split('\n', 1)[0] ?? '')
    return isObject(entry) && typeof entry.msg === 'string' ? { ...entry, msg: entry.msg } : undefined
  } catch {
    return undefined
  }
}

function readPlain({ severity, text }: Entry): string | undefined {
  return severity === undefined && text.startsWith('Error: ') ? text.slice('Error: '.length).split('\n', 1)[0] : undefined
}

/** The first one: a panic that another one follows is the cause. */
function readGo({ severity, text }: Entry): string | undefined {
  return severity === undefined && OF_GO.test(text) ? text : undefined
}

/**
 * The last thing that kubelet printed before its traces: an error, or a line outside of its log.
 */
function readLastWords(entries: readonly Entry[]): string | undefined {
  const last = entries.filter(({ text }) => text.trim() !== '' && !/^goroutine \d+ \[/.test(text)).at(-1)
  if (last === undefined) return undefined
  const { severity, text } = last
  if (severity === 'E') return text
  if (text.startsWith('{')) return readJsonError(text)
  // A message that informs may be followed by a line that is not part of it. pflag prints the
  // deprecated flags as such lines.
  const [first = '', ...others] = text.split('\n').filter((line) => line.trim() !== '')
  const line = severity === undefined ? [first, ...others].at(-1) : others.at(-1)
  return line === undefined || /^(?:\s|Flag --)/.test(line) ? undefined : line
}

function readJsonError(text: string): string | undefined {
  const entry = parseEntry(text.trim())
  return typeof entry?.err === 'string' ? `${entry.msg}: ${entry.err}` : undefined
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
