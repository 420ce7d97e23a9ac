/**
 * Reads the overlay directory. Pure; the files are passed in. Errors are returned, not thrown.
 * Reads no more bytes than a ConfigMap can hold.
 */
import { join } from 'node:path'
import type { OwnedFiles } from '../ports/files.ts'
import { errorCode, errorMessage } from '../values/errors.ts'
import { isOverlayName, type OverlayFiles } from './read-overlay.ts'

/** All files together. */
const MOST_BYTES = 1 << 20

export function readOverlayFiles(directory: string, owned: Pick<OwnedFiles, 'list' | 'read'>): OverlayFiles {
  const files = new Map<string, Buffer>()
  let left = MOST_BYTES
  try {
    for (const name of (owned.list(directory) ?? []).filter(isOverlayName)) {
      const path = join(directory, name)
      if (!/^[-._a-zA-Z0-9]+$/.test(name)) return faulty(`${JSON.stringify(path)}: its name may contain only letters, digits, -, _ and .`)
      const bytes = owned.read(path, left)
      if (bytes === undefined) continue
      files.set(name, bytes)
      left -= bytes.length
    }
  } catch (error) {
    const detail = errorMessage(error)
    return faulty(
      errorCode(error) === 'EFBIG' ? `${detail}: all files of an overlay together may have at most ${MOST_BYTES} bytes` : detail,
    )
  }
  return { kind: 'files', files }
}

function faulty(detail: string): OverlayFiles {
  return { kind: 'faulty', detail }
}
