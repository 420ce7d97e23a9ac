// SPDX-License-Identifier: Apache-2.0
/**
 * The files that other programs merge with the config of the agent, as a part of kubelet's
 * identity: the drop-ins of `--config-dir`, and the file of `--config` where the agent adds one of
 * them. When one of these files changes, the same config is another one to kubelet. Pure; files are
 * passed in.
 */
import { createHash } from 'node:crypto'
import { type DropInsAround, listDropInsAround } from '../kubelet/drop-in-files.ts'
import type { Files } from '../ports/files.ts'
import { errorCode } from '../values/errors.ts'

export interface MergedPaths {
  readonly directory: string
  /** The drop-in of the agent. It does not count, and need not be there. */
  readonly own: string
  /** The file that is under the drop-ins. undefined: the agent's config is in its place */
  readonly base: string | undefined
}

/** Returns a text that changes with any of these files. */
export type IdentifyMerged = (paths: MergedPaths) => string

type MergedTree = Pick<Files, 'read' | 'list' | 'stat'>

interface Hashed {
  /** undefined: read the file each time. A link does not show changes of its target. */
  readonly stat: string | undefined
  readonly hash: string
}

/** Many more than a node has. */
const REMEMBERED = 100

/**
 * A file that the disk does not return now counts as it was: that must not make another kubelet.
 */
export class MergedFiles {
  readonly #files: MergedTree
  readonly #hashed = new Map<string, Hashed>()
  #listed: DropInsAround = { below: [], above: [] }

  constructor(files: MergedTree) {
    this.#files = files
  }

  identify({ directory, own, base }: MergedPaths): string {
    this.#listed = this.#orBefore(this.#listed, () => listDropInsAround(own, directory, this.#files))
    const { below, above } = this.#listed
    const hashes = [base === undefined ? [] : [base], below, above].map((paths) => paths.map((path) => this.#hash(path)))
    return createHash('sha256').update(JSON.stringify(hashes)).digest('hex')
  }

  #hash(path: string): string {
    const before = this.#hashed.get(path)
    const hashed = this.#orBefore(before ?? { stat: undefined, hash: 'not read' }, () => {
      const facts = this.#files.stat(path)
      const stat = facts?.kind === 'file' ? facts.identity : undefined
      if (before !== undefined && stat !== undefined && before.stat === stat) return before
      const bytes = this.#files.read(path)
      return { stat, hash: bytes === undefined ? 'missing' : createHash('sha256').update(bytes).digest('hex') }
    })
    this.#hashed.delete(path)
    this.#hashed.set(path, hashed)
    const [oldest] = this.#hashed.keys()
    if (this.#hashed.size > REMEMBERED && oldest !== undefined) this.#hashed.delete(oldest)
    return hashed.hash
  }

  #orBefore<T>(before: T, read: () => T): T {
    try {
      return read()
    } catch (error) {
      if (errorCode(error) === undefined) throw error
      return before
    }
  }
}
