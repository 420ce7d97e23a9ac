// SPDX-License-Identifier: Apache-2.0
/**
 * Assignments from a directory of manifests, for machines without an API server. Each file must
 * settle before it counts: the first half of a YAML file is often valid YAML, and could mean local.
 * While any file is being written or parsed, the previous assignment stays in effect.
 */

import { isDeepStrictEqual } from 'node:util'
import type { ConfigMapView, Desired } from '../decision/desired.ts'
import { sourcePath } from '../decision/status-texts.ts'
import { SettlingDirectory, type SettlingDirectoryDeps, type Unsettled } from '../directory/settling-directory.ts'
import type { AssignmentSource } from '../ports/assignment-source.ts'
import type { OwnedFiles } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import { errorMessage } from '../values/errors.ts'
import { type ChannelResolution, type ChannelSettings, CONFIG_SOURCE_ONLY } from './channels/resolve.ts'
import type { SourceCounters } from './cluster-source.ts'
import { logAssignment, logConfigMap } from './log-assignment.ts'
import {
  isManifestName,
  type ManifestFile,
  MOST_MANIFESTS_BYTES,
  type ParsedDocuments,
  readManifest,
  resolveManifests,
} from './manifests.ts'

export interface DirectorySourceDeps extends SettlingDirectoryDeps {
  readonly nodeName: string
  /** Default: spec.configSource alone. */
  readonly channels?: ChannelSettings
  readonly files: OwnedFiles
  /** undefined: not parsed yet; `onParsed` is called when it is. */
  readonly parse: (text: string, onParsed: () => void) => ParsedDocuments | undefined
  readonly log: Log
  readonly counters: Pick<SourceCounters, 'synced'>
}

interface TrackedFile {
  readonly manifest: ManifestFile
  /** The bytes that `manifest` was read from; undefined: none yet. */
  readonly bytes: Buffer | undefined
  /** Newer bytes that have not settled yet. */
  readonly settling: Unsettled<Buffer> | undefined
  /** The newer bytes have settled and are being parsed. */
  readonly isParsing?: boolean
  readonly identity: string
}

export class DirectorySource implements AssignmentSource {
  readonly #deps: DirectorySourceDeps
  readonly #directory: SettlingDirectory
  #tracked = new Map<string, TrackedFile>()
  #desired: Desired
  #known: { readonly desired: Desired; readonly resolution: ChannelResolution } | undefined
  #onChange: () => void = () => {}
  #loggedProblems = ''

  constructor(deps: DirectorySourceDeps) {
    this.#deps = deps
    this.#directory = new SettlingDirectory(deps, () => this.#look())
    this.#desired = { kind: 'unknown', detail: `manifests in ${deps.path} have not been read yet` }
  }

  desired(): Desired {
    return this.#desired
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#directory.start()
  }

  async stop(): Promise<void> {
    await this.#directory.stop()
  }

  #look(): void {
    const { path, nodeName, counters } = this.#deps
    const names = this.#list()
    if (typeof names === 'string') {
      this.#tracked.clear()
      this.#conclude({ kind: 'unknown', detail: names }, [names])
      return
    }
    const tracked = names.map((name) => [name, this.#track(name)] as const)
    this.#tracked = new Map(tracked.flatMap(([name, file]) => (file === undefined ? [] : [[name, file]])))
    const files = [...this.#tracked.values()]
    if (files.some(({ settling }) => settling !== undefined)) {
      // A file that is being parsed calls back.
      if (files.some(({ settling, isParsing }) => settling !== undefined && isParsing !== true)) this.#directory.lookAgain()
      return
    }
    counters.synced()
    const manifests = files.map(({ manifest }) => manifest)
    const { desired, resolution } = resolveManifests(manifests, nodeName, this.#deps.channels ?? CONFIG_SOURCE_ONLY)
    const problems = manifests.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${path}/${name}: ${problem}`]))
    this.#conclude(desired, desired.kind === 'unknown' ? [...problems, desired.detail] : problems, resolution)
  }

  /** Returns an error text if the directory cannot be listed. */
  #list(): string[] | string {
    const { path, files } = this.#deps
    try {
      return files.list(path)?.filter(isManifestName) ?? `the directory of manifests ${path} does not exist`
    } catch (error) {
      return `the directory of manifests ${path} cannot be read: ${errorMessage(error)}`
    }
  }

  /** undefined: the file is gone. */
  #track(name: string): TrackedFile | undefined {
    const { path, files } = this.#deps
    const before = this.#tracked.get(name)
    const file = `${path}/${name}`
    let identity: string
    let bytes: Buffer
    try {
      const facts = files.stat(file)
      if (facts === undefined || facts.kind === 'directory') return undefined
      // The target of a symbolic link can change while the link itself stays the same.
      identity = facts.kind === 'file' ? facts.identity : ''
      if (before?.settling === undefined && identity !== '' && identity === before?.identity) return before
      const read = files.read(file, MOST_MANIFESTS_BYTES)
      if (read === undefined) return undefined
      bytes = read
    } catch (error) {
      const manifest = { name, objects: before?.manifest.objects, problem: errorMessage(error) }
      return { manifest, bytes: undefined, settling: undefined, identity: '' }
    }
    if (before?.bytes?.equals(bytes)) return { ...before, identity, settling: undefined }
    const manifest = before?.manifest ?? { name, objects: undefined, problem: 'it is being written' }
    const settling = this.#directory.settle(before?.settling, bytes, (a, b) => a.equals(b))
    if (settling !== undefined) return { manifest, bytes: before?.bytes, settling, identity }
    const parsed = this.#deps.parse(bytes.toString('utf8'), () => this.#directory.look())
    if (parsed === undefined)
      return { manifest, bytes: before?.bytes, settling: before?.settling ?? { content: bytes, sinceMs: 0 }, identity, isParsing: true }
    return { manifest: readFile(name, parsed, manifest.objects), bytes, settling: undefined, identity }
  }

  #conclude(desired: Desired, problems: readonly string[], resolution?: ChannelResolution): void {
    const { log } = this.#deps
    const text = problems.join('; ')
    if (text !== this.#loggedProblems && text !== '')
      log.warn(`some manifests cannot be used, the previous assignment stays in effect: ${text}`)
    this.#loggedProblems = text
    if (isDeepStrictEqual(desired, this.#desired)) return
    this.#desired = desired
    if (resolution !== undefined) this.#logChange(desired, resolution)
    this.#onChange()
  }

  /**
   * Compares with the last known assignment: being unknown in between, as while a file is replaced,
   * is not a change.
   */
  #logChange(desired: Desired, resolution: ChannelResolution): void {
    const { log } = this.#deps
    const before = this.#known
    this.#known = { desired, resolution }
    const isReassigned = !isDeepStrictEqual(before?.resolution, resolution)
    if (isReassigned) logAssignment(log, before?.resolution, resolution)
    if (desired.kind !== 'config-map') return
    const objectBefore: ConfigMapView = !isReassigned && before?.desired.kind === 'config-map' ? before.desired.object : { kind: 'pending' }
    if (!isDeepStrictEqual(objectBefore, desired.object)) logConfigMap(log, sourcePath(desired.ref), objectBefore, desired.object)
  }
}

/** @param before of the file's last good content */
function readFile(name: string, parsed: ParsedDocuments, before: ManifestFile['objects']): ManifestFile {
  const reading = readManifest(parsed)
  return reading.kind === 'good'
    ? { name, objects: reading.objects, problem: undefined }
    : { name, objects: before, problem: reading.detail }
}
