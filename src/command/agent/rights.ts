// SPDX-License-Identifier: Apache-2.0
/**
 * Checks with access(2) what this process may do with the paths that it needs. Unlike a file's
 * mode, access(2) takes read-only mounts and missing capabilities into account. But it judges the
 * process that asks: for an agent that has fewer capabilities, the modes count too. ACLs are not
 * read. Changes and creates nothing.
 */
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { LockHolder } from '../../checkpoint/lock.ts'
import { errorCode } from '../../values/errors.ts'

export interface PathNeed {
  readonly path: string
  /** `write`: a directory in which files are created and replaced. */
  readonly need: 'write' | 'read' | 'execute'
  /** Nothing creates this directory. */
  readonly mustExist?: boolean
}

export interface PathRight extends PathNeed {
  /**
   * `missing`: the path does not exist; a missing directory with the need `write` can be created.
   */
  readonly state: 'granted' | 'missing' | 'refused'
  readonly detail: string
}

/**
 * Whose view of the files is checked: this process's own, that of the running agent, which its
 * unit's sandbox narrows, or another than the agent's.
 */
export type Vantage =
  | { readonly kind: 'own' }
  | { readonly kind: 'agent'; readonly pid: number }
  | { readonly kind: 'outside'; readonly why: string }

/**
 * The mounts of another process, as proc_pid_root(5) shows them: read-only ones are read-only here
 * too. Links with absolute targets would lead out of them, but the agent's paths are real.
 */
function rootOf(vantage: Vantage): string {
  return vantage.kind === 'agent' ? `/proc/${vantage.pid}/root` : '/'
}

/** Where the files of the agent can be looked at. */
export function findVantage(agent: LockHolder): Vantage {
  switch (agent.kind) {
    case 'absent':
      return { kind: 'outside', why: 'no agent is running' }
    case 'unknown':
      return { kind: 'outside', why: `cannot tell whether an agent is running: ${agent.detail}` }
    case 'running': {
      if (agent.pid === undefined) return { kind: 'outside', why: 'the process of the agent is not known' }
      const vantage: Vantage = { kind: 'agent', pid: agent.pid }
      const code = accessCode(`${rootOf(vantage)}/`, constants.R_OK)
      return code === undefined
        ? vantage
        : { kind: 'outside', why: `the files of process ${agent.pid} cannot be looked at (${describe(code)})` }
    }
  }
}

/** A user without the capabilities that override the modes of files. */
interface BareUser {
  readonly uid: number
  readonly gids: readonly number[]
}

/** CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, capabilities(7). */
const OVERRIDING = 0b110n

/**
 * Whom the modes of files bind. undefined: the process overrides them, or is not known.
 * Format: proc_pid_status(5).
 */
function readBareUser(vantage: Vantage): BareUser | undefined {
  if (vantage.kind !== 'agent') return undefined
  try {
    const text = readFileSync(`/proc/${vantage.pid}/status`, 'utf8')
    const words = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(text)?.[1]?.trim().split(/\s+/) ?? []
    const [capabilities = ''] = words('CapEff')
    const [, uid = ''] = words('Uid')
    const [, gid = ''] = words('Gid')
    if (!/^[0-9a-f]+$/.test(capabilities) || (BigInt(`0x${capabilities}`) & OVERRIDING) !== 0n) return undefined
    return { uid: Number(uid), gids: [gid, ...words('Groups')].map(Number) }
  } catch {
    return undefined
  }
}

/** Whether the modes of the path and of the directories above it let the user in. */
function isPermitted(path: string, mode: number, user: BareUser, root: string): boolean {
  const parent = dirname(path)
  if (path !== root && path !== parent && !isPermitted(parent, constants.X_OK, user, root)) return false
  const { uid, gid, mode: bits } = statSync(path)
  const shift = uid === user.uid ? 6 : user.gids.includes(gid) ? 3 : 0
  return ((bits >> shift) & mode) === mode
}

/**
 * A path that only the sandbox of the agent hides is not missing: it is there, and the agent cannot
 * see it.
 */
export function readRightsFrom(vantage: Vantage, needs: readonly PathNeed[]): PathRight[] {
  const rights = readRights(needs, rootOf(vantage), readBareUser(vantage))
  if (vantage.kind !== 'agent') return rights
  const outside = readRights(needs)
  return rights.map((right, at) => {
    const isHidden = right.state === 'missing' && right.need !== 'write' && outside[at]?.state === 'granted'
    return isHidden ? { ...right, state: 'refused', detail: 'it exists, and the sandbox of the unit hides it from the agent' } : right
  })
}

/**
 * @param root the root directory in which the paths are looked up
 * @param user undefined: this process
 */
export function readRights(needs: readonly PathNeed[], root = '/', user?: BareUser): PathRight[] {
  return needs.map((need) => ({ ...need, ...readRight({ ...need, path: join(root, need.path) }, root, user) }))
}

function readRight({ path, need, mustExist }: PathNeed, root: string, user: BareUser | undefined): Pick<PathRight, 'state' | 'detail'> {
  const mode = { write: constants.W_OK | constants.X_OK, read: constants.R_OK, execute: constants.X_OK }[need]
  const codeOf = (at: string) => accessCode(at, mode, user && ((bits) => isPermitted(at, bits, user, root)))
  const code = codeOf(path)
  if (code === undefined) return { state: 'granted', detail: '' }
  if (code !== 'ENOENT') return { state: 'refused', detail: describe(code) }
  if (need !== 'write') return { state: 'missing', detail: 'no such file' }
  if (mustExist) return { state: 'refused', detail: 'no such directory' }
  const parent = nearestExisting(path)
  const parentCode = codeOf(parent)
  if (parentCode === undefined) return { state: 'missing', detail: 'will be created' }
  return { state: 'refused', detail: `does not exist and cannot be created in /${relative(root, parent)}: ${describe(parentCode)}` }
}

function nearestExisting(path: string): string {
  const parent = dirname(path)
  return parent === path || accessCode(parent, constants.F_OK) !== 'ENOENT' ? parent : nearestExisting(parent)
}

function accessCode(path: string, mode: number, isPermitted: (mode: number) => boolean = () => true): string | undefined {
  try {
    accessSync(path, mode)
    return isPermitted(mode) ? undefined : 'EACCES'
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
