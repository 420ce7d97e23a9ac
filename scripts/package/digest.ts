// SPDX-License-Identifier: Apache-2.0
/** SHA-256, as 64 lower-case hexadecimal digits. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

export function sha256Of(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export async function digestOf(path: string): Promise<string> {
  return sha256Of(await readFile(path))
}
