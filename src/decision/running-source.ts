/** What runs, or ran last, as a source: for restarts, messages and what is published. Pure. */
import { type ConfigMapSource, type ConfigSource, type ContentHash, LOCAL_CONTENT } from './config-source.ts'
import { resolveDesired } from './desired.ts'
import { heldSources, namedSources } from './held-sources.ts'
import type { Snapshot } from './snapshot.ts'
import type { KubeletProcess } from './unit-state.ts'

type CheckpointProcess = Extract<KubeletProcess, { kind: 'checkpoint' }>

/**
 * What runs, as a source. Where the records have moved on, the process still names its checkpoint,
 * and the uid belongs to one ConfigMap.
 */
export function runningSource(snapshot: Snapshot): ConfigSource | undefined {
  if (snapshot.running.kind !== 'known') return undefined
  const recorded = findSource(snapshot, snapshot.running.content)
  if (recorded !== undefined || snapshot.unit.kind !== 'known' || snapshot.unit.process.kind !== 'checkpoint') return recorded
  const { process } = snapshot.unit
  const named = listKnownSources(snapshot).find((known) => known.uid === process.uid)
  return named && startedSource(process, named)
}

/** @param known any version of the ConfigMap that the process was started from */
export function startedSource(process: CheckpointProcess, { namespace, name }: ConfigMapSource): ConfigMapSource {
  const { uid, resourceVersion, key, overlay } = process
  return { namespace, name, kubeletConfigKey: key, uid, resourceVersion, ...(overlay !== undefined && { overlay }) }
}

/** The ConfigMaps that a record, the cluster or a verdict names. They give a uid its name. */
function listKnownSources(snapshot: Snapshot): readonly ConfigMapSource[] {
  const others = [resolveDesired(snapshot.desired) ?? 'local', ...[...snapshot.verdicts.values()].map(({ source }) => source)]
  return [...namedSources(snapshot), ...others.filter((source) => source !== 'local')]
}

/** What runs, or what ran last where nothing runs. */
export function lastRunSource(snapshot: Snapshot): ConfigSource | undefined {
  const last = snapshot.running.kind === 'none' ? snapshot.health?.lastProcess : undefined
  return last === undefined ? runningSource(snapshot) : findSource(snapshot, last.content)
}

function findSource(snapshot: Snapshot, content: ContentHash): ConfigSource | undefined {
  if (content === LOCAL_CONTENT) return 'local'
  const held = heldSources(snapshot).find((each) => each.content === content)
  const last = snapshot.health?.lastProcess
  return held?.source ?? (last?.content === content ? last.source : undefined)
}
