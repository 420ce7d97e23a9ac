// SPDX-License-Identifier: Apache-2.0
import type { Log } from '../../src/ports/log.ts'

/** A log that records warnings and errors. */
export function silentLog(): Log & { readonly said: string[] } {
  const said: string[] = []
  return {
    said,
    debug: () => undefined,
    info: () => undefined,
    warn: (message) => void said.push(message),
    error: (message) => void said.push(message),
  }
}
