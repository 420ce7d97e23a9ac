/** What a config is a change from: the one that runs, or else last-known-good, which would. Pure. */
import type { Snapshot } from './model.ts'
import type { Checkpoints } from './ports.ts'
import type { KnownUnit } from './target.ts'

/** The file that kubelet was started with. undefined: it does not run, or without one. */
export function runningConfigPath(checkpoints: Pick<Checkpoints, 'path'>, { process }: KnownUnit): string | undefined {
  if (process.kind === 'checkpoint') return checkpoints.path({ ...process, kubeletConfigKey: process.key })
  return process.kind === 'other' ? process.configPath : undefined
}

/**
 * Where the agent replaces the file that the unit spells out, that file holds what is activated, and not what runs. undefined: what runs is in no file any more that
 * the agent knows.
 */
export function findBasePath(checkpoints: Pick<Checkpoints, 'path'>, unit: KnownUnit, snapshot: Snapshot): string | undefined {
  const { lastKnownGood, previous, assigned, assignedContent, nextStart, running } = snapshot
  if (unit.process.kind !== 'checkpoint' && unit.process.kind !== 'other') {
    return lastKnownGood.source === 'local' ? unit.localConfigPath : checkpoints.path(lastKnownGood.source)
  }
  if (unit.wiring.kind !== 'ready' || unit.wiring.activation !== 'file' || running.kind !== 'known') {
    return runningConfigPath(checkpoints, unit)
  }
  const next = nextStart.kind === 'known' ? nextStart.held : undefined
  if (next?.content === running.content) return runningConfigPath(checkpoints, unit)
  const wanted = assigned.kind === 'source' ? { source: assigned.source, content: assignedContent } : undefined
  const held = [lastKnownGood, previous, wanted].find((one) => one?.content === running.content)
  return held === undefined || held.source === 'local' ? undefined : checkpoints.path(held.source)
}
