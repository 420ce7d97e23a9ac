// SPDX-License-Identifier: Apache-2.0
/**
 * Sets a state file of one of kubelet's managers aside: renames it next to where it was, as
 * `cpu_manager_state.set-aside-2`, and keeps the last three. Kubelet writes a new one when it
 * starts. Pure; the files are passed in.
 */
import { basename, dirname, join } from 'node:path'
import type { Files } from '../ports/files.ts'
import { planSetAside } from './set-aside.ts'

const KEPT = 3

/** @returns the path that the file has now */
export function setStateAside(files: Pick<Files, 'list' | 'rename' | 'remove'>, path: string): string {
  const directory = dirname(path)
  const { name, surplus } = planSetAside(`${basename(path)}.set-aside-`, files.list(directory) ?? [], KEPT)
  const to = join(directory, name)
  files.rename(path, to)
  for (const old of surplus) files.remove(join(directory, old))
  return to
}
