// SPDX-License-Identifier: Apache-2.0
/**
 * Adopts a directory that kubelet's own Dynamic Kubelet Configuration left behind. kubelet kept
 * `meta/` and `checkpoints/` one level deeper, in `store/`. They are copied to the agent's layout,
 * then `store` is renamed: after a crash at any point kubelet's copy is complete and adoption
 * starts again. The agent's own files are never overwritten, but for empty records where it has no
 * others: an agent that ran without `--adopt` before opened them so (`openRecords`). Records and
 * configs are validated later, when they are read.
 *
 * Upstream: `storeDir` in Kubernetes 1.20 `pkg/kubelet/kubeletconfig/controller.go`; `tmp_` is the
 * prefix of `util/files`.
 */
import { join } from 'node:path'
import { SOURCE_NAMES, type SourceName } from '../decision/records.ts'
import { checkKey, checkVersion } from '../decision/safe-names.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { Checkpoints } from '../ports/store.ts'
import type { Unit } from '../ports/unit.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import type { UnitState } from '../subject/unit-state.ts'
import { HOUR_US, MINUTE_US } from '../values/durations.ts'
import type { Layout } from './layout.ts'
import { parseMarker, renderMarker } from './serialize.ts'
import { planSetAside } from './set-aside.ts'

const RECORDS = ['last-known-good', 'assigned'] as const

interface Adopted {
  readonly checkpoints: number
  /** Things that were not adopted, each with the reason; for the log. */
  readonly remarks: readonly string[]
}

/** The directory to adopt. undefined: there is none. */
export function findKubeletStore(files: Files, layout: Layout): string | undefined {
  const store = join(layout.directory, 'store')
  return files.stat(join(store, 'meta'))?.kind === 'directory' ? store : undefined
}

/** Must be called before anything else reads the directory. */
export function adoptKubeletStore(files: Files, checkpoints: Checkpoints, layout: Layout): Adopted {
  const remarks: string[] = []
  const store = findKubeletStore(files, layout)
  if (store === undefined) return { checkpoints: 0, remarks }
  const found = listStored(files, join(store, 'checkpoints'), remarks)
  for (const { uid, resourceVersion, data } of found) {
    if (checkpoints.data(uid, resourceVersion) === undefined) checkpoints.save(uid, resourceVersion, data)
  }
  files.makeDirectory(layout.meta)
  // `assigned` comes last. The bytes are copied unchanged: a damaged record must be found damaged,
  // not lost.
  const records = readRecords(files, layout, store)
  const isUnused = records.every(isFree)
  const isAdopted = ({ own }: RecordPair) => own === undefined || (isUnused && own.length === 0)
  markAdopted(files, layout, records.filter(isAdopted))
  for (const record of records) {
    const { name, bytes, own } = record
    if (bytes === undefined) continue
    if (isAdopted(record)) files.replace(layout.record(name), bytes)
    else if (own?.equals(bytes) === false) remarks.push(`the agent already has a record ${name}; kubelet's own was not adopted`)
  }
  const { name } = planSetAside('store.adopted-', files.list(layout.directory) ?? [])
  files.rename(store, join(layout.directory, name))
  return { checkpoints: found.length, remarks }
}

/** In kubelet's own records, an empty file means local. */
function markAdopted(files: Files, layout: Layout, adopted: readonly RecordPair[]): void {
  const marked = parseMarker(files.read(layout.localMarker) ?? Buffer.alloc(0))
  const lengthOf = (name: SourceName) => adopted.find((record) => record.name === name)?.bytes?.length
  const isLocal = (name: SourceName) => (lengthOf(name) ?? (marked?.has(name) === true ? 0 : 1)) === 0
  files.replace(layout.localMarker, renderMarker(SOURCE_NAMES.filter(isLocal), marked))
}

/** Whether there is a store, and the agent has no config of its own in place of kubelet's. */
function isAdoptionOpen(files: Files, layout: Layout): boolean {
  const store = findKubeletStore(files, layout)
  return store !== undefined && readRecords(files, layout, store).every(isFree)
}

interface RecordPair {
  readonly name: (typeof RECORDS)[number]
  /** The bytes of kubelet's record. */
  readonly bytes: Buffer | undefined
  /** The bytes of the agent's own record. */
  readonly own: Buffer | undefined
}

function readRecords(files: Files, layout: Layout, store: string): readonly RecordPair[] {
  return RECORDS.map((name) => ({ name, bytes: files.read(join(store, 'meta', name)), own: files.read(layout.record(name)) }))
}

/** The agent's own record names no config, or the one that was copied from kubelet's. */
function isFree({ bytes, own }: RecordPair): boolean {
  return own === undefined || own.length === 0 || (bytes !== undefined && own.equals(bytes))
}

interface Stored {
  readonly uid: string
  readonly resourceVersion: string
  readonly data: ConfigMapData
}

function listStored(files: Files, root: string, remarks: string[]): Stored[] {
  const stored: Stored[] = []
  for (const uid of files.list(root) ?? []) {
    if (files.stat(join(root, uid))?.kind !== 'directory') continue
    for (const resourceVersion of files.list(join(root, uid)) ?? []) {
      // A temporary directory of kubelet.
      if (resourceVersion.startsWith('tmp_')) continue
      const data = readStored(files, join(root, uid, resourceVersion))
      const safe = checkVersion('uid', uid).ok && checkVersion('resourceVersion', resourceVersion).ok
      if (safe && data !== undefined) stored.push({ uid, resourceVersion, data })
      else remarks.push(`${join(root, uid, resourceVersion)} is not a checkpoint of kubelet and was not adopted`)
    }
  }
  return stored
}

/** undefined: not a directory of regular files whose names are valid keys. */
function readStored(files: Files, directory: string): ConfigMapData | undefined {
  if (files.stat(directory)?.kind !== 'directory') return undefined
  const data = new Map<string, string>()
  for (const key of files.list(directory) ?? []) {
    const path = join(directory, key)
    const bytes = checkKey(key).ok && files.stat(path)?.kind === 'file' ? files.read(path) : undefined
    if (bytes === undefined) return undefined
    data.set(key, bytes.toString())
  }
  return Object.fromEntries(data)
}

interface AdoptionParts {
  /** Whether the settings say so. */
  readonly adopt: boolean
  readonly stores: {
    readonly files: Files
    readonly layout: Layout
    readonly checkpoints: Checkpoints
    readonly unit: Pick<Unit, 'observe'>
  }
  readonly clock: Clock
  /** How long the agent has run. */
  readonly uptimeUs: () => number
  readonly log: Log
}

interface Adoption {
  /**
   * Why what had to stay can be taken over now. That takes a new life of the agent, in which
   * nothing has read the directory yet. undefined: it cannot, or nothing had to stay.
   */
  findOccasion(unit: UnitState): string | undefined
}

const NOTHING_LEFT: Adoption = { findOccasion: () => undefined }
/**
 * The disk may have been full, or read-only, for a moment. The longer the agent has run, the less
 * often it starts over for that.
 */
function retryAfterUs(uptimeUs: number): number {
  return Math.min(Math.max(uptimeUs, MINUTE_US), HOUR_US)
}

/**
 * Takes over what is there, unless kubelet may still use it: at its next start, kubelet would find
 * no store, and make an empty one, without its last-known-good. Must be called before anything else
 * reads the directory.
 */
export async function openAdoption({ adopt, stores, clock, uptimeUs, log }: AdoptionParts): Promise<Adoption> {
  const { files, layout, checkpoints, unit } = stores
  const store = findKubeletStore(files, layout)
  if (store === undefined) return NOTHING_LEFT
  if (!adopt) {
    log.warn(`${layout.directory} holds checkpoints of kubelet's own dynamic configuration; start with --adopt to take them over`)
    return NOTHING_LEFT
  }
  const obstacle = findUser(await unit.observe())
  if (obstacle !== undefined) {
    log.warn(`${store} is not taken over yet: ${obstacle}`)
    const occasion = 'kubelet no longer uses its own dynamic configuration, so it can be taken over'
    return { findOccasion: (seen) => (findUser(seen) === undefined ? occasion : undefined) }
  }
  try {
    const { checkpoints: count, remarks } = adoptKubeletStore(files, checkpoints, layout)
    if (count > 0) log.info(`adopted ${count} checkpoints that kubelet left behind`)
    for (const remark of remarks) log.warn(remark)
  } catch (error) {
    // As on a disk that is full or read-only. An agent that ends would watch over nothing.
    log.error(`cannot take over ${store}; trying again later, unless a config was assigned by then`, { error })
    const retryAtUs = clock.now().monotonicUs + retryAfterUs(uptimeUs())
    const isDue = (seen: UnitState) => clock.now().monotonicUs >= retryAtUs && findUser(seen) === undefined && isOpen(stores)
    return { findOccasion: (seen) => (isDue(seen) ? `trying again to take over ${store}` : undefined) }
  }
  return NOTHING_LEFT
}

function isOpen({ files, layout }: AdoptionParts['stores']): boolean {
  try {
    return isAdoptionOpen(files, layout)
  } catch {
    // While the disk cannot be read, nothing could be taken over from it either.
    return false
  }
}

/** Why kubelet uses its store, or may use it. undefined: it does not. */
function findUser(unit: UnitState): string | undefined {
  if (unit.kind === 'unknown') return `whether kubelet still uses it is not known: ${unit.detail}`
  if (unit.wiring.kind === 'broken' && unit.wiring.reason === 'dynamic-config-dir') return unit.wiring.detail
  // The flags in force are those of the process.
  return unit.process.kind === 'unknown' ? `whether kubelet still uses it is not known: ${unit.process.detail}` : undefined
}
