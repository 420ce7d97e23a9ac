// SPDX-License-Identifier: Apache-2.0
/** Builds the program with client-go that follows what an agent follows. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findGo } from '../../test/real/lab/go-toolchain.ts'
import { run } from '../../test/real/lab/processes.ts'

const BUILD_MS = 30 * 60_000
const SOURCE = resolve(import.meta.dirname, 'watch')
const WORK = resolve(import.meta.dirname, '../../dist/bench-peers')

export async function buildWatch(): Promise<string> {
  const program = join(WORK, 'watch')
  mkdirSync(WORK, { recursive: true })
  const go = await findGo(WORK, console.error)
  await run(go.file, ['build', '-mod=readonly', '-ldflags=-s -w', '-o', program, '.'], {
    cwd: SOURCE,
    env: { CGO_ENABLED: '0', ...go.env },
    timeoutMs: BUILD_MS,
  })
  return program
}
