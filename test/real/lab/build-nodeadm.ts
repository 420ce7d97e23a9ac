// SPDX-License-Identifier: Apache-2.0
/**
 * nodeadm, which makes a node of an instance of Amazon EKS, in the newest version that Go's module
 * proxy has. Built once into the lab's cache, from the modules that `nodeadm/` pins by their
 * hashes. That takes some minutes of CPU.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from './build.ts'
import { findGo } from './go-toolchain.ts'
import { withLock } from './lock.ts'
import { run } from './processes.ts'

const MODULE = join(import.meta.dirname, 'nodeadm')
const COMMAND = 'github.com/awslabs/amazon-eks-ami/nodeadm/cmd/nodeadm'
const BUILD_MS = 60 * 60_000

/** Builds it if need be. */
export async function ensureNodeadm(report: (line: string) => void = console.log): Promise<string> {
  const hash = createHash('sha256').update(process.arch)
  for (const name of ['go.mod', 'go.sum']) hash.update(await readFile(join(MODULE, name)))
  const built = join(cacheDirectory(), `nodeadm-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(built)) return built
  await mkdir(cacheDirectory(), { recursive: true })
  await withLock(join(cacheDirectory(), 'build.lock'), async () => {
    if (existsSync(built)) return
    const work = `${built}.building`
    await rm(work, { recursive: true, force: true })
    await mkdir(work)
    report(`building ${built}: this takes minutes, once`)
    const go = await findGo(join(work, 'go'), report)
    const env = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOOS: undefined, GOARCH: undefined, ...go.env }
    const output = join(work, 'nodeadm')
    await run(go.file, ['build', '-mod=readonly', '-ldflags', '-s -w', '-o', output, COMMAND], { cwd: MODULE, env, timeoutMs: BUILD_MS })
    await rename(output, built)
    await rm(work, { recursive: true })
  })
  return built
}

if (import.meta.filename === process.argv[1]) console.log(await ensureNodeadm())
