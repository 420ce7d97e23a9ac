// SPDX-License-Identifier: Apache-2.0
/**
 * Which files kubelet merges over its config file, and in which order: those of `--config-dir`.
 * Rules: `mergeKubeletConfigurations`, cmd/kubelet/app/server.go (1.30 to 1.37): `filepath.WalkDir`
 * goes through the directory and those below it in lexical order, follows no link to a directory,
 * and takes every file whose name ends in `.conf`. Pure; files are passed in.
 */
import { posix } from 'node:path'
import type { Files } from '../ports/files.ts'
import { codedError } from '../values/errors.ts'

type DropInTree = Pick<Files, 'list' | 'stat'>

/** Paths, in the order in which kubelet merges them. Throws where the directory is missing. */
export function listDropInFiles(directory: string, tree: DropInTree): readonly string[] {
  return listFiles(directory, tree).filter(isRead)
}

/** The other files there, but for those that somebody has set aside. */
export function listSkippedFiles(directory: string, tree: DropInTree): readonly string[] {
  return listFiles(directory, tree).filter((path) => !isRead(path) && !SET_ASIDE.test(posix.basename(path)))
}

const isRead = (path: string) => path.endsWith('.conf')

/** Hidden files, and the names that editors, packages and people give to what is not to count. */
const SET_ASIDE = /^\.|~$|\.(?:bak|backup|disabled|example|md|off|old|orig|rpm\w+|dpkg-\w+|ucf-\w+|sample|save|swp|tmp|\d+)$/i

function listFiles(directory: string, tree: DropInTree): readonly string[] {
  // A relative path begins in the working directory of a service, systemd.exec(5).
  return walk(posix.resolve('/', directory), tree)
}

function walk(path: string, tree: DropInTree): string[] {
  const facts = tree.stat(path)
  if (facts === undefined) throw codedError('ENOENT', 'it does not exist')
  if (facts.kind === 'directory') return (tree.list(path) ?? []).flatMap((name) => walk(posix.join(path, name), tree))
  return [path]
}

/** The drop-ins of others, before and after one that is directly in the directory. */
export interface DropInsAround {
  readonly below: readonly string[]
  readonly above: readonly string[]
}

/** Without a directory there are none. */
export function listDropInsAround(own: string, directory: string, tree: DropInTree): DropInsAround {
  if (tree.stat(directory) === undefined) return { below: [], above: [] }
  const others = listDropInFiles(directory, tree).filter((path) => path !== own)
  return { below: others.filter((path) => isMergedBefore(path, own)), above: others.filter((path) => !isMergedBefore(path, own)) }
}

/** Whether kubelet merges the file before one that is directly in the directory. */
export function isMergedBefore(path: string, own: string): boolean {
  // `filepath.WalkDir` sorts the names of one directory.
  const [first = ''] = posix.relative(posix.dirname(own), path).split('/')
  return first < posix.basename(own)
}
