/** The format of log lines for a terminal, and which format fits where stdout leads. Pure. */
import type { PlainFields } from './log-fields.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type LogFormat = 'journal' | 'json' | 'terminal'

/**
 * By increasing severity. The numbers are syslog's (syslog(3)); journald reads them from a prefix
 * `<N>` (sd-daemon(3)).
 */
export const SYSLOG_PRIORITY: Readonly<Record<Level, number>> = { debug: 7, info: 6, warn: 4, error: 3 }

/**
 * JOURNAL_STREAM (systemd.exec(5)) contains the device and inode of the journal's pipe. Processes
 * whose output goes elsewhere inherit it too, so it counts only if stdout is that file.
 */
export function chooseFormat(journalStream: string | undefined, stdout: { isTTY: boolean; dev: number; ino: number }): LogFormat {
  if (journalStream !== undefined && journalStream === `${stdout.dev}:${stdout.ino}`) return 'journal'
  return stdout.isTTY ? 'terminal' : 'json'
}

/** SGR codes (ECMA-48). */
const COLOURS = { gray: 90, yellow: 33, red: 31 }
type Colour = keyof typeof COLOURS

const SIGNS: Readonly<Record<Level, { sign: string; colour: Colour }>> = {
  debug: { sign: ' ', colour: 'gray' },
  info: { sign: ' ', colour: 'gray' },
  warn: { sign: '!', colour: 'yellow' },
  error: { sign: 'x', colour: 'red' },
}

/** `09:19:02 ! message  key=value key="two words"`, in local time. */
export function terminalLine(level: Level, message: string, fields: PlainFields, wallMs: number, colours: boolean): string {
  const paint = (text: string, colour: Colour) => (colours ? `\u001b[${COLOURS[colour]}m${text}\u001b[39m` : text)
  const { sign, colour } = SIGNS[level]
  const time = new Date(wallMs).toTimeString().slice(0, 8)
  const pairs = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${terminalValue(value)}`]))
  const tail = pairs.length === 0 ? '' : `  ${paint(pairs.join(' '), 'gray')}`
  const isQuiet = level === 'info' || level === 'debug'
  const text = isQuiet ? oneLine(message) : paint(oneLine(message), colour)
  return `${paint(time, 'gray')} ${paint(sign, colour)} ${text}${tail}\n`
}

function terminalValue(value: unknown): string {
  const text = typeof value === 'string' ? value : chainOf(value)
  if (text === undefined) return JSON.stringify(value) ?? ''
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text)
}

/** An error with its causes: `could not write meta/assigned: no space left on device (ENOSPC)`. */
function chainOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { message, code, cause } = value as Readonly<Record<string, unknown>>
  if (typeof message !== 'string') return undefined
  const because = chainOf(cause)
  return `${message}${typeof code === 'string' ? ` (${code})` : ''}${because === undefined ? '' : `: ${because}`}`
}

/** Removes control characters: nothing in the log may move the cursor or fake a line. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
