// SPDX-License-Identifier: Apache-2.0
/**
 * A Go that builds Kubernetes of today: the one on the PATH, if it is new enough. Otherwise
 * Debian's own Go downloads a newer one as a module, as `GOTOOLCHAIN` does it
 * (go.dev/doc/toolchain), and checks it by the sum that is written here. Debian's knows nothing of
 * toolchains, so what it downloads is made executable by hand.
 */
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDebianPackages } from './debian-packages.ts'
import { run } from './processes.ts'

interface GoToolchain {
  readonly file: string
  /** For its commands. */
  readonly env: Readonly<Record<string, string>>
}

/** The version that the newest of the pinned modules asks for; it builds the older ones too. */
const MINOR = 26
const VERSION = '1.26.8'
const SUMS: Readonly<Record<string, { readonly name: string; readonly sum: string }>> = {
  x64: { name: 'linux-amd64', sum: 'h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=' },
}
const DEBIAN = { packages: ['golang-1.19-go', 'golang-1.19-src'], root: 'usr/lib/go-1.19' }
const DOWNLOAD_MS = 15 * 60_000

/** `work` holds what is downloaded. */
export async function findGo(work: string, report: (line: string) => void): Promise<GoToolchain> {
  if ((await minorOnPath()) >= MINOR) return { file: 'go', env: {} }
  const platform = SUMS[process.arch]
  if (platform === undefined) throw new Error(`no Go ${VERSION} is known for ${process.arch}: install Go 1.${MINOR} or later`)
  report(`no Go 1.${MINOR} or later on the PATH: downloading Go ${VERSION}`)
  const packages = await openDebianPackages(join(work, 'apt'))
  const debian = join(work, 'debian')
  await packages.unpack(DEBIAN.packages, debian)
  const GOROOT = join(debian, DEBIAN.root)
  const env = { GOROOT, GOPATH: join(work, 'gopath'), GOCACHE: join(work, 'go-cache'), GOFLAGS: '-modcacherw' }
  const module = `golang.org/toolchain@v0.0.1-go${VERSION}.${platform.name}`
  await mkdir(work, { recursive: true })
  // Of its own, so that none of a directory above counts.
  await writeFile(join(work, 'go.mod'), 'module toolchain\n')
  const { stdout } = await run(join(GOROOT, 'bin/go'), ['mod', 'download', '-json', module], { cwd: work, env, timeoutMs: DOWNLOAD_MS })
  const { Dir, Sum } = JSON.parse(stdout)
  if (Sum !== platform.sum) throw new Error(`${module} has the sum ${Sum}, not ${platform.sum}`)
  for (const directory of ['bin', 'pkg/tool']) await makeExecutable(join(Dir, directory))
  return { file: join(Dir, 'bin/go'), env: { GOROOT: Dir } }
}

/** 0: there is none. */
async function minorOnPath(): Promise<number> {
  try {
    return Number(/ go1\.(\d+)/.exec((await run('go', ['version'])).stdout)?.[1] ?? 0)
  } catch {
    return 0
  }
}

async function makeExecutable(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o755)
  }
}
