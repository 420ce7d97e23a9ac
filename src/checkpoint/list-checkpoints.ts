/**
 * Lists the checkpoints in the directory, by their names. What stays unreadable is left out: it
 * must not keep the agent from reading the others and deciding. After a single failure nothing is
 * known, and the listing throws.
 */
import { join } from 'node:path'
import type { CheckpointInfo } from '../decision/config-source.ts'
import { checkOverlay, checkVersion } from '../decision/safe-names.ts'
import type { Files } from '../ports/files.ts'
import { isDamage } from './file-error.ts'
import { anyError, type LastingFaults } from './lasting-faults.ts'
import type { Layout } from './layout.ts'

export interface CheckpointList {
  readonly checkpoints: readonly CheckpointInfo[]
  /** Nothing was left out. */
  readonly isWhole: boolean
}

/**
 * @param faults counted for nothing else: a directory can be listed although a file in it is broken
 */
export function listCheckpoints(files: Pick<Files, 'list' | 'stat'>, layout: Layout, faults: LastingFaults): CheckpointList {
  let isWhole = true

  /** undefined: it stays unreadable, or is not of the expected type. */
  const look = <T>(path: string, read: () => T): T | undefined => {
    try {
      const found = read()
      faults.worked(path)
      return found
    } catch (cause) {
      if (isDamage(cause)) return undefined
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
