/**
 * The checkpoint store: `checkpoints/<uid>/<resourceVersion>/<one file per key>`. A checkpoint appears whole under its name or not at
 * all, and never changes after. It decides nothing: what to save, set aside or remove is the agent's.
 *
 * Upstream: `fsstore.go` in Kubernetes 1.20 `pkg/kubelet/kubeletconfig/checkpoint/store`, whose layout and bytes these are.
 */
import { join } from 'node:path'
import type { CheckpointInfo, ConfigMapData, ContentHash } from '../agent/model.ts'
import type { CheckpointFile, Checkpoints } from '../agent/ports.ts'
import { contentHash, filesOf, hashFiles } from './content.ts'
import type { TreeFiles } from './disk.ts'
import { FileError, isDamage } from './file-error.ts'
import type { LastingFaults } from './lasting-faults.ts'
import type { Layout, NameCheck } from './names.ts'
import { checkData, checkFile, checkKey, checkVersion } from './names.ts'
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

  constructor(files: TreeFiles, layout: Layout, onSetAside: OnSetAside, faults: LastingFaults) {
    this.#files = files
    this.#layout = layout
    this.#onSetAside = onSetAside
    this.#faults = faults
  }

  save(uid: string, resourceVersion: string, data: ConfigMapData): void {
    const path = this.#checkedPath(uid, resourceVersion)
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
      this.replace(uid, resourceVersion, data, 'it cannot be read, or holds something that is not a file')
      return
    }
    this.#files.makeDirectory(this.#layout.checkpointsOf(uid))
    this.#files.createTree(path, filesOf(data))
  }

  replace(uid: string, resourceVersion: string, data: ConfigMapData, why: string): void {
    const path = this.#checkedPath(uid, resourceVersion)
    demand(checkData(data))
    const aside = this.#planSetAside(uid, resourceVersion)
    const exists = this.#files.stat(path) !== undefined
    this.#files.makeDirectory(this.#layout.checkpointsOf(uid))
    this.#files.createTree(path, filesOf(data), aside)
    this.#hashes.delete(path)
    if (exists) this.#onSetAside({ path, to: aside, why })
  }

  #planSetAside(uid: string, resourceVersion: string): string {
    const directory = this.#layout.checkpointsOf(uid)
    const { name, surplus } = planSetAside(`${resourceVersion}${SET_ASIDE}`, this.#files.list(directory) ?? [])
    for (const older of surplus) this.#files.removeTree(join(directory, older))
    return join(directory, name)
  }

  content(file: CheckpointFile): ContentHash | undefined {
    if (!checkFile(file).ok) return undefined
    return this.#hash(this.#layout.checkpoint(file.uid, file.resourceVersion), file.kubeletConfigKey)
  }

  isUnreadable(file: CheckpointFile): boolean {
    return checkFile(file).ok && this.#faults.isLasting(this.#layout.checkpoint(file.uid, file.resourceVersion))
  }

  data(uid: string, resourceVersion: string): ConfigMapData | undefined {
    const files = this.#read(this.#checkedPath(uid, resourceVersion))
    // Not by assignment: `__proto__` is a legal key.
    return files && Object.fromEntries([...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]))
  }

  list(): CheckpointInfo[] {
    const found: CheckpointInfo[] = []
    for (const uid of this.#names(this.#layout.checkpoints)) {
      for (const resourceVersion of this.#listVersions(uid)) {
        const facts = this.#files.stat(this.#layout.checkpoint(uid, resourceVersion))
        // Nothing is added to a checkpoint once it has its name, so that its mtime is when it was saved.
        if (facts?.kind === 'directory') found.push({ uid, resourceVersion, savedAtMs: facts.mtimeMs })
      }
    }
    return found
  }

  /** One directory that cannot be read is no reason not to look at the others, or not to decide. */
  #listVersions(uid: string): readonly string[] {
    try {
      const directory = this.#layout.checkpointsOf(uid)
      return this.#files.stat(directory)?.kind === 'directory' ? this.#names(directory) : []
    } catch (cause) {
      if (cause instanceof FileError) return []
      throw cause
    }
  }

  remove(uid: string, resourceVersion: string): void {
    const path = this.#checkedPath(uid, resourceVersion)
    this.#files.removeTree(path)
    this.#hashes.delete(path)
    const directory = this.#layout.checkpointsOf(uid)
    if (this.#files.list(directory)?.length === 0) this.#files.removeTree(directory)
  }

  path(file: CheckpointFile): string {
    demand(checkKey(file.kubeletConfigKey))
    return join(this.#checkedPath(file.uid, file.resourceVersion), file.kubeletConfigKey)
  }

  #checkedPath(uid: string, resourceVersion: string): string {
    demand(checkVersion('uid', uid))
    demand(checkVersion('resourceVersion', resourceVersion))
    return this.#layout.checkpoint(uid, resourceVersion)
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
