// SPDX-License-Identifier: Apache-2.0
/**
 * The installed files, laid out once per architecture; deb and rpm only move them to their paths.
 * Every file has the time of the commit, and a mode that does not depend on the build's umask.
 */
import { chmod, cp, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { COMPLETER, PLUGIN } from '../../src/command/plugin/plugin-name.ts'
import type { Architecture } from './architectures.ts'
import { bashCompletion, fishCompletion, zshCompletion } from './completion.ts'
import { bundledPackages, type Component, type Metafile, type Runtime, readComponent } from './components.ts'
import { defaultConfigFile, defaultEnvironmentFile } from './default-config.ts'
import { licencesText } from './licences.ts'
import { CONFIG_PAGE, configPage, programPage } from './man.ts'
import { completerPage, pluginPage } from './man-plugin.ts'
import { layOutPages } from './pages.ts'
import { isoDay, type Project } from './project.ts'
import { type Fetched, placeBinary } from './runtime.ts'
import { sbom } from './sbom.ts'

interface PayloadInput {
  readonly project: Project
  readonly architecture: Architecture
  /** The directory of the bundle. */
  readonly agent: string
  readonly components: readonly Component[]
  readonly fetched: Fetched
  readonly runtime: Runtime
}

const PLUGIN_NAMES = [PLUGIN, COMPLETER]
const EXECUTABLES = ['bin/kubelet-cfg-agent', ...PLUGIN_NAMES.map((name) => `bin/${name}`), 'lib/node', 'lib/before-removal']

export async function layOut(
  directory: string,
  { project, architecture, agent, components, fetched, runtime }: PayloadInput,
): Promise<void> {
  const { name, version, epoch } = project
  const edition = { version, date: isoDay(epoch) }
  const at = (path: string) => join(directory, path)
  const write = async (path: string, text: string) => {
    await mkdir(dirname(at(path)), { recursive: true })
    await writeFile(at(path), text)
  }
  await cp(agent, at('lib'), { recursive: true })
  await replaceInterpreter(at('lib'))
  await placeBinary(fetched, at('lib/node'))
  await cp('packaging/common/before-removal', at('lib/before-removal'))
  await cp('packaging/common/kubelet-cfg-agent', at('bin/kubelet-cfg-agent'))
  for (const name of PLUGIN_NAMES) {
    await write(`bin/${name}`, (await readFile(`packaging/common/${PLUGIN}`, 'utf8')).replaceAll(PLUGIN, name))
    // The bundle knows by this file's name what it is to be.
    await write(`lib/${name}.mjs`, `// ${name}\nimport './kubelet-cfg-agent.mjs'\n`)
  }
  await cp('systemd', at('systemd'), { recursive: true })
  await write('etc/config.yaml', defaultConfigFile())
  await write(`etc/default/${name}`, defaultEnvironmentFile())
  await write(`man/${name}.8`, programPage(edition))
  await write(`man/${CONFIG_PAGE}.5`, configPage(edition))
  await write(`man/${PLUGIN}.1`, pluginPage(edition))
  await write(`man/${COMPLETER}.1`, completerPage(edition))
  await write(`completion/${name}`, bashCompletion())
  await write(`completion/_${name}`, zshCompletion())
  await write(`completion/${name}.fish`, fishCompletion())
  await cp('LICENSE', at('doc/LICENSE'))
  await write('doc/THIRD-PARTY-LICENCES', licencesText(components, runtime))
  await write('doc/sbom.cdx.json', sbom({ ...project, architecture: architecture.deb, components, runtime }))
  await layOutPages(at('doc'))
  await normalise(directory, epoch)
}

/**
 * Replaces the interpreter line: the launcher chooses Node.js. The line itself stays, so source
 * maps stay valid.
 */
async function replaceInterpreter(directory: string): Promise<void> {
  for (const name of await readdir(directory, { recursive: true })) {
    if (!name.endsWith('.mjs')) continue
    const path = join(directory, name)
    await writeFile(path, (await readFile(path, 'utf8')).replace(/^#!.*/, '// Started by /usr/bin/kubelet-cfg-agent'))
  }
}

/**
 * Packages under the Apache License that leave its text out, and the modules with their notices,
 * one of each licence.
 */
const NOTICES: Readonly<Record<string, readonly string[]>> = {
  '@bufbuild/cel': ['dist/esm/index.js'],
  '@bufbuild/cel-spec': ['dist/esm/testdata/registry.js'],
  '@bufbuild/protobuf': ['dist/esm/index.js', 'dist/esm/wire/varint.js'],
}

/** undefined: it has no licence file, and no notices are known. */
async function readLicence(directory: string): Promise<string | undefined> {
  const file = (await readdir(directory)).find((name) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(name))
  if (file !== undefined) return readFile(join(directory, file), 'utf8')
  const modules = NOTICES[directory.replace(/^.*node_modules\//, '')]
  if (modules === undefined) return undefined
  const notices = await Promise.all(modules.map(async (module) => noticeOf(await readFile(join(directory, module), 'utf8'))))
  return [...notices, await readFile('LICENSE', 'utf8')].join('\n')
}

/** The comment at the head of a module. */
function noticeOf(text: string): string {
  const [notice = ''] = /^(?:\/\/.*\n)+/.exec(text) ?? []
  if (!notice.includes('Copyright')) throw new Error('a module without a notice')
  return notice.replace(/^\/\/ ?/gm, '')
}

/** The components of a bundle, from esbuild's metafile and each component's own package. */
export async function readComponents(metafilePath: string): Promise<Component[]> {
  const metafile = JSON.parse(await readFile(metafilePath, 'utf8')) as Metafile
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, { integrity?: string }> }
  return Promise.all(
    bundledPackages(metafile).map(async (directory) => {
      return readComponent(directory, {
        manifest: JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')),
        licenceText: await readLicence(directory),
        integrity: packages[directory]?.integrity,
      })
    }),
  )
}

/** Sets the time and the mode of all files. */
async function normalise(directory: string, epoch: number): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const executable = entry.isDirectory() || EXECUTABLES.some((each) => path === join(directory, each))
    await chmod(path, executable ? 0o755 : 0o644)
    await utimes(path, epoch, epoch)
  }
}
