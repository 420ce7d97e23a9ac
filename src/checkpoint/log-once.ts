/** Logs each error once, however often a look meets it again. Pure but for the log. */
import type { Log } from '../ports/log.ts'

/** With the fact, where the text may contain different figures each time. */
export type LogOnce = (text: string, fact?: string) => void

export function logErrorsOnce(log: Pick<Log, 'error'>): LogOnce {
  const logged = new Set<string>()
  return (text, fact = text) => {
    if (logged.has(fact)) return
    logged.add(fact)
    log.error(text)
  }
}
