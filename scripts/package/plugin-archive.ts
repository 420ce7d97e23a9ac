// SPDX-License-Identifier: Apache-2.0
/**
 * The kubectl plugin for workstations: an archive for each platform, with the bundle and its own
 * Node.js. The same commit gives the same bytes.
 */
import { chmod, copyFile, cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { COMPLETER, PLUGIN } from '../../src/command/plugin/plugin-name.ts'
import type { Component } from './components.ts'
import type { Compression } from './compression.ts'
import { digestOf } from './digest.ts'
import { krewManifest } from './krew.ts'
import { licencesText } from './licences.ts'
import { packDirectory } from './pack-directory.ts'
import type { Pin } from './pins.ts'
import type { Project } from './project.ts'
import { type Described, placeBinary } from './runtime.ts'
import { sbom } from './sbom.ts'

interface PluginInput {
  readonly project: Project
  /** The directory of the bundle. */
  readonly agent: string
  readonly components: readonly Component[]
  /** One a platform. */
  readonly runtimes: readonly Described[]
  /** Where the archives will be, without their names. */
  readonly url: string
  readonly compression: Compression
}

/** @returns the archives, the bill of materials of each, and the manifest for krew */
export async function buildPlugin(directory: string, input: PluginInput): Promise<string[]> {
  const built = await Promise.all(input.runtimes.map((each) => buildArchive(directory, each, input)))
  const places = built.map(({ pin: { os, arch }, file, sha256 }) => ({ os, arch, uri: `${input.url}/${file}`, sha256 }))
  const manifest = join(directory, 'kubelet-config.yaml')
  await writeFile(manifest, krewManifest(input.project.version, places))
  return [...built.flatMap(({ archive, bill }) => [archive, bill]), manifest]
}

interface Built {
  readonly pin: Pin
  readonly file: string
  readonly archive: string
  readonly sha256: string
  readonly bill: string
}

async function buildArchive(
  directory: string,
  { fetched, runtime }: Described,
  { project, agent, components, compression }: PluginInput,
): Promise<Built> {
  const { pin } = fetched
  const name = `${PLUGIN}_${project.version}_${pin.os}_${pin.arch}`
  const file = `${name}.tar.gz`
  const root = join(directory, name)
  const at = (path: string) => join(root, path)
  await mkdir(root, { recursive: true })
  await cp(agent, at('lib'), { recursive: true })
  // The program says `env node`: people start the launcher in its place.
  await chmod(at('lib/kubelet-cfg-agent.mjs'), 0o644)
  for (const program of [PLUGIN, COMPLETER]) {
    await copyFile('packaging/plugin/launcher', at(program))
    await chmod(at(program), 0o755)
    // The bundle knows by this file's name what it is to be.
    await writeFile(at(`lib/${program}.mjs`), `// ${program}\nimport './kubelet-cfg-agent.mjs'\n`)
  }
  await placeBinary(fetched, at('node'))
  await chmod(at('node'), 0o755)
  await writeFile(at('README'), note(pin))
  await copyFile('LICENSE', at('LICENSE'))
  await writeFile(at('THIRD-PARTY-LICENCES'), licencesText(components, runtime))
  const bill = join(directory, `${name}.cdx.json`)
  await writeFile(bill, sbom({ ...project, name: PLUGIN, architecture: `${pin.os}/${pin.arch}`, components, runtime }))
  await copyFile(bill, at('sbom.cdx.json'))
  const archive = join(directory, file)
  await packDirectory(root, '.', archive, { level: compression.gzip, epoch: project.epoch })
  return { pin, file, archive, bill, sha256: await digestOf(archive) }
}

function note({ os, arch }: Pin): string {
  return `kubectl kubelet-config, for ${os}/${arch}, with its own Node.js

Unpack the archive where it is to stay, and link both programs into a directory of the PATH:

  ln -s "$PWD/${PLUGIN}" "$PWD/${COMPLETER}" /usr/local/bin/

kubectl starts the second to complete command lines.
`
}
