/**
 * The content of each checkpoint, read once for one observation. A disk that fails at times would
 * otherwise show the same checkpoint lost in one place and there in another, and what runs would
 * differ from itself.
 */
import type { CheckpointFile, ContentHash } from '../decision/config-source.ts'
import type { Checkpoints } from '../ports/store.ts'

type CheckpointReads = Pick<Checkpoints, 'content' | 'hasKey' | 'isUnreadable' | 'knownAs'>

export interface CheckpointContents extends Pick<Checkpoints, 'content' | 'isUnreadable' | 'knownAs'> {
  /**
   * The same, of a checkpoint that kubelet can start with. undefined also: the file that it reads
   * is gone.
   */
  contentToStart(file: CheckpointFile): ContentHash | undefined
}

export function readContentOnce(checkpoints: CheckpointReads): CheckpointContents {
  const content = once((file) => checkpoints.content(file))
  const hasKey = once((file) => checkpoints.hasKey(file))
  return {
    content,
    contentToStart(file) {
      const found = content(file)
      return found !== undefined && hasKey(file) ? found : undefined
    },
    isUnreadable: (file) => checkpoints.isUnreadable(file),
    knownAs: (content) => checkpoints.knownAs(content),
  }
}

function once<T>(read: (file: CheckpointFile) => T): (file: CheckpointFile) => T {
  const known = new Map<string, { readonly found: T }>()
  return (file) => {
    const name = nameOf(file)
    const { found } = known.get(name) ?? { found: read(file) }
    known.set(name, { found })
    return found
  }
}

function nameOf({ uid, resourceVersion, overlay, kubeletConfigKey }: CheckpointFile): string {
  return JSON.stringify([uid, resourceVersion, overlay, kubeletConfigKey])
}
