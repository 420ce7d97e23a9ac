// SPDX-License-Identifier: Apache-2.0
/**
 * Makes errors with a code, and reads the message and the code of an error, whatever was thrown.
 * Pure.
 */

/** An error with a code, like those of the system. */
export function codedError(code: string, message: string, cause?: unknown): Error & { readonly code: string } {
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), { code })
}

/** The message of an Error; anything else that was thrown, as text. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of a system error (`ENOENT`; errno(3)). undefined: the error has no code. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Why a file that somebody named cannot be read, by the code of the error. */
export function describeUnreadable(code: string): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist'
    case 'EISDIR':
      return 'is a directory: name a file in it'
    case 'EACCES':
    case 'EPERM':
      return 'cannot be read: permission denied'
    default:
      return `cannot be read: ${code}`
  }
}

/** The work takes more time or memory than it may. */
export class LimitError extends Error {
  override readonly name = 'LimitError'
}
