/**
 * The content of a process whose checkpoint was gone when the process was first seen. The version
 * on its command line still says which content it is, and gives it a name that equals no hash.
 * Pure.
 */
import type { CheckpointFile, ContentHash } from './config-source.ts'

const MISSING = 'missing:'

export function nameMissing({ uid, resourceVersion, overlay, kubeletConfigKey }: CheckpointFile): ContentHash {
  return `${MISSING}${[uid, resourceVersion, ...(overlay === undefined ? [] : [overlay]), kubeletConfigKey].join('/')}`
}

export function isMissing(content: ContentHash): boolean {
  return content.startsWith(MISSING)
}
