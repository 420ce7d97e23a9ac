// SPDX-License-Identifier: Apache-2.0
/**
 * The state of the disk in memory after a power loss. Visible and durable state are separate: a
 * file's bytes are durable once the file is synced, its name once its directory is. Of the rest, a
 * power loss keeps what a journaling file system might keep (ext4 `data=ordered`, XFS): renames are
 * atomic and in order, but any of them may be lost, and bytes may be torn.
 */
export type FakeNode = FakeFile | FakeDirectory
export interface FakeFile {
  readonly kind: 'file'
  readonly inode: number
  readonly mode: number
  bytes: Buffer
  /** undefined: never synced. */
  durable: Buffer | undefined
  mtimeMs: number
  changes: number
}
export interface FakeDirectory {
  readonly kind: 'directory'
  readonly inode: number
  readonly mode: number
  entries: Map<string, FakeNode>
  readonly durable: Map<string, FakeNode>
  mtimeMs: number
  changes: number
}

/** A rename is one change of two entries. */
export interface Change {
  readonly node: FakeNode
  readonly entries: readonly { readonly directory: FakeDirectory; readonly name: string; readonly node: FakeNode | undefined }[]
}

export function applyDurably(change: Change): void {
  for (const { directory, name, node } of change.entries) {
    if (node === undefined) directory.durable.delete(name)
    else directory.durable.set(name, node)
  }
}

/**
 * The changes that a sync of this directory makes durable, oldest first: those in it, and the
 * earlier ones in directories that these renamed from or to.
 */
export function reachedBySync(directory: FakeDirectory, pending: readonly Change[]): Set<Change> {
  const directories = new Set([directory])
  const reached: Change[] = []
  for (const change of pending.toReversed()) {
    if (!change.entries.some((entry) => directories.has(entry.directory))) continue
    for (const entry of change.entries) directories.add(entry.directory)
    reached.push(change)
  }
  return new Set(reached.reverse())
}

/** After a power loss, the durable state becomes the visible one. */
export function wake(directory: FakeDirectory, random: () => number): void {
  directory.entries = new Map(directory.durable)
  for (const node of directory.entries.values()) {
    if (node.kind === 'directory') wake(node, random)
    else if (node.bytes !== node.durable) {
      node.bytes = torn(node, random)
      node.durable = node.bytes
      node.changes += 1
    }
  }
}

/**
 * For unsynced bytes: the last synced ones, the new ones, or the new ones truncated and perhaps
 * padded with zeros.
 */
function torn(file: FakeFile, random: () => number): Buffer {
  const choice = random()
  if (choice < 0.25) return file.durable ?? Buffer.alloc(0)
  if (choice < 0.5) return file.bytes
  const kept = file.bytes.subarray(0, Math.floor(random() * file.bytes.length))
  return choice < 0.75 ? kept : Buffer.concat([kept, Buffer.alloc(file.bytes.length - kept.length)])
}
