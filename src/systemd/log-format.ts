/** How a line of the log looks to a person at a terminal, and which form fits where stdout leads. Pure. */
import type { PlainFields } from './log-fields.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type LogFormat = 'journal' | 'json' | 'terminal'

/** In order of weight; the numbers are syslog's (syslog(3)), which journald reads from a prefix `<N>` (sd-daemon(3)). */
export const SYSLOG_PRIORITY: Readonly<Record<Level, number>> = { debug: 7, info: 6, warn: 4, error: 3 }

/**
 * JOURNAL_STREAM (systemd.exec(5)) names the device and inode of the journal's pipe; it is inherited by processes whose output has been
 * sent elsewhere, so it counts only if stdout is that very file.
 */
export function chooseFormat(journalStream: string | undefined, stdout: { isTTY: boolean; dev: number; ino: number }): LogFormat {
  if (journalStream !== undefined && journalStream === `${stdout.dev}:${stdout.ino}`) return 'journal'
  return stdout.isTTY ? 'terminal' : 'json'
}

/** SGR codes of a terminal (ECMA-48). */
const COLOURS = { gray: 90, yellow: 33, red: 31 }
type Colour = keyof typeof COLOURS

const SIGNS: Readonly<Record<Level, { sign: string; colour: Colour }>> = {
  debug: { sign: ' ', colour: 'gray' },
  info: { sign: ' ', colour: 'gray' },
  warn: { sign: '!', colour: 'yellow' },
  error: { sign: 'x', colour: 'red' },
}

/** `09:19:02 ! message  key=value key="two words"`, in the reader's own time. */
export function terminalLine(level: Level, message: string, fields: PlainFields, wallMs: number, colours: boolean): string {
  const paint = (text: string, colour: Colour) => (colours ? `\u001b[${COLOURS[colour]}m${text}\u001b[39m` : text)
  const { sign, colour } = SIGNS[level]
  const time = new Date(wallMs).toTimeString().slice(0, 8)
  const pairs = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${terminalValue(value)}`]))
  const tail = pairs.length === 0 ? '' : `  ${paint(pairs.join(' '), 'gray')}`
  const isQuiet = level === 'info' || level === 'debug'
  const words = isQuiet ? oneLine(message) : paint(oneLine(message), colour)
  return `${paint(time, 'gray')} ${paint(sign, colour)} ${words}${tail}\n`
}

function terminalValue(value: unknown): string {
  const text = typeof value === 'string' ? value : chainOf(value)
  if (text === undefined) return JSON.stringify(value) ?? ''
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text)
}

/** An error with its causes, as a person would tell it: `could not write meta/assigned: no space left on device (ENOSPC)`. */
function chainOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { message, code, cause } = value as Readonly<Record<string, unknown>>
  if (typeof message !== 'string') return undefined
  const because = chainOf(cause)
  return `${message}${typeof code === 'string' ? ` (${code})` : ''}${because === undefined ? '' : `: ${because}`}`
}

/** Nothing that is logged may move the cursor or fake a line. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
