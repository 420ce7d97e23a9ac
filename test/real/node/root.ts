// SPDX-License-Identifier: Apache-2.0
/**
 * The root file systems of the lab's nodes: a Debian with systemd and containerd each, made once by
 * mmdebstrap(1) into a cache outside the checkout. systemd-nspawn and mke2fs come out of that of
 * Debian 12 as well, run by its own loader with its own libraries, so that the machine that runs
 * the tests needs none of them installed and runs no containerd of theirs. By itself it prepares
 * the cache, with the roots that it is given or else those of a run without options: `node --import
 * tsx test/real/node/root.ts trixie`.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../lab/build.ts'
import { openDebianPackages } from '../lab/debian-packages.ts'
import { withLock } from '../lab/lock.ts'
import { SUITES, type Suite } from '../lab/node-choice.ts'
import { run } from '../lab/processes.ts'
import { IMAGE_FILE, writeImage } from './image.ts'

export interface NodeRoot {
  /** Never changed: nodes run on copies of it. */
  readonly tree: string
  /** The directories that the root's /usr is made of, the uppermost layer first. */
  readonly usr: readonly string[]
  /** The command line of one of its programs, for the machine that runs the tests. */
  tool(name: 'systemd-nspawn' | 'mke2fs', ...args: readonly string[]): [string, ...string[]]
}

/** The recipe of a root; the cache has one root for each recipe. */
export interface RootRecipe {
  readonly version: number
  readonly suite: Suite
  readonly include: readonly string[]
  /** Units that never start. */
  readonly mask: readonly string[]
  readonly drop: readonly string[]
}

/** Of the machine that runs the tests, and so what its tools are taken from. */
const TOOLS_SUITE = 'bookworm'

const recipeOf = (suite: Suite): RootRecipe => ({
  version: 2,
  suite,
  // The packages of a node, and with systemd-container and e2fsprogs those that make one; rpm is
  // for its package, busybox-static for its pods. iptables is missing on purpose: kubelet would
  // write its chains into the network that a node shares with the machine.
  include: [
    ...['systemd', 'systemd-sysv', 'dbus', 'ca-certificates', 'iproute2', 'procps', 'util-linux', 'mount', 'openssl'],
    ...['containerd', 'runc', 'systemd-container', 'e2fsprogs', 'rpm', 'busybox-static'],
  ],
  // These units would manage that network too.
  mask: ['systemd-networkd.service', 'systemd-networkd.socket', 'systemd-resolved.service', 'apt-daily.timer', 'apt-daily-upgrade.timer'],
  drop: ['usr/share/locale', 'usr/share/man', 'usr/share/doc', 'etc/dpkg/dpkg.cfg.d/99mmdebstrap'],
})

/** Packages and masks that a root has beside those of each. */
export type RootExtras = Pick<RootRecipe, 'include' | 'mask'>

/**
 * Programs that install the agent on many nodes. Tests run cloud-init's stages by hand, and an
 * sshd on a port of their own.
 */
export const INSTALLERS: RootExtras = {
  include: ['python3', 'python3-apt', 'ansible-core', 'cloud-init', 'curl', 'dnf', 'openssh-client', 'openssh-server'],
  mask: [
    ...['cloud-init-local', 'cloud-init-main', 'cloud-init-network', 'cloud-init', 'cloud-config', 'cloud-final'].map(
      (name) => `${name}.service`,
    ),
    ...['ssh.service', 'ssh.socket', 'dnf-makecache.timer', 'dnf-automatic.timer'],
  ],
}

/** Makes it if need be; later calls return at once. `report` hears what takes time. */
export async function ensureNodeRoot(
  suite: Suite,
  report: (line: string) => void = console.log,
  extras?: RootExtras | undefined,
): Promise<NodeRoot> {
  if (process.getuid?.() !== 0) throw new Error('a node with a real systemd needs root: run the tests as root')
  if (extras !== undefined) return rootOf(withExtras(recipeOf(suite), extras), report)
  return rootOf(suite === TOOLS_SUITE ? undefined : recipeOf(suite), report)
}

function withExtras(recipe: RootRecipe, { include, mask }: RootExtras): RootRecipe {
  return { ...recipe, include: [...recipe.include, ...include], mask: [...recipe.mask, ...mask] }
}

/** As `ensureNodeRoot`, with another recipe. undefined: that of the tools. */
export async function rootOf(recipe: RootRecipe | undefined, report: (line: string) => void = console.log): Promise<NodeRoot> {
  const tools = await ensureTree(recipeOf(TOOLS_SUITE), report)
  const tree = recipe === undefined ? tools : await ensureTree(recipe, report)
  const tool: NodeRoot['tool'] = (name, ...args) => [
    loaderOf(tools),
    '--library-path',
    librariesOf(tools),
    join(tools, PROGRAMS[name]),
    ...args,
  ]
  return { tree, usr: [join(tree, 'usr')], tool }
}

async function ensureTree(recipe: RootRecipe, report: (line: string) => void): Promise<string> {
  const key = createHash('sha256')
    .update(JSON.stringify({ recipe, architecture: process.arch }))
    .digest('hex')
    .slice(0, 16)
  const cache = cacheDirectory()
  const tree = join(cache, `node-${key}`)
  await mkdir(cache, { recursive: true })
  if (!existsSync(tree)) {
    await withLock(join(cache, 'node.lock'), async () => {
      if (!existsSync(tree)) await makeTree(recipe, tree, report)
    })
  }
  return tree
}

const PROGRAMS = { 'systemd-nspawn': 'usr/bin/systemd-nspawn', mke2fs: 'usr/sbin/mke2fs' } as const
const LOADERS: Readonly<Record<string, string>> = { x64: 'ld-linux-x86-64.so.2', arm64: 'ld-linux-aarch64.so.1' }
const TRIPLETS: Readonly<Record<string, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }

function loaderOf(tree: string): string {
  return join(tree, 'usr/lib', TRIPLETS[process.arch] ?? '', LOADERS[process.arch] ?? '')
}

function librariesOf(tree: string): string {
  const libraries = join(tree, 'usr/lib', TRIPLETS[process.arch] ?? '')
  return `${libraries}:${join(libraries, 'systemd')}`
}

/** Beside its place, which it takes whole at the end. */
async function makeTree(recipe: RootRecipe, destination: string, report: (line: string) => void): Promise<void> {
  const work = `${destination}.making`
  const tree = join(work, 'tree')
  await rm(work, { recursive: true, force: true })
  await mkdir(work, { recursive: true })
  report(`making the root of a node with ${recipe.suite} in ${destination}: this takes a minute, once`)
  const packages = await openDebianPackages(join(work, 'apt'))
  await packages.unpack(['mmdebstrap'], join(work, 'tools'))
  const script = join(work, 'tools/usr/bin/mmdebstrap')
  const options = ['--quiet', '--mode=root', '--variant=minbase', `--include=${recipe.include.join(',')}`, '--format=directory']
  // The scratch directories of mmdebstrap may lie where the user _apt cannot look.
  await run('perl', [script, ...options, '--aptopt=APT::Sandbox::User "root"', recipe.suite, tree, packages.sourceLineOf(recipe.suite)], {
    timeoutMs: 20 * 60_000,
  })
  for (const name of recipe.mask) await symlink('/dev/null', join(tree, 'etc/systemd/system', name))
  for (const name of recipe.drop) await rm(join(tree, name), { recursive: true, force: true })
  await writeImage(join(tree, 'bin/busybox'), join(tree, IMAGE_FILE))
  // Filled: an empty one would make systemd take each boot for the first.
  await writeFile(join(tree, 'etc/machine-id'), '0123456789abcdef0123456789abcdef\n')
  await rename(tree, destination)
  await rm(work, { recursive: true })
}

if (import.meta.filename === process.argv[1]) {
  const given = SUITES.filter((suite) => process.argv.includes(suite))
  for (const suite of given.length === 0 ? (['bookworm', 'trixie'] as const) : given) console.log((await ensureNodeRoot(suite)).tree)
  if (given.length === 0) console.log((await ensureNodeRoot('bookworm', console.log, INSTALLERS)).tree)
}
