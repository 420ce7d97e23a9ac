/**
 * The kubectl plugin for a workstation: the bundle, which runs on any platform with Node.js, in one
 * archive, and a manifest for krew with its checksum. The same commit gives the same bytes.
 */
import { createHash } from 'node:crypto'
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { formatDocument } from '../../src/kubelet/yaml.ts'
import { COMPLETER, PLUGIN } from '../../src/plugin/plugin-name.ts'
import type { Project } from './project.ts'
import { run } from './tools.ts'

/** As krew names them. */
const PLATFORMS = ['linux', 'darwin'].flatMap((os) => ['amd64', 'arm64'].map((arch) => ({ os, arch })))

/** Node.js starts it as CommonJS, whatever its name. */
const START = "#!/usr/bin/env node\nimport('./lib/kubelet-cfg-agent.mjs')\n"

const NOTE = `kubectl kubelet-config

It needs Node.js 20.19 or later as "node" on the PATH, on Linux or macOS, amd64 or arm64.
Unpack the archive where it is to stay, and link both programs into a directory of the PATH:

  ln -s "$PWD/${PLUGIN}" "$PWD/${COMPLETER}" /usr/local/bin/
`

export interface PluginInput {
  readonly project: Project
  /** The directory of the bundle. */
  readonly agent: string
  /** Where the archive will be, without its name. */
  readonly url: string
  readonly licences: string
}

/** @returns the archive and the manifest */
export async function buildPlugin(directory: string, { project, agent, url, licences }: PluginInput): Promise<string[]> {
  const { version, epoch } = project
  const root = join(directory, 'root')
  await mkdir(root, { recursive: true })
  await cp(agent, join(root, 'lib'), { recursive: true })
  for (const name of [PLUGIN, COMPLETER]) {
    await writeFile(join(root, name), START)
    await chmod(join(root, name), 0o755)
  }
  await writeFile(join(root, 'README'), NOTE)
  await cp('LICENSE', join(root, 'LICENSE'))
  await writeFile(join(root, 'THIRD-PARTY-LICENCES'), licences)
  const file = `${PLUGIN}_${version}.tar.gz`
  const archive = join(directory, file)
  const plain = resolve(directory, `${PLUGIN}.tar`)
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX,go-w']
  const form = ['--format=ustar', '--sort=name', `--mtime=@${epoch}`, ...owner]
  await run('tar', [...form, '-C', root, '-cf', plain, '.'])
  await run('gzip', ['-9', '-n', plain])
  await cp(`${plain}.gz`, archive)
  const manifest = join(directory, 'kubelet-config.yaml')
  await writeFile(manifest, krewManifest(version, `${url}/${file}`, await digest(archive)))
  return [archive, manifest]
}

/** Of the format krew.googlecontainertools.github.com/v1alpha2. */
export function krewManifest(version: string, uri: string, sha256: string): string {
  const platforms = PLATFORMS.map(({ os, arch }) => ({
    selector: { matchLabels: { os, arch } },
    uri,
    sha256,
    files: [{ from: '*', to: '.' }],
    bin: PLUGIN,
  }))
  return formatDocument({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'kubelet-config' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Show and change the configs of kubelets',
      description: 'Shows and changes the configs of the kubelets of a cluster, where kubelet-cfg-agent runs on its nodes.',
      caveats: 'Needs Node.js 20.19 or later as "node" on the PATH.',
      platforms,
    },
  })
}

async function digest(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
}
