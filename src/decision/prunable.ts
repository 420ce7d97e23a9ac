/**
 * Which checkpoints may go, and which renderings of them: of either all but the newest few, and never one that a record, the next start or the running process
 * names. What a rendering was made of stays with it. Pure.
 */
import type { CheckpointInfo, ConfigMapSource, ConfigSource } from './config-source.ts'
import type { Snapshot } from './snapshot.ts'

export function choosePrunable(snapshot: Snapshot): readonly CheckpointInfo[] {
  // With a name unknown, nothing can be told apart from it.
  if (snapshot.assigned.kind === 'damaged' || snapshot.nextStart.kind === 'unknown') return []
  const { unit } = snapshot
  if (unit.kind === 'unknown' || unit.process.kind === 'unknown') return []
  const named = new Set<string>()
  const nameVersion = (version: Version) => named.add(pathOf(version)).add(pathOf({ ...version, overlay: undefined }))
  const name = (source: ConfigSource) => source !== 'local' && nameVersion(source)
  name(snapshot.assigned.source)
  name(snapshot.lastKnownGood.source)
  name(snapshot.previous.source)
  name(snapshot.nextStart.held.source)
  if (unit.process.kind === 'checkpoint') nameVersion(unit.process)
  // By the time they were saved: resourceVersions are opaque and never ordered.
  const newestFirst = [...snapshot.checkpoints].sort((a, b) => b.savedAtMs - a.savedAtMs || (pathOf(a) < pathOf(b) ? 1 : -1))
  const [saved, rendered] = [true, false].map((isSaved) => newestFirst.filter(({ overlay }) => (overlay === undefined) === isSaved))
  const old = [saved, rendered].flatMap((kind) => kind?.slice(snapshot.policy.keepCheckpoints) ?? [])
  return old.filter((checkpoint) => !named.has(pathOf(checkpoint)))
}

type Version = Pick<ConfigMapSource, 'uid' | 'resourceVersion' | 'overlay'>

function pathOf({ uid, resourceVersion, overlay }: Version): string {
  return overlay === undefined ? `${uid}/${resourceVersion}` : `${uid}/${resourceVersion}/${overlay}`
}
