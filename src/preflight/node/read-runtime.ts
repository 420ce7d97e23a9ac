// SPDX-License-Identifier: Apache-2.0
/**
 * Asks the candidate's container runtime whether it answers and which cgroup driver it uses. Where
 * it does not tell (containerd before 2.0), containerd's config file does. Never throws. It takes
 * as long as the calls of CRI may take, 10 s each for a runtime that hangs.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { posix } from 'node:path'
import type { CgroupDriver, ContainerRuntime } from '../../ports/probes.ts'
import { parseToml, type TomlEntries, type TomlValue, tomlPath } from '../../values/toml.ts'
import type { ImageServiceFacts, RuntimeCgroup, RuntimeFacts } from './surroundings.ts'

const LONGEST_FILE = 1 << 20
const MOST_FILES = 50

/** @param root of all paths of files; `/` except in tests */
export async function readRuntime(
  socket: string,
  runtime: Pick<ContainerRuntime, 'probe' | 'cgroupDriver' | 'imageDirectory'>,
  root = '/',
): Promise<RuntimeFacts> {
  const answer = await runtime.probe(socket)
  if (!answer.ok) return { fault: { why: answer.why, detail: answer.detail }, cgroup: undefined }
  const [cgroup, imageDirectory] = [await readCgroup(socket, runtime, root), await readImageDirectory(socket, runtime)]
  return { fault: undefined, cgroup, ...imageDirectory }
}

async function readCgroup(socket: string, runtime: Pick<ContainerRuntime, 'cgroupDriver'>, root: string): Promise<RuntimeFacts['cgroup']> {
  const told = await runtime.cgroupDriver(socket)
  if (!told.ok) return undefined
  if (told.value !== 'not-offered') return { driver: told.value, from: 'answer' }
  return socket === CONTAINERD_SOCKET ? await readContainerd(socket, root).catch(() => undefined) : undefined
}

async function readImageDirectory(
  socket: string,
  runtime: Pick<ContainerRuntime, 'imageDirectory'>,
): Promise<Pick<RuntimeFacts, 'imageDirectory'>> {
  const told = await runtime.imageDirectory(socket)
  return told.ok && told.value?.startsWith('/') === true ? { imageDirectory: told.value } : {}
}

/** An image service may know nothing of CRI but images: then it answers, too. Never throws. */
export async function readImageService(
  socket: string,
  runtime: Pick<ContainerRuntime, 'probe' | 'imageDirectory'>,
): Promise<ImageServiceFacts> {
  const answer = await runtime.probe(socket)
  if (!answer.ok && answer.why !== 'not-cri') return { fault: { why: answer.why, detail: answer.detail } }
  return { fault: undefined, ...(await readImageDirectory(socket, runtime)) }
}

async function readContainerd(socket: string, root: string): Promise<RuntimeCgroup | undefined> {
  const main = await readOne(CONTAINERD_CONFIG, root)
  // Another containerd, or one that was started with another file.
  if (main === undefined || (main.address ?? CONTAINERD_SOCKET) !== socket) return undefined
  const paths = (await Promise.all(main.imports.map((path) => expand(posix.resolve(posix.dirname(CONTAINERD_CONFIG), path), root)))).flat()
  if (paths.length > MOST_FILES) return undefined
  const imported = await Promise.all(paths.map((path) => readOne(path, root)))
  // Imports of imports: their order is not worth following.
  if (imported.some((file) => file === undefined || file.imports.length > 0)) return undefined
  const driver = findCgroupDriver([main, ...imported])
  return driver && { driver, from: 'file' }
}

async function readOne(path: string, root: string): Promise<ContainerdFile | undefined> {
  const at = posix.join(root, path)
  const { size } = await stat(at)
  return size > LONGEST_FILE ? undefined : readContainerdFile(await readFile(at, 'utf8'))
}

/** The wildcards of filepath.Match in the last part of a path. Throws for others. */
async function expand(path: string, root: string): Promise<string[]> {
  const folder = posix.dirname(path)
  const pattern = posix.basename(path)
  if (/[*?[\\]/.test(folder) || /[[\\]/.test(pattern)) throw new Error(`unusual import ${path}`)
  if (!/[*?]/.test(pattern)) return [path]
  const like = new RegExp(
    `^${pattern
      .replace(/[.+^${}()|]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  )
  const names = await readdir(posix.join(root, folder)).catch(() => [])
  return names.filter((name) => like.test(name)).map((name) => posix.join(folder, name))
}

/**
 * Which cgroup driver containerd's config file gives to its default runtime. Needed where
 * containerd does not tell kubelet (before 2.0). Reads the versions 2 and 3 of the file
 * (containerd's docs/PLUGINS.md and docs/cri/config.md). An unusual file counts as unknown.
 */
const CONTAINERD_CONFIG = '/etc/containerd/config.toml'
/** Where containerd listens if its config names no other (`grpc.address`). */
const CONTAINERD_SOCKET = '/run/containerd/containerd.sock'

/** The CRI plugin's table by the version of the file. */
const CRI_TABLES: ReadonlyMap<string, string> = new Map([
  ['2', 'io.containerd.grpc.v1.cri'],
  ['3', 'io.containerd.cri.v1.runtime'],
])

/** A driver that is unknown does not make the file unreadable. */
interface ContainerdFile {
  /** Files that it includes. Paths may have the wildcards of glob(7). */
  readonly imports: readonly string[]
  /** `grpc.address`. undefined: the default. */
  readonly address: string | undefined
  /** Whether the file configures the CRI plugin. A file with that table replaces it as a whole. */
  readonly hasPlugin: boolean
  /** undefined: unknown. */
  readonly driver: CgroupDriver | undefined
}

/** undefined: it cannot be understood. */
export function readContainerdFile(text: string): ContainerdFile | undefined {
  const entries = tryParse(text)
  if (entries === undefined) return undefined
  const imports = entries.get(tomlPath('imports')) ?? []
  const address = entries.get(tomlPath('grpc', 'address'))
  if (!Array.isArray(imports) || (address !== undefined && typeof address !== 'string')) return undefined
  const paths = imports.filter((path) => typeof path === 'string')
  return { imports: paths, address: address === '' ? undefined : address, ...readPlugin(entries) }
}

/**
 * The driver in the main file and those that it imports. An imported file with the CRI plugin
 * replaces that table in some releases and merges it in others: then both have to agree.
 */
export function findCgroupDriver(files: readonly (ContainerdFile | undefined)[]): CgroupDriver | undefined {
  if (files.some((file) => file === undefined)) return undefined
  const plugins = files.filter((file) => file?.hasPlugin === true)
  const drivers = new Set((plugins.length === 0 ? files : plugins).map((file) => file?.driver))
  const [driver] = drivers
  return drivers.size === 1 ? driver : undefined
}

function readPlugin(entries: TomlEntries): Pick<ContainerdFile, 'hasPlugin' | 'driver'> {
  const version = entries.get(tomlPath('version'))
  const table = CRI_TABLES.get(typeof version === 'object' && 'word' in version ? version.word : '')
  const isPluginOf = (name: string) => [...entries.keys()].some((path) => path.startsWith(`${tomlPath('plugins', name).slice(0, -1)},`))
  const others = [...CRI_TABLES.values()].filter((name) => name !== table)
  // A table of another version, which releases take in different ways.
  if (table === undefined || others.some(isPluginOf)) return { hasPlugin: [...CRI_TABLES.values()].some(isPluginOf), driver: undefined }
  const at = (...keys: readonly string[]) => tomlPath('plugins', table, ...keys)
  const hasPlugin = isPluginOf(table)
  const runtime = entries.get(at('containerd', 'default_runtime_name')) ?? 'runc'
  if (typeof runtime !== 'string') return { hasPlugin, driver: undefined }
  const own = (...keys: readonly string[]) => entries.get(at('containerd', 'runtimes', runtime, ...keys))
  const type = own('runtime_type') ?? (runtime === 'runc' ? RUNC : undefined)
  // Older settings that win over the tables of the runtimes, and options in a file of their own.
  const overrides = [at('systemd_cgroup'), at('containerd', 'default_runtime', 'runtime_type')].map((path) => entries.get(path))
  const isPlain = type === RUNC && [...overrides, own('options', 'ConfigPath')].every(isUnset)
  return { hasPlugin, driver: isPlain ? toDriver(own('options', 'SystemdCgroup')) : undefined }
}

/**
 * The runtime whose options have SystemdCgroup, false by default (containerd's docs/cri/config.md).
 */
const RUNC = 'io.containerd.runc.v2'

function isUnset(value: TomlValue | undefined): boolean {
  return value === undefined || value === '' || value === false
}

function toDriver(isSystemd: TomlValue | undefined): CgroupDriver | undefined {
  if (isSystemd === undefined || isSystemd === false) return 'cgroupfs'
  return isSystemd === true ? 'systemd' : undefined
}

function tryParse(text: string): TomlEntries | undefined {
  try {
    return parseToml(text)
  } catch {
    return undefined
  }
}
