// SPDX-License-Identifier: Apache-2.0
/**
 * The busybox of the image: the static one of Debian 12, from the mirror that this machine uses,
 * whose bytes must be those that are pinned here. Only apt's downloader is asked, so no list of a
 * foreign architecture is needed, and nothing is installed.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorMessage } from '../../src/values/errors.ts'
import { findMirror } from './debian-mirror.ts'
import { sha256Of } from './digest.ts'
import { run } from './tools.ts'

export interface Busybox {
  /** Unpacked, as Debian's package has its files. */
  readonly root: string
  /** Of Debian's package. */
  readonly version: string
  readonly sha256: string
  /** As in `glibc (= 2.36-9)`: what Debian linked into it. */
  readonly builtUsing: string
}

/**
 * In dists/bookworm/main/binary-ARCH/Packages. After a point release or a security update that
 * replaces them, take both from there.
 */
const VERSION = '1:1.35.0-4+deb12u1+b1'
const SHA256: Readonly<Record<string, string>> = {
  amd64: '3d3fdbe91d4660c873e14b092c213fe81c1da6362daa236eb25d0171eb108744',
  arm64: '732c9135564fc71337e0e05fb4da4d11e6c28c1834bce3e405e575afef2a52f5',
}

const HELPER = '/usr/lib/apt/apt-helper'

/** @param directory is kept: what was fetched there is not fetched again */
export async function fetchBusybox(architecture: string, directory: string): Promise<Busybox> {
  const sha256 = SHA256[architecture]
  if (sha256 === undefined) throw new Error(`no busybox is pinned for ${architecture}`)
  // Debian leaves the epoch out of the names of files.
  const file = `busybox-static_${VERSION.replace(/^\d+:/, '')}_${architecture}.deb`
  const deb = join(directory, file)
  await mkdir(directory, { recursive: true })
  if ((await readFile(deb).then(sha256Of, () => undefined)) !== sha256) {
    const address = `${await findMirror()}pool/main/b/busybox/${file}`
    await run(HELPER, ['-o', 'APT::Sandbox::User=root', 'download-file', address, deb, `SHA256:${sha256}`]).catch((cause: unknown) => {
      const advice = 'if Debian 12 has another one today, pin that in scripts/package/busybox.ts'
      throw new Error(`${file} cannot be had (${advice}): ${errorMessage(cause)}`, { cause })
    })
  }
  const root = join(directory, architecture)
  await run('dpkg-deb', ['--extract', deb, root])
  const builtUsing = (await run('dpkg-deb', ['--field', deb, 'Built-Using'])).trim()
  return { root, version: VERSION, sha256, builtUsing }
}
