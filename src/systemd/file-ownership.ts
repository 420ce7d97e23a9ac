/**
 * Owner and SELinux context of a file, which replacing it must not change. The context is copied with chcon(1), since Node.js has no extended
 * attributes, and only where SELinux is on.
 */
import { chownSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describeFailure, runCommandSync, succeeded } from '../process/run-command.ts'
import { errorCode } from '../values/errors.ts'

const LIMITS = { timeoutMs: 10_000, maxOutputBytes: 1 << 16 }

export interface FileOwnership {
  /** Gives `path` this owner, and the security context that `like` has. */
  give(path: string, owner: { readonly uid: number; readonly gid: number }, like: string): void
}

/** Without CAP_CHOWN, which the agent's unit leaves out, the kernel refuses: that is for the administrator to settle. */
function chown(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }, like: string): void {
  try {
    chownSync(path, uid, gid)
  } catch (cause) {
    if (errorCode(cause) !== 'EPERM') throw cause
    const remedy = 'give it to root:root, or the service CapabilityBoundingSet=CAP_CHOWN and SystemCallFilter=@chown in a drop-in'
    throw Object.assign(new Error(`${like} belongs to ${uid}:${gid}, which the agent may not give files to: ${remedy}`, { cause }), {
      code: 'EPERM',
    })
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
    // The owner of a new file is the agent. Without CAP_CHOWN even giving it to whom it belongs already is refused on some systems.
    if (owner.uid !== process.geteuid?.() || owner.gid !== process.getegid?.()) chown(path, owner, like)
    if (this.#hasSelinux()) this.#copyContext(path, like)
  }

  #copyContext(path: string, like: string): void {
    const result = runCommandSync(this.#chcon, [`--reference=${like}`, '--', path], LIMITS)
    if (succeeded(result)) return
    const message = `cannot copy the SELinux context of ${like} to ${path}: ${describeFailure(result)}`
    throw Object.assign(new Error(message), { code: 'selinux-context' })
  }

  /** A container has the directory without the file system that belongs there, and no contexts. */
  #hasSelinux(): boolean {
    return existsSync(join(this.#selinux, 'enforce'))
  }
}
