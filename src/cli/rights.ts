/**
 * Checks with access(2) what this process may do with the paths that it needs. Unlike a file's
 * mode, access(2) takes read-only mounts and missing capabilities into account. Changes and creates
 * nothing.
 */
import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../values/errors.ts'

export interface PathNeed {
  readonly path: string
  /** `write`: a directory in which files are created and replaced. */
  readonly need: 'write' | 'read' | 'execute'
}

export interface PathRight extends PathNeed {
  /**
   * `missing`: the path does not exist; a missing directory with the need `write` can be created.
   */
  readonly state: 'granted' | 'missing' | 'refused'
  readonly detail: string
}

export function readRights(needs: readonly PathNeed[]): PathRight[] {
  return needs.map((need) => ({ ...need, ...readRight(need) }))
}

function readRight({ path, need }: PathNeed): Pick<PathRight, 'state' | 'detail'> {
  const mode = { write: constants.W_OK | constants.X_OK, read: constants.R_OK, execute: constants.X_OK }[need]
  const code = accessCode(path, mode)
  if (code === undefined) return { state: 'granted', detail: '' }
  if (code !== 'ENOENT') return { state: 'refused', detail: describe(code) }
  if (need !== 'write') return { state: 'missing', detail: 'no such file' }
  const parent = nearestExisting(path)
  const parentCode = accessCode(parent, mode)
  if (parentCode === undefined) return { state: 'missing', detail: 'will be created' }
  return { state: 'refused', detail: `does not exist and cannot be created in ${parent}: ${describe(parentCode)}` }
}

function nearestExisting(path: string): string {
  const parent = dirname(path)
  return parent === path || accessCode(parent, constants.F_OK) !== 'ENOENT' ? parent : nearestExisting(parent)
}

function accessCode(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    return errorCode(error) ?? 'unknown'
  }
}

function describe(code: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'permission denied'
    case 'EROFS':
      return 'read-only file system'
    default:
      return code
  }
}
