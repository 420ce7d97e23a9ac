// SPDX-License-Identifier: Apache-2.0
/** The agent's lines in the journal, as `journalctl --output=json` tells them. */

export interface JournalLine {
  /** Since the epoch, when journald received it. */
  readonly atMs: number
  /** syslog's: 3 error, 4 warning, 6 info, 7 debug. */
  readonly priority: number
  /** The whole message. */
  readonly text: string
  readonly level: string
  readonly msg: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A message that is not one JSON object got past the agent's log; it is kept, without fields. */
export function parseJournal(stdout: string): JournalLine[] {
  const entries = stdout.split('\n').filter((line) => line !== '')
  return entries.map((entry) => {
    const { PRIORITY, MESSAGE, __REALTIME_TIMESTAMP } = JSON.parse(entry)
    const text = Array.isArray(MESSAGE) ? Buffer.from(MESSAGE).toString('utf8') : String(MESSAGE)
    const { level = '', msg = text, ...fields } = parseObject(text)
    return { atMs: Number(__REALTIME_TIMESTAMP) / 1000, priority: Number(PRIORITY), text, level: String(level), msg: String(msg), fields }
  })
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return text.startsWith('{') ? JSON.parse(text) : {}
  } catch {
    return {}
  }
}
