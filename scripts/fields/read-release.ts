/**
 * Downloads the modules of a release into the lab's cache, and has the reader read them. The
 * archives stay there, by module and version; what Go unpacks of them goes after each release.
 */
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../../test/real/lab/build.ts'
import { findGo } from '../../test/real/lab/go-toolchain.ts'
import { run } from '../../test/real/lab/processes.ts'
import { parseRelease, type Release } from './release.ts'
import { modulesOf, type PinnedRelease } from './releases.ts'

const READER = join(import.meta.dirname, 'reader')
const DOWNLOAD_MS = 15 * 60_000

export async function readReleases(pinned: readonly PinnedRelease[], report: (line: string) => void): Promise<Release[]> {
  const modules = join(cacheDirectory(), 'go-modules')
  await mkdir(modules, { recursive: true })
  const go = await findGo(join(cacheDirectory(), 'fields-go'), report)
  const env = { ...go.env, GOMODCACHE: modules, GOFLAGS: '-modcacherw', GOWORK: 'off' }
  const releases: Release[] = []
  for (const each of pinned) {
    const wanted = [...modulesOf(each)].map(([path, version]) => `${path}@${version}`)
    report(`reading ${wanted[0]}`)
    const { stdout } = await run(go.file, ['mod', 'download', '-json', ...wanted], { cwd: READER, env, timeoutMs: DOWNLOAD_MS })
    const folders = readFolders(stdout)
    const named = [...folders].map(([path, folder]) => `${path}=${folder}`)
    const printed = await run(go.file, ['run', '.', `1.${each.minor}`, ...named], { cwd: READER, env, timeoutMs: DOWNLOAD_MS })
    releases.push(parseRelease(each.minor, printed.stdout))
    for (const folder of folders.values()) await discard(folder)
  }
  return releases
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
