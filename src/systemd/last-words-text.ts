// SPDX-License-Identifier: Apache-2.0
/**
 * Chooses, from the log of one process of kubelet, the message that explains its exit, and makes it
 * fit to publish: one line, bounded, without control characters and secrets. Pure.
 *
 * How kubelet says why it exits, from cmd/kubelet/app/server.go, component-base/cli/run.go and what
 * real ones print: up to 1.20 klog's fatal line, followed by the traces of all goroutines; from
 * 1.21 on an error line (`"Failed to run kubelet" err="..."`, `"command failed" err="..."`), or the
 * same as a JSON object; from 1.29 on a Go panic for a feature gate that it does not know.
 */
import { isObject } from '../values/is-object.ts'

/** Enough for kubelet's message; it becomes part of conditions, events and annotations. */
const LONGEST = 256
/** Characters of a message that are looked at. */
const MOST_READ = 8192
/** An error this close to the end may explain it. Earlier ones are everyday errors. */
const LATEST = 10

/**
 * github.com/kubernetes/klog, `formatHeader`: severity, month and day, time, thread, file and line.
 */
const HEADER = /^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [^\s:\]]+:\d+\] (.*)$/s
/** Go's runtime (src/runtime/panic.go) begins its last words so. */
const PANIC = /^(?:panic: |fatal error: |runtime: |unexpected fault address )/
const EXIT_MESSAGE = /^(?:command failed$|Failed to run kubelet$)/i
/** Kubelet exits after these: each is followed by os.Exit in pkg/kubelet and cmd/kubelet. */
const START_MESSAGE = /^Failed to (?:start|listen and serve|load|validate|set|parse|merge|construct|initialize|create) /i
const TRACE = /^(?:goroutine \d+ .*\[|created by |\[signal |main\.main\(\)|\t)/

/** Of a terminal: ECMA-48, 5.4. They are removed whole. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const ESCAPE_SEQUENCE = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b./g
/**
 * Characters that control terminals or the direction of text (Unicode, UAX 9), or are no
 * characters.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u{FFFD}\s]+/gu

interface Entry {
  readonly severity: 'panic' | 'fatal' | 'error' | 'other'
  /** Of a structured message: without its values. */
  readonly message: string
  /** The value of `err` in a structured message. */
  readonly cause: string | undefined
}

/** undefined: there is no line that is not empty. */
export function findLastWords(output: string): string | undefined {
  const entries = readEntries(output)
  const chosen = choose(entries)
  return chosen === undefined ? undefined : clean(describe(chosen))
}

function choose(entries: readonly Entry[]): Entry | undefined {
  const latest = entries.slice(-LATEST)
  return (
    entries.findLast(({ severity }) => severity === 'panic') ??
    entries.findLast(({ severity }) => severity === 'fatal') ??
    entries.findLast(({ severity, message }) => severity === 'error' && EXIT_MESSAGE.test(message)) ??
    entries.findLast(({ message }) => message.startsWith('Error: ')) ??
    latest.findLast(({ severity, message }) => severity === 'error' && START_MESSAGE.test(message)) ??
    latest.findLast(({ severity }) => severity === 'error') ??
    entries.at(-1)
  )
}

/** The error behind `command failed` is in its cause alone. */
function describe({ message, cause }: Entry): string {
  if (cause === undefined || cause === '') return message.replace(/^Error: /, '')
  return EXIT_MESSAGE.test(message) ? cause : `${message}: ${cause}`
}

function clean(message: string): string | undefined {
  const visible = message.slice(0, MOST_READ).replace(ESCAPE_SEQUENCE, '').replace(UNPRINTABLE, ' ').trim()
  const plain = withoutSecrets(visible)
  if (plain === '') return undefined
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST - 3).replace(/[\ud800-\udbff]$/, '')}...`
}

/** Entries of several lines are joined; traces of goroutines belong to none. */
function readEntries(output: string): Entry[] {
  const entries: Entry[] = []
  let lines: string[] = []
  let inTrace = false
  const end = () => {
    if (lines.length > 0) entries.push(readEntry(lines.join('\n')))
    lines = []
  }
  for (const line of output.split('\n')) {
    const begins = HEADER.test(line) || PANIC.test(line) || line.startsWith('{"') || line.startsWith('Error: ')
    if (begins) inTrace = false
    else if (/^goroutine \d+ .*\[/.test(line)) inTrace = true
    if (inTrace || line.trim() === '' || (!begins && /^(?:\[signal |exit status )/.test(line))) {
      end()
      continue
    }
    if (begins || !continues(lines, line)) end()
    lines.push(line)
  }
  end()
  return entries
}

/** klog and Go's runtime indent the further lines of a message (klog: `err=<`, ` >`). */
function continues(lines: readonly string[], line: string): boolean {
  const [first = ''] = lines
  return lines.length > 0 && (/^[\t ]/.test(line) || (HEADER.exec(first)?.[1] === 'F' && !TRACE.test(line)))
}

function readEntry(text: string): Entry {
  if (PANIC.test(text)) return { severity: 'panic', message: firstOfPanic(text), cause: undefined }
  if (text.startsWith('{')) return readJson(text)
  const [, letter, rest] = HEADER.exec(text) ?? []
  if (letter === undefined || rest === undefined) return { severity: 'other', message: text, cause: undefined }
  const severity = letter === 'F' ? 'fatal' : letter === 'E' ? 'error' : 'other'
  const [, message, values] = /^"((?:[^"\\]|\\.)*)"(.*)$/s.exec(rest) ?? []
  if (message === undefined || values === undefined) return { severity, message: rest, cause: undefined }
  // klog writes a value of several lines between `<` and `>`.
  const [, quoted, block] = / err=(?:"((?:[^"\\]|\\.)*)"|<\n(.*?)\n >)/s.exec(values) ?? []
  return { severity, message: unquote(message), cause: quoted === undefined ? block : unquote(quoted) }
}

/** A panic that was recovered and raised again repeats itself in further lines. */
function firstOfPanic(text: string): string {
  const lines = text.split('\n')
  const isRepeated = / \[recovered\b[^\]]*\]$/.test(lines[0] ?? '')
  const kept = isRepeated ? [(lines[0] ?? '').replace(/ \[recovered\b[^\]]*\]$/, '')] : lines
  return kept.join(' ')
}

/** component-base/logs/json: errors have no `v`, and `err` where there is one. */
function readJson(text: string): Entry {
  try {
    const entry: unknown = JSON.parse(text)
    if (!isObject(entry) || typeof entry.msg !== 'string') throw new SyntaxError('not an entry')
    const cause = typeof entry.err === 'string' ? entry.err : undefined
    return { severity: cause === undefined && 'v' in entry ? 'other' : 'error', message: entry.msg, cause }
  } catch {
    return { severity: 'other', message: text, cause: undefined }
  }
}

/** Decodes a string that Go's %q wrote. */
function unquote(text: string): string {
  return text.replace(/\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(.))/gs, (_, char?: string) =>
    char === undefined ? '\u{FFFD}' : char === 'n' || char === 't' || char === 'r' ? ' ' : char,
  )
}

const REMOVED = '[removed]'

/**
 * After these follows a part of the config's text, or the whole config as Go prints a struct; its
 * `staticPodURLHeader` may hold credentials (github.com/json-iterator/go, `ReportError`;
 * cmd/kubelet/app/server.go).
 */
const CONFIG_FOLLOWS = /(?<= is missing) in '|, error found in #\d+ byte of \.\.\.|, path: &/

const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs, REMOVED],
  // RFC 7519: a JSON object in base64url begins with `eyJ`.
  [/\beyJ[\w-]{5,}\.[\w-]*(?:\.[\w-]*)*/g, REMOVED],
  [/\b(Bearer|Basic) +[\w.~+/=-]{6,}/gi, `$1 ${REMOVED}`],
  // RFC 3986: the user information of a URL ends at the last `@` before the path.
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#]*@/gi, `$1${REMOVED}@`],
  // As `password=...`, `"token":"..."` or `secret: ...`.
  [/\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)["'\\]*)=(?:"[^"]*"|'[^']*'|[^\s&,;]+)/gi, `$1=${REMOVED}`],
  [/(["'](?:[\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key))\\?["']\s*:\s*)\\?["'][^"']*["']?/gi, `$1${REMOVED}`],
  [/\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key):\s+)[^\s"']{16,}/gi, `$1${REMOVED}`],
]

/**
 * Removes what looks like a secret from a message of kubelet that the agent publishes. It removes
 * too much rather than too little: the journal keeps the whole message.
 */
function withoutSecrets(message: string): string {
  const [before = ''] = message.split(CONFIG_FOLLOWS, 1)
  return SECRETS.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), before)
}
