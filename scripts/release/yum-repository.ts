// SPDX-License-Identifier: Apache-2.0
/**
 * A repository for dnf, yum and zypper as a plain directory: Packages/*.rpm, each with a signature
 * in its header, and repodata/, whose repomd.xml is signed.
 */
import { rm, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run } from '../package/tools.ts'
import type { RepositoryInput } from './apt-repository.ts'
import { place } from './files.ts'

export async function writeYumRepository(
  directory: string,
  { packages, epoch, signer }: Pick<RepositoryInput, 'packages' | 'epoch' | 'signer'>,
): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  for (const rpm of packages) {
    const pooled = join(directory, 'Packages', basename(rpm))
    await place(rpm, pooled, epoch)
    await signer?.rpm(pooled)
    await utimes(pooled, epoch, epoch)
  }
  // Times and order must not depend on this build.
  const reproducible = ['--revision', String(epoch), '--set-timestamp-to-revision', '--workers', '1']
  await run('createrepo_c', ['--quiet', '--no-database', '--general-compress-type', 'gz', ...reproducible, directory])
  const index = join(directory, 'repodata/repomd.xml')
  await signer?.detach(index, `${index}.asc`)
}
