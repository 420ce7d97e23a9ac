/**
 * The rules for a node that returns to local, or has returned: when local is tried again, and when
 * it is the administrator's again. What is left meanwhile is in `left.ts`. Pure.
 */
import { LOCAL_CONTENT } from './config-source.ts'
import { findPause } from './find-pause.ts'
import { findByKey } from './find-verdict.ts'
import { isLocalAssigned } from './left.ts'
import type { TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import { isSteady, measureHealth } from './trial.ts'
import { trialKey } from './trial-key.ts'

/** Kubelet failed with local, and the local config is another one by now: it is tried again. */
export function retryLocal({ snapshot, unit, target }: TargetSituation): Step | undefined {
  const { localConfig } = snapshot
  const verdict = findByKey(snapshot.verdicts, trialKey(LOCAL_CONTENT, unit.kubeletIdentity))
  if (!isLocalAssigned(snapshot) || localConfig === undefined || verdict?.state !== 'provisional' || verdict.localConfig === localConfig)
    return undefined
  // At most once for each time that what runs instead has been well.
  if (!target.fallback || target.atFault || !isSteady(snapshot, target.key) || findPause(snapshot) !== undefined) return undefined
  const why = 'the local config has changed since kubelet failed with it'
  // On record until the return is over: see `isExempt`.
  return { kind: 'forgive', drop: [], suspend: [verdict], requested: false, why }
}

/** Kubelet has been healthy with local for a whole trial: nothing is left to go back to. */
export function finishReturn({ snapshot, unit, target }: TargetSituation): Step | undefined {
  if (!isLocalAssigned(snapshot) || target.source !== 'local') return undefined
  if (snapshot.verdicts.get(target.key)?.state === 'refused' && isSteady(snapshot, target.key))
    return { kind: 'forgive', drop: [target.key], requested: false, why: 'kubelet is healthy with the local config that was refused' }
  const { wiring } = unit
  if (wiring.kind !== 'ready' || ((snapshot.left ?? []).length === 0 && snapshot.leftDamaged !== true)) return undefined
  return measureHealth(snapshot, target.key)?.remainingUs === 0 ? { kind: 'forget-left', key: target.key, wiring } : undefined
}
