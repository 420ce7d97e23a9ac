// SPDX-License-Identifier: Apache-2.0
/** Asks a person at the terminal. Anything but `y` and `yes` means no. */
import { createInterface } from 'node:readline/promises'
import { errorCode } from '../values/errors.ts'
import type { Consent } from './consent.ts'

interface Teletype {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean | undefined }
}

export async function ask(
  question: string,
  { input, output }: Teletype = { input: process.stdin, output: process.stderr },
): Promise<Consent> {
  if (input.isTTY !== true || output.isTTY !== true) return 'nobody'
  const lines = createInterface({ input, output })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim()) ? 'yes' : 'no'
  } catch (error) {
    // Ctrl-C and Ctrl-D, which reach readline as keys.
    if (errorCode(error) === 'ABORT_ERR') return 'no'
    throw error
  } finally {
    lines.close()
  }
}
