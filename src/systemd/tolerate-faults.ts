/** Writes that may fail: what a node does on a full or broken disk must go on. Pure. */
import { errorCode } from '../values/errors.ts'

/** For what must not keep a node from falling back, such as a record on a full disk. */
export function tolerateFaults(write: () => void): void {
  try {
    write()
  } catch (cause) {
    if (errorCode(cause) === undefined) throw cause
  }
}
