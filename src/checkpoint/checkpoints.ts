// SPDX-License-Identifier: Apache-2.0
/**
 * The checkpoint store: `checkpoints/<uid>/<resourceVersion>/<one file per key>`, and with an
 * overlay `rendered/<uid>/<resourceVersion>/<overlay>/<one file per key>`. A checkpoint appears
 * complete under its name or not at all, and never changes afterwards. The agent decides what to
 * save, set aside or remove.
 *
 * Layout and bytes are upstream's: `fsstore.go` in Kubernetes 1.20
 * `pkg/kubelet/kubeletconfig/checkpoint/store`.
 */
import { basename, dirname, join } from 'node:path'
import { checkData, checkFile, checkKey, checkOverlay, checkVersion, type NameCheck } from '../decision/safe-names.ts'
import type { Files } from '../ports/files.ts'
import type { Checkpoints } from '../ports/store.ts'
import type { CheckpointFile, CheckpointInfo, ConfigMapData, ContentHash } from '../subject/config-source.ts'
import { contentHash, filesOf, hashFiles } from './content.ts'
import type { TreeFiles } from './disk.ts'
import { isDamagedPath } from './file-error.ts'
import { anyError, type LastingFaults } from './lasting-faults.ts'
import type { Layout } from './layout.ts'
import { type OnSetAside, planSetAside, TREE_SET_ASIDE } from './set-aside.ts'

class CheckpointError extends Error {
  override readonly name = 'CheckpointError'
  readonly code: 'unsafe-name' | 'content-differs'

  constructor(code: CheckpointError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** For hashes that only compare the files. */
const NO_KEY = ''

interface CachedHashes {
  readonly identities: string
  readonly byKey: Map<string, ContentHash>
}

/** The contents that are known as another one. */
interface Alike {
  of(content: ContentHash): ContentHash
  keep(): void
}

export class FileCheckpoints implements Checkpoints {
  readonly #files: TreeFiles
  readonly #layout: Layout
  readonly #onSetAside: OnSetAside
  readonly #faults: LastingFaults
  /** Apart, since the hash of a checkpoint is known without reading its files again. */
  readonly #dataFaults: LastingFaults
  readonly #listFaults: LastingFaults
  readonly #alike: Alike
  /**
   * By path, valid while no file there changes its identity: hashing every checkpoint at every
   * observation would cost too much.
   */
  readonly #hashes = new Map<string, CachedHashes>()
  /**
   * Cached until this store changes something: only the holder of the lock does, and a command
   * lists once. Listing takes longer than the rest of an observation. Where something could not be
   * read, it is listed again.
   */
  #listed: readonly CheckpointInfo[] | undefined

  constructor(
    files: TreeFiles,
    layout: Layout,
    onSetAside: OnSetAside,
    faults: LastingFaults,
    alike: Alike = { of: (content) => content, keep: () => {} },
  ) {
    this.#files = files
    this.#layout = layout
    this.#onSetAside = onSetAside
    this.#faults = faults
    this.#dataFaults = faults.apart()
    this.#listFaults = faults.apart()
    this.#alike = alike
  }

  save(uid: string, resourceVersion: string, data: ConfigMapData, overlay?: string): void {
    const path = this.#checkedPath(uid, resourceVersion, overlay)
    demand(checkData(data))
    if (this.#files.stat(path) !== undefined) {
      const found = this.#hash(path, NO_KEY)
      if (found === contentHash(data, NO_KEY)) return
      if (found !== undefined) {
        throw new CheckpointError(
          'content-differs',
          `checkpoint ${path} exists with different content, which is never overwritten; replace it instead`,
        )
      }
      this.replace(uid, resourceVersion, data, 'it cannot be read, or contains something that is not a file', overlay)
      return
    }
    this.#listed = undefined
    this.#files.makeDirectory(dirname(path))
    this.#files.createTree(path, filesOf(data))
  }

  replace(uid: string, resourceVersion: string, data: ConfigMapData, why: string, overlay?: string): void {
    const path = this.#checkedPath(uid, resourceVersion, overlay)
    demand(checkData(data))
    const aside = this.#planSetAside(path)
    const exists = this.#files.stat(path) !== undefined
    this.#listed = undefined
    this.#files.makeDirectory(dirname(path))
    this.#files.createTree(path, filesOf(data), aside)
    this.#hashes.delete(path)
    if (exists) this.#onSetAside({ path, to: aside, why })
  }

  #planSetAside(path: string): string {
    const directory = dirname(path)
    const { name, surplus } = planSetAside(`${basename(path)}${TREE_SET_ASIDE}`, this.#files.list(directory) ?? [])
    for (const older of surplus) this.#files.removeTree(join(directory, older))
    return join(directory, name)
  }

  content(file: CheckpointFile): ContentHash | undefined {
    if (!checkFile(file).ok) return undefined
    const hash = this.#hash(this.#layout.checkpoint(file.uid, file.resourceVersion, file.overlay), file.kubeletConfigKey)
    return hash && this.#alike.of(hash)
  }

  hasKey(file: CheckpointFile): boolean {
    return checkFile(file).ok && this.#files.stat(this.#layout.file(file))?.kind === 'file'
  }

  knownAs(content: ContentHash): ContentHash {
    return this.#alike.of(content)
  }

  keepKnownAs(): void {
    this.#alike.keep()
  }

  isUnreadable(file: CheckpointFile): boolean {
    return checkFile(file).ok && this.#faults.isLasting(this.#layout.checkpoint(file.uid, file.resourceVersion, file.overlay))
  }

  data(uid: string, resourceVersion: string, overlay?: string): ConfigMapData | undefined {
    const path = this.#checkedPath(uid, resourceVersion, overlay)
    const files = unlessUnreadable(this.#dataFaults, path, () => this.#read(path))
    // Not by assignment, because `__proto__` is a valid key.
    return files && Object.fromEntries([...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]))
  }

  list(): readonly CheckpointInfo[] {
    if (this.#listed !== undefined) return this.#listed
    const { checkpoints, isWhole } = listCheckpoints(this.#files, this.#layout, this.#listFaults)
    if (isWhole) this.#listed = checkpoints
    return checkpoints
  }

  remove(uid: string, resourceVersion: string, overlay?: string): void {
    const path = this.#checkedPath(uid, resourceVersion, overlay)
    this.#listed = undefined
    this.#files.removeTree(path)
    this.#hashes.delete(path)
    const emptied = overlay === undefined ? [dirname(path)] : [dirname(path), dirname(dirname(path))]
    for (const directory of emptied) if (this.#files.list(directory)?.length === 0) this.#files.removeTree(directory)
  }

  path(file: CheckpointFile): string {
    demand(checkKey(file.kubeletConfigKey))
    return join(this.#checkedPath(file.uid, file.resourceVersion, file.overlay), file.kubeletConfigKey)
  }

  #checkedPath(uid: string, resourceVersion: string, overlay: string | undefined): string {
    demand(checkVersion('uid', uid))
    demand(checkVersion('resourceVersion', resourceVersion))
    demand(checkOverlay(overlay))
    return this.#layout.checkpoint(uid, resourceVersion, overlay)
  }

  #hash(path: string, key: string): ContentHash | undefined {
    return unlessUnreadable(this.#faults, path, () => this.#hashReadable(path, key))
  }

  #hashReadable(path: string, key: string): ContentHash | undefined {
    const identities = this.#identities(path)
    if (identities === undefined) return undefined
    let cached = this.#hashes.get(path)
    if (cached?.identities !== identities) {
      cached = { identities, byKey: new Map() }
      this.#hashes.set(path, cached)
    }
    const known = cached.byKey.get(key)
    if (known !== undefined) return known
    const files = this.#read(path)
    if (files === undefined) return undefined
    const hash = hashFiles(files, key)
    cached.byKey.set(key, hash)
    return hash
  }

  /** undefined: not a directory, or it contains something that is not a file. */
  #identities(path: string): string | undefined {
    if (this.#files.stat(path)?.kind !== 'directory') return undefined
    const facts = (this.#files.list(path) ?? []).map((name) => ({ name, stat: this.#files.stat(`${path}/${name}`) }))
    if (facts.some(({ stat }) => stat?.kind !== 'file')) return undefined
    return facts.map(({ name, stat }) => `${name}=${stat?.identity}`).join('\n')
  }

  #read(path: string): Map<string, Uint8Array> | undefined {
    if (this.#identities(path) === undefined) return undefined
    const files = new Map<string, Uint8Array>()
    for (const name of this.#files.list(path) ?? []) {
      const bytes = this.#files.read(`${path}/${name}`)
      if (bytes === undefined) return undefined
      files.set(name, bytes)
    }
    return files
  }
}

/** undefined also: it stays unreadable. */
function unlessUnreadable<T>(faults: LastingFaults, path: string, read: () => T): T | undefined {
  try {
    const found = read()
    faults.worked(path)
    return found
  } catch (cause) {
    if (isDamagedPath(cause) || faults.hasLasted(path, cause)) return undefined
    throw cause
  }
}

function demand(check: NameCheck): void {
  if (!check.ok) throw new CheckpointError('unsafe-name', `${check.detail}; rename it in the cluster`)
}

interface CheckpointList {
  readonly checkpoints: readonly CheckpointInfo[]
  /** Nothing was left out. */
  readonly isWhole: boolean
}

/**
 * By the names in the directory. A checkpoint that stays unreadable is left out: it must not keep
 * the agent from reading the others and deciding. After a single failure nothing is known, and the
 * listing throws.
 *
 * @param faults counted for nothing else: a directory can be listed although a file in it is broken
 */
function listCheckpoints(files: Pick<Files, 'list' | 'stat'>, layout: Layout, faults: LastingFaults): CheckpointList {
  let isWhole = true

  /** undefined: it stays unreadable, or is not of the expected type. */
  const look = <T>(path: string, read: () => T): T | undefined => {
    try {
      const found = read()
      faults.worked(path)
      return found
    } catch (cause) {
      if (isDamagedPath(cause)) return undefined
      if (!faults.hasLasted(path, cause, anyError)) throw cause
      isWhole = false
      return undefined
    }
  }

  /** The entries of a directory that are valid uids or resourceVersions. */
  const namesIn = (directory: string): readonly string[] => {
    const names = look(directory, () => (files.stat(directory)?.kind === 'directory' ? files.list(directory) : undefined))
    return (names ?? []).filter((name) => checkVersion('name', name).ok)
  }

  const inform = (version: Omit<CheckpointInfo, 'savedAtMs'>): readonly CheckpointInfo[] => {
    const path = layout.checkpoint(version.uid, version.resourceVersion, version.overlay)
    const facts = look(path, () => files.stat(path))
    // A checkpoint never changes once it has its name, so its mtime is the time when it was saved.
    return facts?.kind === 'directory' ? [{ ...version, savedAtMs: facts.mtimeMs }] : []
  }

  const versionsIn = (root: string) =>
    namesIn(root).flatMap((uid) => namesIn(join(root, uid)).map((resourceVersion) => ({ uid, resourceVersion })))

  const saved = versionsIn(layout.checkpoints).flatMap(inform)
  const rendered = versionsIn(layout.rendered).flatMap(({ uid, resourceVersion }) =>
    namesIn(join(layout.rendered, uid, resourceVersion))
      .filter((overlay) => checkOverlay(overlay).ok)
      .flatMap((overlay) => inform({ uid, resourceVersion, overlay })),
  )
  return { checkpoints: [...saved, ...rendered], isWhole }
}
