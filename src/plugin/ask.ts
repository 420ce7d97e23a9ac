/** Asks a person at the terminal. Anything but `y` and `yes` means no. */
import { createInterface } from 'node:readline/promises'
import type { Consent } from './command.ts'

export async function ask(question: string): Promise<Consent> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return 'nobody'
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim()) ? 'yes' : 'no'
  } finally {
    lines.close()
  }
}
