// SPDX-License-Identifier: Apache-2.0
/**
 * An agent that ends where it cannot write takes with it what it knew of when the file that kubelet
 * starts with was replaced. For all that the next one can know, kubelet was started before that. It
 * is right that kubelet is restarted once then. So it is where an administrator wrote that file,
 * and kubelet was started again, while systemd or the disk kept the agent from looking.
 */

import type { Snapshot } from '../../src/decision/snapshot.ts'
import { nameEarlier } from '../../src/subject/config-source.ts'
import { hashOf } from '../../src/systemd/original-records.ts'
import { RUNTIME_DIRECTORY } from './paths.ts'
import type { SimWorld } from './sim-world.ts'

const STAMP = `${RUNTIME_DIRECTORY}/config-file.json`

/** The agent has ended, and its disk is as it was then. */
export function hasLostStamp({ kind, disk, faults, files }: SimWorld, configPath: string): boolean {
  if (kind.activation !== 'file' || !(disk.full || faults.writesFail)) return false
  const inPlace = files.read(configPath)
  const stamp = files.read(STAMP)?.toString() ?? ''
  return inPlace !== undefined && !stamp.includes(hashOf(inPlace))
}

export function mayBeEarlier({ lostStamp, unseenEditUs }: SimWorld, { running }: Pick<Snapshot, 'running'>): boolean {
  return (lostStamp || unseenEditUs !== undefined) && running.kind === 'known' && running.content === nameEarlier(running.invocationId)
}

/** The file was written while the agent looked: it restarts kubelet into what was there before. */
export function isEditedSince({ unseenEditUs }: SimWorld, { health }: Pick<Snapshot, 'health'>): boolean {
  return unseenEditUs !== undefined && health !== undefined && unseenEditUs > health.lastSampleUs
}
