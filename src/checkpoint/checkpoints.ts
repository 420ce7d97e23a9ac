/**
 * The checkpoint store: `checkpoints/<uid>/<resourceVersion>/<one file per key>`, and for what an overlay makes of one
 * `rendered/<uid>/<resourceVersion>/<overlay>/<one file per key>`. Either appears whole under its name or not at all, and never changes
 * after. It decides nothing: what to save, set aside or remove is the agent's.
 *
 * Upstream: `fsstore.go` in Kubernetes 1.20 `pkg/kubelet/kubeletconfig/checkpoint/store`, whose layout and bytes these are.
 */
import { basename, dirname, join } from 'node:path'
import type { CheckpointFile, CheckpointInfo, ConfigMapData, ContentHash } from '../decision/config-source.ts'
import type { Checkpoints } from '../ports/store.ts'
import { contentHash, filesOf, hashFiles } from './content.ts'
import type { TreeFiles } from './disk.ts'
import { FileError, isDamage } from './file-error.ts'
import type { LastingFaults } from './lasting-faults.ts'
import type { Layout, NameCheck } from './layout.ts'
import { checkData, checkFile, checkKey, checkOverlay, checkVersion } from './layout.ts'
import type { OnSetAside } from './set-aside.ts'
import { planSetAside } from './set-aside.ts'

export class CheckpointError extends Error {
  override readonly name = 'CheckpointError'
  readonly code: 'unsafe-name' | 'content-differs'

  constructor(code: CheckpointError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Not a character of a uid or resourceVersion, so that what was set aside cannot be taken for a checkpoint. */
const SET_ASIDE = '~set-aside-'
/** Hashing does not need a real key where only the files are compared. */
const NO_KEY = ''

interface CachedHashes {
  readonly identities: string
  readonly byKey: Map<string, ContentHash>
}

export class FileCheckpoints implements Checkpoints {
  readonly #files: TreeFiles
  readonly #layout: Layout
  readonly #onSetAside: OnSetAside
  readonly #faults: LastingFaults
  /** By path, as long as no file there changes its identity: hashing every checkpoint at every look would cost too much. */
  readonly #hashes = new Map<string, CachedHashes>()
  /** Until this store changes something: nobody but the holder of the lock does, and a command looks once. Listing takes longer than the rest of a look. */
  #listed: readonly CheckpointInfo[] | undefined

  constructor(files: TreeFiles, layout: Layout, onSetAside: OnSetAside, faults: LastingFaults) {
    this.#files = files
    this.#layout = layout
    this.#onSetAside = onSetAside
    this.#faults = faults
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
          `checkpoint ${path} exists with other content, which is never overwritten; it can only be replaced`,
        )
      }
      this.replace(uid, resourceVersion, data, 'it cannot be read, or holds something that is not a file', overlay)
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
    const { name, surplus } = planSetAside(`${basename(path)}${SET_ASIDE}`, this.#files.list(directory) ?? [])
    for (const older of surplus) this.#files.removeTree(join(directory, older))
    return join(directory, name)
  }

  content(file: CheckpointFile): ContentHash | undefined {
    if (!checkFile(file).ok) return undefined
    return this.#hash(this.#layout.checkpoint(file.uid, file.resourceVersion, file.overlay), file.kubeletConfigKey)
  }

  isUnreadable(file: CheckpointFile): boolean {
    return checkFile(file).ok && this.#faults.isLasting(this.#layout.checkpoint(file.uid, file.resourceVersion, file.overlay))
  }

  data(uid: string, resourceVersion: string, overlay?: string): ConfigMapData | undefined {
    const files = this.#read(this.#checkedPath(uid, resourceVersion, overlay))
    // Not by assignment: `__proto__` is a legal key.
    return files && Object.fromEntries([...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]))
  }

  list(): readonly CheckpointInfo[] {
    this.#listed ??= [...this.#listSaved(), ...this.#listRendered()]
    return this.#listed
  }

  #listSaved(): CheckpointInfo[] {
    const { checkpoints } = this.#layout
    return this.#names(checkpoints).flatMap((uid) =>
      this.#namesIn(join(checkpoints, uid)).flatMap((resourceVersion) => this.#info({ uid, resourceVersion })),
    )
  }

  #listRendered(): CheckpointInfo[] {
    const { rendered } = this.#layout
    return this.#names(rendered).flatMap((uid) =>
      this.#namesIn(join(rendered, uid)).flatMap((resourceVersion) =>
        this.#namesIn(join(rendered, uid, resourceVersion))
          .filter((overlay) => checkOverlay(overlay).ok)
          .flatMap((overlay) => this.#info({ uid, resourceVersion, overlay })),
      ),
    )
  }

  #info(version: Omit<CheckpointInfo, 'savedAtMs'>): CheckpointInfo[] {
    const facts = this.#files.stat(this.#layout.checkpoint(version.uid, version.resourceVersion, version.overlay))
    // Nothing is added to a checkpoint once it has its name, so that its mtime is when it was saved.
    return facts?.kind === 'directory' ? [{ ...version, savedAtMs: facts.mtimeMs }] : []
  }

  /** One directory that cannot be read is no reason not to look at the others, or not to decide. */
  #namesIn(directory: string): readonly string[] {
    try {
      return this.#files.stat(directory)?.kind === 'directory' ? this.#names(directory) : []
    } catch (cause) {
      if (cause instanceof FileError) return []
      throw cause
    }
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

  /** Directory entries that are names of uids or resourceVersions. */
  #names(directory: string): string[] {
    return (this.#files.list(directory) ?? []).filter((name) => checkVersion('name', name).ok)
  }

  #hash(path: string, key: string): ContentHash | undefined {
    try {
      const hash = this.#hashReadable(path, key)
      this.#faults.worked(path)
      return hash
    } catch (cause) {
      if (isDamage(cause) || this.#faults.hasLasted(path, cause)) return undefined
      throw cause
    }
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

  /** undefined: no directory there, or something in it that is not a file. */
  #identities(path: string): string | undefined {
    if (this.#files.stat(path)?.kind !== 'directory') return undefined
    const facts = (this.#files.list(path) ?? []).map((name) => ({ name, stat: this.#files.stat(join(path, name)) }))
    if (facts.some(({ stat }) => stat?.kind !== 'file')) return undefined
    return facts.map(({ name, stat }) => `${name}=${stat?.identity}`).join('\n')
  }

  #read(path: string): Map<string, Uint8Array> | undefined {
    if (this.#identities(path) === undefined) return undefined
    const files = new Map<string, Uint8Array>()
    for (const name of this.#files.list(path) ?? []) {
      const bytes = this.#files.read(join(path, name))
      if (bytes === undefined) return undefined
      files.set(name, bytes)
    }
    return files
  }
}

function demand(check: NameCheck): void {
  if (!check.ok) throw new CheckpointError('unsafe-name', `${check.detail}; rename it in the cluster`)
}
