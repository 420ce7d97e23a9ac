// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the files of this node that are merged over what is assigned. Pure; the files are passed
 * in. Errors are returned, not thrown. Reads no more bytes than a ConfigMap can hold.
 */
import { join, posix } from 'node:path'
import type { Files, OwnedFiles } from '../ports/files.ts'
import { errorCode, errorMessage } from '../values/errors.ts'
import { INSTANCE_FILE } from './patch-set.ts'
import { isOverlayName, type OverlayFiles, RESOLV_CONF, RESOLVED } from './read-overlay.ts'

/** All files together. */
const MOST_BYTES = 1 << 20

/**
 * One file alone: the directory has others, which are none of the agent's. Below it, what
 * systemd-resolved brings. kubeadm asks whether that runs. Its file stays while it restarts, and is
 * missing at boot until it starts. The link of systemd-resolved(8) is there all the time.
 * @param readLink undefined: there is no link at the path
 */
export function readInstanceFile(
  directory: string,
  owned: Pick<OwnedFiles, 'read'>,
  files: Pick<Files, 'stat'>,
  readLink: (path: string) => string | undefined,
): OverlayFiles {
  try {
    const found = readNamed(directory, [INSTANCE_FILE], owned)
    const target = posix.resolve('/etc', readLink('/etc/resolv.conf') ?? '')
    const hasResolved = posix.dirname(target) === posix.dirname(RESOLV_CONF) || files.stat(RESOLV_CONF)?.kind === 'file'
    if (found.kind === 'faulty' || !hasResolved) return found
    return { kind: 'files', files: new Map([[RESOLVED, Buffer.alloc(0)], ...found.files]) }
  } catch (error) {
    return faulty(errorMessage(error))
  }
}

export function readOverlayFiles(directory: string, owned: Pick<OwnedFiles, 'list' | 'read'>): OverlayFiles {
  try {
    return readNamed(directory, (owned.list(directory) ?? []).filter(isOverlayName), owned)
  } catch (error) {
    return faulty(errorMessage(error))
  }
}

function readNamed(directory: string, names: readonly string[], owned: Pick<OwnedFiles, 'read'>): OverlayFiles {
  const files = new Map<string, Buffer>()
  let left = MOST_BYTES
  try {
    for (const name of names) {
      const path = join(directory, name)
      if (!/^[-._a-zA-Z0-9]+$/.test(name)) return faulty(`${JSON.stringify(path)}: its name may contain only letters, digits, -, _ and .`)
      const bytes = owned.read(path, left)
      if (bytes === undefined) continue
      files.set(name, bytes)
      left -= bytes.length
    }
  } catch (error) {
    const detail = errorMessage(error)
    return faulty(errorCode(error) === 'EFBIG' ? `${detail}: all these files together may have at most ${MOST_BYTES} bytes` : detail)
  }
  return { kind: 'files', files }
}

function faulty(detail: string): OverlayFiles {
  return { kind: 'faulty', detail }
}
