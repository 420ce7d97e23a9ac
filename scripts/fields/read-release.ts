// SPDX-License-Identifier: Apache-2.0
/**
 * Downloads the modules of a release into the lab's cache, and has the reader read them. The
 * archives stay there, by module and version; what Go unpacks of them goes after each release.
 * What the reader printed stays too: a new release costs no more than itself.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../../test/real/lab/build.ts'
import { findGo } from '../../test/real/lab/go-toolchain.ts'
import { run } from '../../test/real/lab/processes.ts'
import { parseRelease, type Release } from './release.ts'
import { modulesOf, modulesWith, type PinnedRelease } from './releases.ts'

const READER = join(import.meta.dirname, 'reader')
const DOWNLOAD_MS = 15 * 60_000

export async function readReleases(pinned: readonly PinnedRelease[], report: (line: string) => void): Promise<Release[]> {
  const releases: Release[] = []
  for (const each of pinned) {
    report(`reading ${modulesOf(each).get('k8s.io/kubernetes')}`)
    releases.push(parseRelease(each.minor, await runReader(modulesOf(each), (folders) => [`1.${each.minor}`, ...folders], report)))
  }
  return releases
}

/** The names that these files and folders of a release declare. */
export async function readDeclared(pinned: PinnedRelease, paths: readonly string[], report: (line: string) => void): Promise<Declared> {
  return JSON.parse(await runReader(modulesWith(pinned, paths), (folders) => ['declared', ...folders, '--', ...paths], report))
}
type Declared = Readonly<Record<string, readonly string[]>>

/** Gives what the reader prints of modules that are there only meanwhile. */
async function runReader(
  wanted: ReadonlyMap<string, string>,
  toArguments: (folders: readonly string[]) => readonly string[],
  report: (line: string) => void,
): Promise<string> {
  const modules = join(cacheDirectory(), 'go-modules')
  const printedBefore = join(cacheDirectory(), `fields-${hashOfReader([...wanted], toArguments([]))}.json`)
  if (existsSync(printedBefore)) return readFileSync(printedBefore, 'utf8')
  await mkdir(modules, { recursive: true })
  const go = await findGo(join(cacheDirectory(), 'fields-go'), report)
  const env = { ...go.env, GOMODCACHE: modules, GOFLAGS: '-modcacherw', GOTOOLCHAIN: 'auto', GOWORK: 'off' }
  const versions = [...wanted].map(([path, version]) => `${path}@${version}`)
  const { stdout } = await run(go.file, ['mod', 'download', '-json', ...versions], { cwd: READER, env, timeoutMs: DOWNLOAD_MS })
  const folders = readFolders(stdout)
  const named = [...folders].map(([path, folder]) => `${path}=${folder}`)
  const printed = await run(go.file, ['run', '.', ...toArguments(named)], { cwd: READER, env, timeoutMs: DOWNLOAD_MS })
  for (const folder of folders.values()) await discard(folder)
  await writeFile(`${printedBefore}.new`, printed.stdout)
  await rename(`${printedBefore}.new`, printedBefore)
  return printed.stdout
}

/** Of all that decides what the reader prints. */
function hashOfReader(...asked: readonly unknown[]): string {
  const hash = createHash('sha256').update(JSON.stringify(asked))
  for (const name of readdirSync(READER).sort()) hash.update(readFileSync(join(READER, name)))
  return hash.digest('hex').slice(0, 16)
}

/** Go takes a folder that is there for whole: one that is half removed must have another name. */
async function discard(folder: string): Promise<void> {
  const aside = `${folder}.gone`
  await rm(aside, { recursive: true, force: true })
  await rename(folder, aside)
  await rm(aside, { recursive: true })
}

/** `go mod download -json` prints one object after another, each closed by a line with a brace. */
function readFolders(printed: string): ReadonlyMap<string, string> {
  return new Map(
    printed
      .split(/(?<=^\}$)/m)
      .filter((text) => text.trim() !== '')
      .map((text): [string, string] => {
        const { Path, Dir } = JSON.parse(text)
        return [String(Path), String(Dir)]
      }),
  )
}
