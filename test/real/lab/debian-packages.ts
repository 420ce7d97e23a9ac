// SPDX-License-Identifier: Apache-2.0
/**
 * Packages of Debian 12, downloaded and unpacked but never installed. apt works on lists and
 * sources of its own in a scratch directory (apt-get(8), `Dir::State::Lists`,
 * `Dir::Etc::SourceList`), so the machine's configuration stays as it is and no root is needed; the
 * mirror is the one that the machine uses, the signatures are checked with Debian's own keyring.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findMirror } from '../../../scripts/package/debian-mirror.ts'
import { run } from './processes.ts'

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
const downloadMs = 15 * 60_000

interface DebianPackages {
  /** Unpacks binary packages, all into one root. */
  unpack(packages: readonly string[], root: string): Promise<void>
  /** Downloads a source package, `name=version`, and returns the path of its upstream tarball. */
  fetchSource(source: string): Promise<string>
  /** The line of a sources.list that names the mirror and the keyring, for any of its suites. */
  sourceLineOf(suite: string): string
}

/** Fetches the lists of bookworm into `scratch`. */
export async function openDebianPackages(scratch: string): Promise<DebianPackages> {
  const lists = join(scratch, 'lists')
  const sourceList = join(scratch, 'bookworm.list')
  await mkdir(join(lists, 'partial'), { recursive: true })
  const mirror = await findMirror().catch((cause: unknown) => {
    throw new Error('set KUBEBUILDER_ASSETS to a folder that holds etcd, kube-apiserver and kubectl, or give apt a mirror', { cause })
  })
  const whereIs = (suite: string): string => `[signed-by=${keyring}] ${mirror} ${suite} main`
  const where = whereIs('bookworm')
  await writeFile(sourceList, `deb ${where}\ndeb-src ${where}\n`)
  const settings = {
    'Dir::Etc::SourceList': sourceList,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': lists,
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'Acquire::Languages': 'none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    'Acquire::Retries': '3',
    // The scratch directory may lie where the user _apt cannot look.
    'APT::Sandbox::User': 'root',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const apt = async (cwd: string, ...args: string[]): Promise<void> => {
    await mkdir(cwd, { recursive: true })
    await run('apt-get', [...options, ...args], { cwd, timeoutMs: downloadMs })
  }
  await apt(scratch, 'update')
  return {
    sourceLineOf: (suite) => `deb ${whereIs(suite)}`,
    async unpack(packages, root) {
      const downloads = join(scratch, 'deb')
      await apt(downloads, 'download', ...packages)
      for (const file of (await readdir(downloads)).filter((name) => name.endsWith('.deb'))) {
        await run('dpkg-deb', ['--extract', join(downloads, file), root])
      }
    },
    async fetchSource(source) {
      const downloads = join(scratch, 'source')
      await apt(downloads, 'source', '--download-only', source)
      const upstream = (await readdir(downloads)).find((name) => name.includes('.orig.tar.'))
      if (upstream === undefined) throw new Error(`the source package ${source} has no upstream tarball`)
      return join(downloads, upstream)
    },
  }
}
