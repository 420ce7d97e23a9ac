/** Which content the running kubelet was started with, and which it starts with next. */
import { type ContentHash, LOCAL, LOCAL_CONTENT } from '../decision/config-source.ts'
import type { HealthRecord, Running } from '../decision/health.ts'
import type { NextStart } from '../decision/snapshot.ts'
import { trialKey } from '../decision/trial-key.ts'
import type { KnownUnit, UnitState } from '../decision/unit-state.ts'
import type { ActivationState } from '../ports/activation.ts'
import type { Checkpoints } from '../ports/store.ts'

export function resolveNextStart(activation: ActivationState, checkpoints: Checkpoints): NextStart {
  switch (activation.kind) {
    case 'unknown':
      return activation
    case 'local':
      return { kind: 'known', held: LOCAL }
    case 'checkpoint':
      return { kind: 'known', held: { source: activation.source, content: checkpoints.content(activation.source) } }
  }
}

/**
 * What a process runs is recorded when the process is first seen. A checkpoint that is replaced or
 * a binary that is upgraded later changes nothing.
 *
 * @param health the record of this boot
 */
export function identifyRunning(
  unit: UnitState,
  health: HealthRecord | undefined,
  activation: ActivationState,
  bootId: string,
  checkpoints: Checkpoints,
): Running {
  if (unit.kind === 'unknown') return { kind: 'unknown', detail: unit.detail }
  const { process } = unit
  if (process.kind === 'none') return { kind: 'none' }
  if (process.kind === 'unknown') return process
  const seen = health?.lastProcess?.invocationId === unit.invocationId ? health.lastProcess : undefined
  const content = seen?.content ?? identifyContent(unit, process, activation, bootId, checkpoints)
  const key = trialKey(content, seen?.kubeletIdentity ?? unit.kubeletIdentity)
  return { kind: 'known', content, key, startedAtUs: unit.startedAtUs, invocationId: unit.invocationId }
}

/**
 * What is neither local nor a checkpoint at hand gets a name that no content has. It equals
 * nothing, so a restart is due.
 */
function identifyContent(
  unit: KnownUnit,
  process: Exclude<KnownUnit['process'], { kind: 'none' | 'unknown' }>,
  activation: ActivationState,
  bootId: string,
  checkpoints: Checkpoints,
): ContentHash {
  if (process.kind === 'checkpoint') {
    const { uid, resourceVersion, key: kubeletConfigKey, overlay } = process
    const file = { uid, resourceVersion, kubeletConfigKey, overlay }
    return checkpoints.content(file) ?? `missing:${checkpoints.path(file)}`
  }
  if (unit.wiring.kind === 'ready' && unit.wiring.configFlagIsFixed && activation.kind !== 'unknown') {
    const { since } = activation
    // A process that started before the file was in place does not run what the file holds now.
    if (since !== undefined && since.bootId === bootId && unit.startedAtUs < since.monotonicUs) return `before:${unit.invocationId}`
    if (activation.kind === 'local') return LOCAL_CONTENT
    return checkpoints.content(activation.source) ?? `missing:${checkpoints.path(activation.source)}`
  }
  return process.configPath === unit.localConfigPath ? LOCAL_CONTENT : `other:${process.configPath ?? 'none'}`
}
