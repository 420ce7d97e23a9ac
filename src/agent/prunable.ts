/** Which checkpoints may go: all but the newest few, and never one that a record, the next start or the running process names. Pure. */
import type { CheckpointInfo, ConfigSource, Snapshot } from './model.ts'

export function choosePrunable(snapshot: Snapshot): readonly CheckpointInfo[] {
  // With a name unknown, nothing can be told apart from it.
  if (snapshot.assigned.kind === 'damaged' || snapshot.nextStart.kind === 'unknown') return []
  const { unit } = snapshot
  if (unit.kind === 'unknown' || unit.process.kind === 'unknown') return []
  const named = new Set<string>()
  const name = (source: ConfigSource) => source !== 'local' && named.add(pathOf(source))
  name(snapshot.assigned.source)
  name(snapshot.lastKnownGood.source)
  name(snapshot.previous.source)
  name(snapshot.nextStart.held.source)
  if (unit.process.kind === 'checkpoint') named.add(pathOf(unit.process))
  // By the time they were saved: resourceVersions are opaque and never ordered.
  const newestFirst = [...snapshot.checkpoints].sort((a, b) => b.savedAtMs - a.savedAtMs || (pathOf(a) < pathOf(b) ? 1 : -1))
  return newestFirst.slice(snapshot.policy.keepCheckpoints).filter((checkpoint) => !named.has(pathOf(checkpoint)))
}

function pathOf(checkpoint: { uid: string; resourceVersion: string }): string {
  return `${checkpoint.uid}/${checkpoint.resourceVersion}`
}
