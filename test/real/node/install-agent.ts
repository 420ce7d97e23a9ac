// SPDX-License-Identifier: Apache-2.0
/**
 * Brings the agent onto a running node: from the package, where `npm run package` has made one,
 * else by hand as the README says. One function, so that no test knows which.
 */
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readdir, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Node } from './node.ts'

const ROOT = join(import.meta.dirname, '../../..')
const UNITS = join(ROOT, 'systemd')
const DEBIAN_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
/** The folders that a package is made from. */
const INGREDIENTS = ['src', 'packaging', 'systemd']
const RPM_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }

/** Whatever the way, the agent is enabled and started, and kubelet goes on as it was. */
export async function installAgent(node: Node): Promise<void> {
  const deb = await findDeb()
  if (deb === undefined) await installByHand(node)
  else await installDeb(node, deb)
}

/** The same where the node's root has the package already: what is left of it is to start it. */
export async function enableOrInstallAgent(node: Node): Promise<void> {
  if (existsSync(node.host('/usr/bin/kubelet-cfg-agent'))) await node.systemctl('enable', '--now', 'kubelet-cfg-agent')
  else await installAgent(node)
}

/** The package for this machine; undefined: none was built. */
export async function findDeb(): Promise<string | undefined> {
  return findPackage(`_${DEBIAN_ARCHITECTURES[process.arch]}.deb`)
}

export async function findRpm(): Promise<string | undefined> {
  return findPackage(`.${RPM_ARCHITECTURES[process.arch]}.rpm`)
}

/** The image that installs the packages of each architecture. */
export async function findImage(): Promise<string | undefined> {
  return findPackage('.oci.tar')
}

async function findPackage(suffix: string): Promise<string | undefined> {
  for (const directory of [join(ROOT, 'dist/packages'), join(ROOT, 'dist')]) {
    const names = await readdir(directory).catch(() => [])
    const found = names.find((name) => name.startsWith('kubelet-cfg-agent') && name.endsWith(suffix))
    if (found !== undefined) return freshOnly(join(directory, found))
  }
  return undefined
}

/** A package of older sources would pass or fail for what is no longer so. */
async function freshOnly(file: string): Promise<string> {
  const { mtimeMs: madeAt } = await stat(file)
  for (const directory of INGREDIENTS) {
    for (const entry of await readdir(join(ROOT, directory), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (!entry.isFile() || (await stat(path)).mtimeMs <= madeAt) continue
      throw new Error(`${file} is older than ${path}: run \`npm run package\`, or remove the package`)
    }
  }
  return file
}

/** Returns what apt said. */
export async function installDeb(node: Node, deb: string): Promise<string> {
  const inside = `/root/${basename(deb)}`
  await copyFile(deb, node.host(inside))
  // Lists are not needed: all it depends on is there.
  return (await node.exec('apt-get', 'install', '--yes', '--no-install-recommends', inside)).stdout
}

async function installByHand(node: Node): Promise<void> {
  const library = node.host('/usr/lib/kubelet-cfg-agent')
  await cp(dirname(node.program), library, { recursive: true })
  await symlink('/usr/lib/kubelet-cfg-agent/kubelet-cfg-agent.mjs', node.host('/usr/bin/kubelet-cfg-agent'))
  const dropIns = '/etc/systemd/system/kubelet.service.d'
  await mkdir(node.host(dropIns), { recursive: true })
  for (const [from, to] of [
    ['kubelet.service.d/90-kubelet-cfg-agent.conf', dropIns],
    ['kubelet-cfg-agent.service', '/etc/systemd/system'],
  ] as const) {
    await copyFile(join(UNITS, from), node.host(to, basename(from)))
  }
  await node.systemctl('daemon-reload')
  await node.systemctl('enable', '--now', 'kubelet-cfg-agent')
}
