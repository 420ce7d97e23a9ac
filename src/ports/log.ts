// SPDX-License-Identifier: Apache-2.0
/** The port for the log. Adapter: `src/systemd/journal.ts`. */
/** A structured log, one fact per line. `fields` never contain a secret. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}
