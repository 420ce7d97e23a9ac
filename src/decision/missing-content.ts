/**
 * The content of a process whose bytes were gone when the process was first seen. It gets a name
 * that equals no hash. Pure.
 */
import type { CheckpointFile, ContentHash } from './config-source.ts'

const MISSING = 'missing:'

/** Of a checkpoint: the version on the process's command line still says which content it is. */
export function nameMissing({ uid, resourceVersion, overlay, kubeletConfigKey }: CheckpointFile): ContentHash {
  return `${MISSING}${[uid, resourceVersion, ...(overlay === undefined ? [] : [overlay]), kubeletConfigKey].join('/')}`
}

export function isMissing(content: ContentHash): boolean {
  return content.startsWith(MISSING)
}

/** Of a config file that the agent replaces: it was changed after the process had started. */
export function nameEarlier(invocationId: string): ContentHash {
  return `before:${invocationId}`
}
