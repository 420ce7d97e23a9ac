/**
 * Asks the candidate's container runtime whether it answers and which cgroup driver it uses. Where
 * it does not tell (containerd before 2.0), containerd's config file does. Never throws. It takes
 * as long as the calls of CRI may take, 10 s each for a runtime that hangs.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { posix } from 'node:path'
import type { ContainerRuntime } from '../../ports/probes.ts'
import { CONTAINERD_CONFIG, CONTAINERD_SOCKET, type ContainerdFile, findCgroupDriver, readContainerdFile } from './containerd-config.ts'
import type { RuntimeCgroup, RuntimeFacts } from './runtime-facts.ts'

const LONGEST_FILE = 1 << 20
const MOST_FILES = 50

/** @param root of all paths of files; `/` except in tests */
export async function readRuntime(
  socket: string,
  runtime: Pick<ContainerRuntime, 'probe' | 'cgroupDriver'>,
  root = '/',
): Promise<RuntimeFacts> {
  const answer = await runtime.probe(socket)
  if (!answer.ok) return { fault: { why: answer.why, detail: answer.detail }, cgroup: undefined }
  const told = await runtime.cgroupDriver(socket)
  if (!told.ok) return { fault: undefined, cgroup: undefined }
  if (told.value !== 'not-offered') return { fault: undefined, cgroup: { driver: told.value, from: 'answer' } }
  return { fault: undefined, cgroup: socket === CONTAINERD_SOCKET ? await readContainerd(socket, root).catch(() => undefined) : undefined }
}

/** An image service may know nothing of CRI but images: then it answers, too. Never throws. */
export async function readImageService(socket: string, runtime: Pick<ContainerRuntime, 'probe'>): Promise<Pick<RuntimeFacts, 'fault'>> {
  const answer = await runtime.probe(socket)
  return { fault: answer.ok || answer.why === 'not-cri' ? undefined : { why: answer.why, detail: answer.detail } }
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
