/** Reads the message and the code of an error, whatever was thrown. Pure. */

/** The message of an Error; anything else that was thrown, as text. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of a system error (`ENOENT`; errno(3)). undefined: the error has no code. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
