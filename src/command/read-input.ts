// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the config that a command checks: a file (also a pipe) or standard input, up to a limit.
 */
import { createReadStream } from 'node:fs'
import { errorCode } from '../values/errors.ts'

export type InputReading =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  /** Longer than the limit. */
  | { readonly kind: 'too-large' }
  | { readonly kind: 'unreadable'; readonly code: string }

/** @param path undefined: standard input */
export async function readInput(
  path: string | undefined,
  limitBytes: number,
  stdin: AsyncIterable<Buffer | string> = process.stdin,
): Promise<InputReading> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of path === undefined ? stdin : createReadStream(path)) {
      const bytes = Buffer.from(chunk)
      length += bytes.length
      if (length > limitBytes) return { kind: 'too-large' }
      chunks.push(bytes)
    }
  } catch (error) {
    return { kind: 'unreadable', code: errorCode(error) ?? String(error) }
  }
  return { kind: 'read', bytes: Buffer.concat(chunks) }
}
