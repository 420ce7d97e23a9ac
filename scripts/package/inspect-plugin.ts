// SPDX-License-Identifier: Apache-2.0
/**
 * Checks a built archive of the plugin: its size, the files in it with their modes, that its
 * Node.js is for its platform, and, on that platform, that it runs without another Node.js.
 */
import { mkdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { COMPLETER, PLUGIN } from '../../src/command/plugin/plugin-name.ts'
import { sha256Of } from './digest.ts'
import { platformOf } from './executable.ts'
import type { Fetched } from './runtime.ts'
import { findTool, run } from './tools.ts'

const MOST_BYTES = 50_000_000

const CONTENTS = [
  `-rwxr-xr-x ./${PLUGIN}`,
  `-rwxr-xr-x ./${COMPLETER}`,
  '-rwxr-xr-x ./node',
  '-rw-r--r-- ./lib/kubelet-cfg-agent.mjs',
  `-rw-r--r-- ./lib/${PLUGIN}.mjs`,
  `-rw-r--r-- ./lib/${COMPLETER}.mjs`,
  '-rw-r--r-- ./README',
  '-rw-r--r-- ./LICENSE',
  '-rw-r--r-- ./THIRD-PARTY-LICENCES',
  '-rw-r--r-- ./sbom.cdx.json',
]

export async function inspectPlugin(archive: string, scratch: string, { pin, binary }: Fetched): Promise<void> {
  const { size } = await stat(archive)
  if (size > MOST_BYTES) throw new Error(`${archive} has ${size} bytes, more than ${MOST_BYTES}`)
  // `-rwxr-xr-x 0/0  107125184 2026-11-21 17:20 ./node`
  const listing = await run('tar', ['--numeric-owner', '-tvzf', archive])
  const entries = [...listing.matchAll(/^(\S{10}) (\S+) .* (\.\/\S*)$/gm)].map(([, mode, owner, path]) => ({ mode, owner, path }))
  const foreign = entries.find(({ mode, owner }) => owner !== '0/0' || !/^[-d]/.test(mode ?? ''))
  // krew unpacks nothing else.
  if (foreign !== undefined) throw new Error(`${archive}: ${foreign.path} is not root's, or neither file nor directory`)
  const found = new Set(entries.map(({ mode, path }) => `${mode} ${path}`))
  const missing = CONTENTS.filter((line) => !found.has(line))
  if (missing.length > 0) throw new Error(`${archive} does not have ${missing.join(', ')}`)

  const root = join(scratch, 'root')
  await rm(scratch, { recursive: true, force: true })
  await mkdir(root, { recursive: true })
  await run('tar', ['-xzf', archive, '-C', root])
  const node = await readFile(join(root, 'node'))
  const wanted = `${pin.os}/${pin.arch}`
  if (platformOf(node) !== wanted) throw new Error(`${archive}: its Node.js is for ${platformOf(node)}, not for ${wanted}`)
  if (pin.triplet === undefined && sha256Of(node) !== sha256Of(await readFile(binary)))
    throw new Error(`${archive}: its Node.js is not as published, which voids its signature`)
  if (pin.os === process.platform && pin.cpu === process.arch) await tryPlugin(archive, root, join(scratch, 'bin'))
}

/** Through links, as krew and people make them. The PATH has what the launcher needs alone. */
async function tryPlugin(archive: string, root: string, bin: string): Promise<void> {
  await mkdir(bin)
  const readlink = await findTool('readlink')
  if (readlink === undefined) throw new Error('not found: readlink')
  await symlink(readlink, join(bin, 'readlink'))
  await symlink(resolve(root, PLUGIN), join(bin, PLUGIN))
  await symlink(PLUGIN, join(bin, COMPLETER))
  const env = { PATH: resolve(bin) }
  const version = await run(join(bin, PLUGIN), ['--version'], { env })
  if (!/^kubectl kubelet-config \d/.test(version)) throw new Error(`${archive}: unexpected output of --version: ${version}`)
  const completed = await run(join(bin, COMPLETER), ['roll'], { env })
  if (!/^rollout\b/.test(completed)) throw new Error(`${archive}: unexpected completion of "roll": ${completed}`)
}
