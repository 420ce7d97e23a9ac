/**
 * The name and the text of an error of the disk. Of some, libuv knows only the number, and calls
 * them `Unknown system error -117`. Among these are the two with which XFS and ext4 report that
 * what they read is corrupt. Pure.
 */
import { errorCode, errorMessage } from '../values/errors.ts'

export interface SystemError {
  /** The errno name. */
  readonly code: string
  readonly detail: string
}

/** By the numbers of Linux: errno(3). */
const UNNAMED: ReadonlyMap<number, SystemError> = new Map([
  [74, { code: 'EBADMSG', detail: 'EBADMSG: bad message' }],
  [116, { code: 'ESTALE', detail: 'ESTALE: stale file handle' }],
  [117, { code: 'EUCLEAN', detail: 'EUCLEAN: structure needs cleaning' }],
  [122, { code: 'EDQUOT', detail: 'EDQUOT: disk quota exceeded' }],
])

/** undefined: it has no errno, so it does not come from the disk. */
export function describeSystemError(cause: unknown): SystemError | undefined {
  const code = errorCode(cause)
  return code === undefined ? undefined : (UNNAMED.get(-errnoOf(cause)) ?? { code, detail: describe(cause) })
}

function errnoOf(cause: unknown): number {
  return cause instanceof Error && 'errno' in cause && typeof cause.errno === 'number' ? cause.errno : 0
}

/**
 * Removes the call and the path that Node.js appends: the path is in the message already, and that
 * of a temporary file is different each time.
 */
function describe(cause: unknown): string {
  return errorMessage(cause).replace(/, \w+ '.*$/s, '')
}
