/** The formats of log lines that people read, and which format fits where stdout leads. Pure. */
import { cutToBytes } from '../values/cut.ts'
import type { PlainFields } from './log-fields.ts'
import { fieldsText, oneLine } from './log-text.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'

/** What the setting says. */
export type FormatChoice = 'auto' | 'json' | 'text'

/** `journal` and `journal-json` have the priority in front, and leave the time to journald. */
export type LogFormat = 'journal' | 'journal-json' | 'terminal' | 'json'

/**
 * By increasing severity. The numbers are syslog's (syslog(3)); journald reads them from a prefix
 * `<N>` (sd-daemon(3)).
 */
export const SYSLOG_PRIORITY: Readonly<Record<Level, number>> = { debug: 7, info: 6, warn: 4, error: 3 }

/** Where stdout leads: what `isatty` and fstat(2) say of it. */
export interface LogTarget {
  readonly isTTY: boolean
  readonly dev: number
  readonly ino: number
}

/**
 * JOURNAL_STREAM (systemd.exec(5)) contains the device and inode of the journal's pipe. Processes
 * whose output goes elsewhere inherit it too, so it counts only if stdout is that file.
 */
export function chooseFormat(choice: FormatChoice, journalStream: string | undefined, { isTTY, dev, ino }: LogTarget): LogFormat {
  const isJournal = journalStream === `${dev}:${ino}`
  if (choice === 'json' || (choice === 'auto' && !isJournal && !isTTY)) return isJournal ? 'journal-json' : 'json'
  return isJournal ? 'journal' : 'terminal'
}

/** `<4>message key=value key="two words"`: journald takes the priority off, and adds the time. */
export function journalLine(level: Level, message: string, fields: PlainFields): string {
  const pairs = fieldsText(message, fields)
  return `${cutToBytes(`${journalPrefix(level)}${oneLine(message)}${pairs === '' ? '' : ` ${pairs}`}`, LINE_BYTES)}\n`
}

/**
 * journald splits a line after 48 KiB (LineMax= in journald.conf(5)), and takes a `<N>` at the
 * start of the rest for a priority.
 */
const LINE_BYTES = 40 * 1024

export function journalPrefix(level: Level): string {
  return `<${SYSLOG_PRIORITY[level]}>`
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
  const pairs = fieldsText(message, fields)
  const tail = pairs === '' ? '' : `  ${paint(pairs, 'gray')}`
  const isQuiet = level === 'info' || level === 'debug'
  const text = isQuiet ? oneLine(message) : paint(oneLine(message), colour)
  return `${paint(time, 'gray')} ${paint(sign, colour)} ${text}${tail}\n`
}
