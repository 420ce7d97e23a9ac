// SPDX-License-Identifier: Apache-2.0
/**
 * The log: one fact per line on stdout, written before the call returns. Under systemd a line is
 * `<6>message key=value ...`: journald adds the time and takes the priority from the prefix, so
 * `journalctl -u kubelet-cfg-agent -p warning` works, and `grep` finds upstream's texts. On a
 * terminal it is the same with the time. Elsewhere, and where it is asked for, the log is JSON.
 * Only this module imports pino; pino's transports are not used, because their worker costs 8 MB.
 */
import { pino } from 'pino'
import type { Log } from '../ports/log.ts'
import {
  journalLine,
  journalPrefix,
  type Level,
  type LogFormat,
  type PlainFields,
  plainFields,
  SYSLOG_PRIORITY,
  safeText,
  terminalLine,
} from './log-format.ts'

interface LogOptions {
  readonly level: Level
  readonly format: LogFormat
  /** For the terminal format only. */
  readonly colours?: boolean
  /** Default: stdout. */
  readonly destination?: { write(text: string): unknown }
  readonly wallMs?: () => number
}
/** The level can change while the agent runs (SIGHUP). */
interface LeveledLog extends Log {
  setLevel(level: Level): void
}

export function createLog(options: LogOptions): LeveledLog {
  const { format, colours = false, destination = openStdout(), wallMs = Date.now } = options
  if (format === 'terminal') {
    return levelled(options.level, (level, message, fields) => {
      destination.write(terminalLine(level, message, fields, wallMs(), colours))
    })
  }
  if (format === 'journal') return levelled(options.level, (...line) => destination.write(journalLine(...line)))
  const inJournal = format === 'journal-json'
  let prefix = ''
  const logger = pino(
    {
      // This module filters by level, before it spends time on fields.
      level: 'debug',
      base: null,
      timestamp: inJournal ? false : () => `,"time":"${new Date(wallMs()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      // plainFields() has converted them already.
      serializers: { err: (value: unknown) => value },
    },
    { write: (line: string) => destination.write(prefix + line) },
  )
  return levelled(options.level, (level, message, fields) => {
    prefix = inJournal ? journalPrefix(level) : ''
    // In the object, because pino writes its own message last, and people read from the left.
    logger[level]({ msg: message, ...fields })
  })
}

function levelled(initial: Level, write: (level: Level, message: string, fields: PlainFields) => void): LeveledLog {
  let threshold = SYSLOG_PRIORITY[initial]
  const at =
    (level: Level) =>
    (message: string, fields: PlainFields = {}) => {
      if (SYSLOG_PRIORITY[level] <= threshold) write(level, safeText(message), plainFields(fields))
    }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    setLevel: (level) => {
      threshold = SYSLOG_PRIORITY[level]
    },
  }
}

function openStdout(): { write(text: string): unknown } {
  const stdout = pino.destination({ dest: 1, sync: true })
  // journald can restart and a reader can exit: the agent then continues without a log.
  stdout.on('error', () => {})
  return stdout
}
