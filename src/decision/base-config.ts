/** What a config is a change from: the one that runs, or else last-known-good, which would. Pure. */

import type { CheckpointFile } from './config-source.ts'
import { LOCAL } from './config-source.ts'
import type { Snapshot } from './snapshot.ts'
import type { KnownUnit } from './unit-state.ts'

/** Where the files of a checkpoint are: a part of the port `Checkpoints`. */
export interface CheckpointPaths {
  path(file: CheckpointFile): string
}

/** The file that kubelet was started with. undefined: it does not run, or without one. */
export function runningConfigPath(checkpoints: CheckpointPaths, { process }: KnownUnit): string | undefined {
  if (process.kind === 'checkpoint') return checkpoints.path({ ...process, kubeletConfigKey: process.key })
  return process.kind === 'other' ? process.configPath : undefined
}

/**
 * Where the agent replaces the file that the unit spells out, that file holds what is activated, and not what runs. undefined: what runs is in no file any more that
 * the agent knows.
 */
export function findBasePath(checkpoints: CheckpointPaths, unit: KnownUnit, snapshot: Snapshot): string | undefined {
  const { lastKnownGood, previous, assigned, assignedContent, nextStart, running } = snapshot
  if (unit.process.kind !== 'checkpoint' && unit.process.kind !== 'other') {
    return lastKnownGood.source === 'local' ? unit.localConfigPath : checkpoints.path(lastKnownGood.source)
  }
  if (unit.wiring.kind !== 'ready' || !unit.wiring.configFlagIsFixed || running.kind !== 'known') {
    return runningConfigPath(checkpoints, unit)
  }
  const next = nextStart.kind === 'known' ? nextStart.held : undefined
  const { replacesLocalFile } = unit.wiring
  if (replacesLocalFile && next?.content === running.content) return runningConfigPath(checkpoints, unit)
  const wanted = assigned.kind === 'source' ? { source: assigned.source, content: assignedContent } : undefined
  const held = [next, lastKnownGood, previous, wanted, LOCAL].find((one) => one?.content === running.content)
  if (held?.source === 'local') return replacesLocalFile ? undefined : unit.localConfigPath
  return held && checkpoints.path(held.source)
}
