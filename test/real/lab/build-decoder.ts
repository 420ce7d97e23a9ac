// SPDX-License-Identifier: Apache-2.0
/**
 * Upstream's own decoders of KubeletConfiguration, of the oldest and the newest kubelet: for each a
 * program that is built once into the lab's cache, from the Go modules that its folder in
 * `decoder/` pins by their hashes. That needs the module proxy, and takes some minutes of CPU.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Decoder } from '../yaml/agreement.ts'
import { cacheDirectory } from './build.ts'
import { findGo } from './go-toolchain.ts'
import { withLock } from './lock.ts'
import { run } from './processes.ts'

const SOURCE = join(import.meta.dirname, 'decoder')
const MINORS = [20, 37]
const BUILD_MS = 60 * 60_000

export async function ensureDecoders(report: (line: string) => void = console.log): Promise<Decoder[]> {
  const decoders: Decoder[] = []
  for (const minor of MINORS) decoders.push({ minor, program: await ensureDecoder(minor, report) })
  return decoders
}

async function ensureDecoder(minor: number, report: (line: string) => void): Promise<string> {
  const folder = join(SOURCE, `1.${minor}`)
  const files = [join(SOURCE, 'main.go'), ...(await readdir(folder)).sort().map((name) => join(folder, name))]
  const hash = createHash('sha256').update(process.arch)
  for (const file of files) hash.update(await readFile(file))
  const built = join(cacheDirectory(), `decoder-1.${minor}-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(built)) return built
  await mkdir(cacheDirectory(), { recursive: true })
  await withLock(join(cacheDirectory(), 'build.lock'), async () => {
    if (!existsSync(built)) await buildInto(built, files, report)
  })
  return built
}

/** The program appears whole, by a rename, at the end. */
async function buildInto(built: string, files: readonly string[], report: (line: string) => void): Promise<void> {
  const work = `${built}.building`
  await rm(work, { recursive: true, force: true })
  await mkdir(work)
  for (const file of files) await copyFile(file, join(work, file.slice(file.lastIndexOf('/') + 1)))
  report(`building ${built}: this takes minutes, once`)
  const go = await findGo(join(work, 'go'), report)
  await run(go.file, ['build', '-mod=readonly', '-o', 'decoder', '.'], {
    cwd: work,
    env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOOS: undefined, GOARCH: undefined, ...go.env },
    timeoutMs: BUILD_MS,
  })
  await rename(join(work, 'decoder'), built)
  await rm(work, { recursive: true })
}
