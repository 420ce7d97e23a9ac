// SPDX-License-Identifier: Apache-2.0
/**
 * The agent of this node, as a command finds it, and how a command takes its place. Pure; what
 * looks at the disk is passed in.
 */
import type { LockHolder, LockResult } from '../../checkpoint/lock.ts'
import type { Activation } from '../../ports/activation.ts'
import type { Unit } from '../../ports/unit.ts'
import type { TakeOver } from './command.ts'

interface AgentTraces {
  findHolder(): LockHolder
  /** The process ID of the agent that reported last in this boot. */
  lastPid(): number | undefined
  holdsRemovedLock(pid: number): boolean
}

/** The agent runs on where its directory was removed, with the lock in it. */
export function findAgent({ findHolder, lastPid, holdsRemovedLock }: AgentTraces): LockHolder {
  const holder = findHolder()
  const pid = holder.kind === 'absent' ? lastPid() : undefined
  return pid !== undefined && holdsRemovedLock(pid) ? { kind: 'running', pid, isWithoutDirectory: true } : holder
}

export interface TakeOverParts {
  readonly directory: string
  exists(): boolean
  makeDirectory(): void
  takeLock(): LockResult
  readonly unit: Pick<Unit, 'observe'>
  readonly reader: Pick<Activation, 'findOutside'>
  /** An activation that may write. */
  open(): Extract<TakeOver, { kind: 'taken' }>['activation']
}

/**
 * Where the agent's directory is lost, what it put elsewhere is still there. Then the directory is
 * made anew, for the lock and the records.
 */
export async function takeOver({ directory, exists, makeDirectory, takeLock, unit, reader, open }: TakeOverParts): Promise<TakeOver> {
  if (!exists()) {
    const found = await unit.observe()
    if (found.kind === 'unknown')
      return { kind: 'refused', detail: `${directory} does not exist, and kubelet's unit is unknown: ${found.detail}` }
    if (reader.findOutside(found).length === 0) return { kind: 'untouched' }
    makeDirectory()
  }
  const taken = takeLock()
  return taken.ok ? { kind: 'taken', activation: open(), end: taken.lock.release } : { kind: 'refused', detail: taken.detail }
}
