// SPDX-License-Identifier: Apache-2.0
/**
 * Applies the effects of a step to the node, one after another. The effects of a step are decided
 * in `decision/effects-of-step.ts`; nothing here decides anything. An effect that cannot be applied
 * throws, and the loop tries the step again later.
 */
import { findBasePath } from '../decision/base-config.ts'
import type { CommandEffect, Effect, StateEffect } from '../decision/effects.ts'
import { effectsOfPreflight, effectsOfRestart, missingCheckpoint, type PreflightAnswer } from '../decision/effects-of-answer.ts'
import { effectsOf } from '../decision/effects-of-step.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Action, StepOf } from '../decision/step.ts'
import type { Acceptance, PreflightResult } from '../decision/verdict.ts'
import type { Activation } from '../ports/activation.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Preflight } from '../ports/preflight.ts'
import type { Checkpoints, History, OperatorRequests, Records } from '../ports/store.ts'
import type { Unit } from '../ports/unit.ts'
import type { ConfigMapData, ConfigMapSource } from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { identifyLocal, readLocalConfig } from './node-configs.ts'

/** Everything that the agent changes. */
export interface EffectPorts {
  readonly clock: Clock
  readonly checkpoints: Checkpoints
  readonly records: Records
  readonly requests: Pick<OperatorRequests, 'done'>
  readonly unit: Pick<Unit, 'restart'>
  readonly activation: Pick<Activation, 'stage' | 'activate' | 'readLocal'>
  readonly preflight: Preflight
  readonly history: History
  readonly log: Log
  /** A cache. Preflight fills it again when it is lost. */
  readonly accepted: Map<TrialKey, Acceptance>
}

/** @returns `pending`: a command goes on in the background */
export async function perform(ports: EffectPorts, step: Action, snapshot: Snapshot): Promise<'done' | 'pending'> {
  let end: 'done' | 'pending' = 'done'
  for (const effect of effectsOf(step, snapshot)) {
    if (isCommand(effect)) {
      const answer = await runEffectCommand(ports, effect, snapshot)
      if (answer === 'pending') end = answer
      else applyAll(ports, answer)
    } else apply(ports, effect)
  }
  return end
}

function isCommand(effect: Effect): effect is CommandEffect {
  return effect.kind === 'run-preflight' || effect.kind === 'restart-kubelet'
}

async function runEffectCommand(
  ports: EffectPorts,
  command: CommandEffect,
  snapshot: Snapshot,
): Promise<readonly StateEffect[] | 'pending'> {
  switch (command.kind) {
    case 'run-preflight': {
      const answer = await runPreflight(ports, command.step, snapshot)
      return answer.result.kind === 'pending' ? 'pending' : effectsOfPreflight(command.step, answer, snapshot)
    }
    case 'restart-kubelet': {
      const outcome = await ports.unit.restart(command.record.failed ? 'failed' : 'other')
      // The record says already that there is no answer.
      return outcome === undefined ? [] : effectsOfRestart(command, outcome)
    }
  }
}

async function runPreflight(ports: EffectPorts, step: StepOf<'preflight'>, snapshot: Snapshot): Promise<PreflightAnswer> {
  const { preflight, checkpoints, clock, log } = ports
  const { source, key, fallback } = step
  const { unit } = snapshot
  if (unit.kind === 'unknown') throw new Error(`preflight needs kubelet's unit, which cannot be read: ${unit.detail}`)
  const found = source === 'local' ? loadLocal(ports, unit) : loadCheckpoint(ports, { ...step, source })
  // Read before preflight runs: a setting that changes meanwhile makes the result outdated.
  const basis = preflight.basis()
  const beganUs = clock.now().monotonicUs
  const { result: known, data, localPath, localConfig } = found
  const basePath = findBasePath(checkpoints, unit, snapshot)
  const result = known ?? (await preflight.check({ source, data, key, fallback, unit, basePath, ...(localPath && { localPath }) }))
  const at = clock.now()
  log.debug('preflight answered', { source, answer: result.kind, tookMs: (at.monotonicUs - beganUs) / 1000 })
  return { result, basis, at, ...(localConfig !== undefined && { localConfig }) }
}

interface Loaded {
  readonly data: ConfigMapData
  readonly localPath?: string
  readonly localConfig?: string | undefined
  /** The result, where it is known without a check. */
  readonly result?: PreflightResult
}

function loadCheckpoint({ checkpoints }: EffectPorts, step: StepOf<'preflight'> & { readonly source: ConfigMapSource }): Loaded {
  const { uid, resourceVersion, overlay } = step.source
  const data = step.data ?? checkpoints.data(uid, resourceVersion, overlay)
  if (data === undefined) throw missingCheckpoint(step)
  return { data }
}

/** Throws where it cannot be read at the moment. */
function loadLocal({ activation }: EffectPorts, unit: KnownUnit): Loaded {
  const view = readLocalConfig(activation, unit)
  const localConfig = identifyLocal(view)
  if (view.kind === 'found') return { data: { [view.path]: view.text }, localPath: view.path, localConfig }
  const why = view.kind === 'unusable' ? view.why : undefined
  if (why === 'none') return { data: {}, localConfig, result: { kind: 'accepted', remarks: [], drain: [] } }
  if (why === 'missing') return { data: {}, localConfig, result: { kind: 'refused', reason: 'load', detail: view.detail } }
  throw new Error(`the local config cannot be checked: ${view.detail}`)
}

function applyAll(ports: EffectPorts, effects: readonly StateEffect[]): void {
  for (const effect of effects) apply(ports, effect)
}

type Executors = { readonly [K in StateEffect['kind']]: (ports: EffectPorts, effect: Extract<StateEffect, { kind: K }>) => void }

function apply(ports: EffectPorts, effect: StateEffect): void {
  const execute = EXECUTORS[effect.kind] as (ports: EffectPorts, effect: StateEffect) => void
  execute(ports, effect)
}

const EXECUTORS: Executors = {
  'append-history': ({ history }, { transition }) => history.append(transition),
  log: ({ log }, { level, message, fields }) => log[level](message, fields),
  'save-checkpoint': ({ checkpoints }, { source, data }) => checkpoints.save(source.uid, source.resourceVersion, data, source.overlay),
  'replace-checkpoint': ({ checkpoints }, { source, data, why }) =>
    checkpoints.replace(source.uid, source.resourceVersion, data, why, source.overlay),
  'remove-checkpoint': ({ checkpoints }, { checkpoint }) =>
    checkpoints.remove(checkpoint.uid, checkpoint.resourceVersion, checkpoint.overlay),
  'keep-wordings': ({ checkpoints }) => checkpoints.keepKnownAs(),
  put: ({ records }, { record, value }) => records.put(record, value),
  'write-verdict': ({ records }, { verdict }) => records.writeVerdict(verdict),
  'remove-verdict': ({ records }, { key }) => records.removeVerdict(key),
  'remember-acceptance': ({ accepted }, { key, acceptance }) => accepted.set(key, acceptance),
  'forget-acceptance': ({ accepted }, { key }) => accepted.delete(key),
  'clear-request': ({ requests }, { request }) => requests.done(request),
  'stage-fallback': ({ activation }, { fallback, wiring }) => activation.stage(fallback, wiring),
  activate,
}

function activate(
  { activation }: EffectPorts,
  { target, wiring, orElseLocal, isRewording, runsIn }: Extract<StateEffect, { kind: 'activate' }>,
): void {
  try {
    activation.activate(target, wiring, isRewording, runsIn)
  } catch (cause) {
    if (orElseLocal) activation.activate('local', wiring)
    throw cause
  }
}
