/** What the process that runs, or ran last, was started with, as it was first seen. Pure. */
import { isMissing, LOCAL_CONTENT } from './config-source.ts'
import type { HealthSample, SeenProcess } from './health.ts'
import type { TrialKey } from './trial-key.ts'
import { contentOfKey } from './trial-key.ts'
import type { KnownUnit } from './unit-state.ts'

export function rememberProcess(before: SeenProcess | undefined, sample: HealthSample, kubeletIdentity: string): SeenProcess | undefined {
  const { running } = sample
  if (running.kind !== 'known' || before?.invocationId === running.invocationId) return before
  return { invocationId: running.invocationId, content: running.content, kubeletIdentity }
}

/**
 * What systemd gave up before the first look ran the config that is in place: only the agent
 * changes that. Where that is local, the agent may have just put it there, for what had failed.
 */
export function presumeProcess(sample: HealthSample, unit: KnownUnit, subject: TrialKey): SeenProcess | undefined {
  const { activity, invocationId, kubeletIdentity } = unit
  const content = contentOfKey(subject)
  const isConfig = content !== LOCAL_CONTENT && !isMissing(content)
  const isPresumed = sample.running.kind === 'none' && activity === 'failed' && invocationId !== '' && isConfig
  return isPresumed ? { invocationId, content, kubeletIdentity } : rememberProcess(undefined, sample, kubeletIdentity)
}
