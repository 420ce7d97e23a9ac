// SPDX-License-Identifier: Apache-2.0
/**
 * Owner and SELinux context of a file, which must stay the same when it is replaced. The context is
 * copied with chcon(1), because Node.js cannot set extended attributes, and only if SELinux is
 * enabled.
 */
import { chownSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describeFailure, runCommandSync, succeeded } from '../process/run-command.ts'
import { codedError, errorCode } from '../values/errors.ts'

const LIMITS = { timeoutMs: 10_000, maxOutputBytes: 1 << 16 }

export interface FileOwnership {
  /** Gives `path` this owner, and the security context that `like` has. */
  give(path: string, owner: { readonly uid: number; readonly gid: number }, like: string): void
}

/**
 * The kernel refuses this without CAP_CHOWN, which the agent's unit lacks: the administrator has to
 * resolve it.
 */
function chown(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }, like: string): void {
  try {
    chownSync(path, uid, gid)
  } catch (cause) {
    if (errorCode(cause) !== 'EPERM') throw cause
    const remedy = 'change its owner to root:root, or add CapabilityBoundingSet=CAP_CHOWN and SystemCallFilter=@chown in a drop-in'
    throw codedError('EPERM', `${like} belongs to ${uid}:${gid}, and the agent may not change the owner of files: ${remedy}`, cause)
  }
}

export class SystemFileOwnership implements FileOwnership {
  readonly #chcon: string
  readonly #selinux: string

  constructor(chcon = '/usr/bin/chcon', selinux = '/sys/fs/selinux') {
    this.#chcon = chcon
    this.#selinux = selinux
  }

  give(path: string, owner: { readonly uid: number; readonly gid: number }, like: string): void {
    // The agent owns a new file. Without CAP_CHOWN some systems refuse even a chown to the current
    // owner.
    if (owner.uid !== process.geteuid?.() || owner.gid !== process.getegid?.()) chown(path, owner, like)
    if (this.#hasSelinux()) this.#copyContext(path, like)
  }

  #copyContext(path: string, like: string): void {
    const result = runCommandSync(this.#chcon, [`--reference=${like}`, '--', path], LIMITS)
    if (succeeded(result)) return
    const message = `cannot copy the SELinux context of ${like} to ${path}: ${describeFailure(result)}`
    throw codedError('selinux-context', message)
  }

  /** In a container the directory exists, but no SELinux file system is mounted on it. */
  #hasSelinux(): boolean {
    return existsSync(join(this.#selinux, 'enforce'))
  }
}
