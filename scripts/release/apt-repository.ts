// SPDX-License-Identifier: Apache-2.0
/**
 * A repository for apt as a plain directory, which any web server can serve:
 *
 *     dists/stable/{Release,Release.gpg,InRelease}
 *     dists/stable/main/binary-ARCH/{Packages,Packages.gz,by-hash/SHA256/DIGEST}
 *     pool/main/*.deb
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { run } from '../package/tools.ts'
import { controlField, type PooledDeb, packagesIndex, releaseFile } from './apt-index.ts'
import type { Digested } from './checksums.ts'
import { digestFile, place } from './files.ts'
import type { Signer } from './signer.ts'

export interface RepositoryInput {
  readonly name: string
  readonly description: string
  /** Paths; of one package several versions and architectures. */
  readonly packages: readonly string[]
  /** Seconds since 1970, of the commit. */
  readonly epoch: number
  /** undefined: unsigned. */
  readonly signer: Signer | undefined
}

const SUITE = 'stable'
const COMPONENT = 'main'

export async function writeAptRepository(
  directory: string,
  { name, description, packages, epoch, signer }: RepositoryInput,
): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  const debs = await Promise.all(packages.map((deb) => pool(directory, deb, epoch)))
  const architectures = [...new Set(debs.map(({ architecture }) => architecture))]
  const dist = join(directory, 'dists', SUITE)
  const indices: Digested[] = []
  for (const architecture of architectures) {
    const text = packagesIndex(debs.filter((deb) => deb.architecture === architecture))
    const folder = `${COMPONENT}/binary-${architecture}`
    const byHash = join(dist, folder, 'by-hash/SHA256')
    await mkdir(byHash, { recursive: true })
    for (const [file, bytes] of [
      ['Packages', Buffer.from(text)],
      ['Packages.gz', gzipSync(text, { level: 9 })],
    ] as const) {
      await writeFile(join(dist, folder, file), bytes)
      const index = await digestFile(dist, `${folder}/${file}`)
      // A client that has read an older Release still finds what that names.
      await writeFile(join(byHash, index.sha256), bytes)
      indices.push(index)
    }
  }
  const release = join(dist, 'Release')
  await writeFile(release, releaseFile({ origin: name, suite: SUITE, component: COMPONENT, description, architectures, epoch, indices }))
  await signer?.detach(release, `${release}.gpg`)
  await signer?.clear(release, join(dist, 'InRelease'))
}

async function pool(directory: string, deb: string, epoch: number): Promise<PooledDeb & { readonly architecture: string }> {
  const path = `pool/${COMPONENT}/${basename(deb)}`
  await place(deb, join(directory, path), epoch)
  const control = await run('dpkg-deb', ['--field', deb])
  const architecture = controlField(control, 'Architecture')
  if (architecture === undefined) throw new Error(`${deb}: its control file names no architecture`)
  return { ...(await digestFile(directory, path)), control, architecture }
}
