/** The code of a system error (`ENOENT`; errno(3)). undefined: it is no such error. Pure. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
