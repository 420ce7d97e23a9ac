/** What a config is a change from: the one that runs, or else last-known-good, which would. Pure. */
import type { Snapshot } from './model.ts'
import type { Checkpoints } from './ports.ts'
import type { KnownUnit } from './target.ts'

/** The file that kubelet was started with. undefined: it does not run, or without one. */
export function runningConfigPath(checkpoints: Pick<Checkpoints, 'path'>, { process }: KnownUnit): string | undefined {
  if (process.kind === 'checkpoint') return checkpoints.path({ ...process, kubeletConfigKey: process.key })
  return process.kind === 'other' ? process.configPath : undefined
}

export function findBasePath(checkpoints: Pick<Checkpoints, 'path'>, unit: KnownUnit, { lastKnownGood }: Snapshot): string | undefined {
  if (unit.process.kind === 'checkpoint' || unit.process.kind === 'other') return runningConfigPath(checkpoints, unit)
  return lastKnownGood.source === 'local' ? unit.localConfigPath : checkpoints.path(lastKnownGood.source)
}
