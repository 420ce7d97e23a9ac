/**
 * The content of each checkpoint, read once for one observation. A disk that fails at times would
 * otherwise show the same checkpoint lost in one place and there in another, and what runs would
 * differ from itself.
 */
import type { CheckpointFile, ContentHash } from '../decision/config-source.ts'
import type { Checkpoints } from '../ports/store.ts'

export type CheckpointContents = Pick<Checkpoints, 'content' | 'isUnreadable'>

export function readContentOnce(checkpoints: CheckpointContents): CheckpointContents {
  const known = new Map<string, ContentHash | undefined>()
  return {
    content(file) {
      const name = nameOf(file)
      if (!known.has(name)) known.set(name, checkpoints.content(file))
      return known.get(name)
    },
    isUnreadable: (file) => checkpoints.isUnreadable(file),
  }
}

function nameOf({ uid, resourceVersion, overlay, kubeletConfigKey }: CheckpointFile): string {
  return JSON.stringify([uid, resourceVersion, overlay, kubeletConfigKey])
}
