// SPDX-License-Identifier: Apache-2.0
/**
 * Commands that are built once, into the lab's cache, from a Go module: a folder pins it and all
 * that it needs by their hashes (`go.mod`, `go.sum`), and its `tools.go` names the commands. To
 * build takes some minutes and needs the module proxy.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from './build.ts'
import { findGo } from './go-toolchain.ts'
import { withLock } from './lock.ts'
import { run } from './processes.ts'

export type Report = (line: string) => void

export interface GoModule {
  /** `v1.36.4` */
  readonly version: string
  /** Import paths. */
  readonly commands: readonly string[]
  /** The folder. */
  readonly module: string
  /** Hashes that pin everything that goes into the build. */
  readonly pins: readonly string[]
}

interface GoCommands extends Omit<GoModule, 'version'> {
  /** Of their folder in the cache, before a hash. */
  readonly name: string
  /** For the linker. */
  readonly stamps?: readonly string[]
}

/** @param required the module that `go.mod` requires, of which the commands are */
export function readGoModule(module: string, required: string): GoModule {
  const read = (name: string) => readFileSync(join(module, name), 'utf8')
  const [goMod, goSum] = [read('go.mod'), read('go.sum')]
  const [, , version] =
    goMod
      .split('\n')
      .find((line) => line.startsWith(`require ${required} v`))
      ?.split(' ') ?? []
  if (version === undefined) throw new Error(`${module}/go.mod requires no version of ${required}`)
  const commands = [...read('tools.go').matchAll(/_ "([^"]+)"/g)].flatMap(([, path]) => path ?? [])
  return { version, commands, module, pins: [goMod, goSum] }
}

/** The folder that holds them, each under its name. Builds them if need be. */
export async function ensureGoCommands(wanted: GoCommands, report: Report = console.log): Promise<string> {
  const { name, commands, pins } = wanted
  const hash = createHash('sha256').update(JSON.stringify([process.arch, commands, pins]))
  const built = join(cacheDirectory(), `${name}-${hash.digest('hex').slice(0, 16)}`)
  if (!existsSync(built)) {
    await mkdir(cacheDirectory(), { recursive: true })
    await withLock(join(cacheDirectory(), 'build.lock'), async () => {
      if (!existsSync(built)) await buildInto(built, wanted, report)
    })
  }
  return built
}

/** Everything happens beside `destination`, which appears whole, by a rename, at the end. */
async function buildInto(destination: string, { commands, module, stamps = [] }: GoCommands, report: Report): Promise<void> {
  const work = `${destination}.building`
  const bin = join(work, 'bin')
  await rm(work, { recursive: true, force: true })
  await mkdir(bin, { recursive: true })
  report(`building ${commands.join(', ')} into ${destination}: this takes minutes, once`)
  const go = await findGo(join(work, 'go'), report)
  const linker = ['-s -w', ...stamps].join(' ')
  await run(go.file, ['build', '-mod=readonly', '-ldflags', linker, '-o', `${bin}/`, ...commands], {
    cwd: module,
    env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOOS: undefined, GOARCH: undefined, ...go.env },
    timeoutMs: 60 * 60_000,
  })
  await rename(bin, destination)
  await rm(work, { recursive: true })
}
