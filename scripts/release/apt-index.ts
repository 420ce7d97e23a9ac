// SPDX-License-Identifier: Apache-2.0
/**
 * The indices of a repository for apt: Packages, and Release, which names the digest of each
 * Packages and is what the signature is over. Pure.
 *
 * Format: https://wiki.debian.org/DebianRepository/Format.
 */
import type { Digested } from './checksums.ts'

/** A package in the pool. `path` is relative to the repository. */
export interface PooledDeb extends Digested {
  /** Its control file, as `dpkg-deb --field` prints it. */
  readonly control: string
}

/** Throws if a control file has a field that the index adds: it would stand there twice. */
export function packagesIndex(debs: readonly PooledDeb[]): string {
  return [...debs]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ control, path, size, sha256 }) => {
      const fields = control.trimEnd()
      if (/^(Filename|Size|SHA256):/im.test(fields) || /\n\s*\n/.test(fields)) throw new Error(`${path}: not a control file of one package`)
      return `${fields}\nFilename: ${path}\nSize: ${size}\nSHA256: ${sha256}\n`
    })
    .join('\n')
}

/** The value of a field on one line; undefined: there is none. */
export function controlField(control: string, name: string): string | undefined {
  return new RegExp(`^${name}: *(.*?) *$`, 'im').exec(control)?.[1]
}

interface ReleaseInput {
  readonly origin: string
  readonly suite: string
  readonly component: string
  readonly description: string
  readonly architectures: readonly string[]
  /** Seconds since 1970, of the commit. */
  readonly epoch: number
  /** Paths relative to the directory of Release. */
  readonly indices: readonly Digested[]
}

export function releaseFile({ origin, suite, component, description, architectures, epoch, indices }: ReleaseInput): string {
  const sums = [...indices].sort((a, b) => (a.path < b.path ? -1 : 1)).map(({ path, sha256, size }) => ` ${sha256} ${size} ${path}\n`)
  return `Origin: ${origin}
Label: ${origin}
Suite: ${suite}
Codename: ${suite}
Date: ${new Date(epoch * 1000).toUTCString().replace('GMT', 'UTC')}
Architectures: ${[...architectures].sort().join(' ')}
Components: ${component}
Description: ${description}
Acquire-By-Hash: yes
SHA256:
${sums.join('')}`
}
