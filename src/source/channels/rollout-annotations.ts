/** What the annotations of a ConfigMap and the labels of a Node say about rollouts. Pure. */
import { CANARY_LABEL, CONTROL_PLANE_LABEL, ROLLOUT_ANNOTATION } from '../../decision/channels.ts'
import type { NodeTraits, RolloutAnnotations } from '../../decision/desired.ts'
import { ROLLOUT_EXCLUDE_ANNOTATION, ROLLOUT_PLAN_ANNOTATION } from '../../rollout/plan.ts'
import { isObject } from '../../values/is-object.ts'
import { metadataOf } from './metadata.ts'

/** @returns undefined: neither a record nor a plan is there */
export function readRollout(configMap: unknown): RolloutAnnotations | undefined {
  const annotations = metadataOf(configMap)?.annotations ?? {}
  const [record, plan] = [annotations[ROLLOUT_ANNOTATION], annotations[ROLLOUT_PLAN_ANNOTATION]]
  const excluded = annotations[ROLLOUT_EXCLUDE_ANNOTATION]
  return record === undefined && plan === undefined ? undefined : { record, plan, ...(excluded !== undefined && { excluded }) }
}

export function readTraits(node: unknown): NodeTraits {
  const metadata = isObject(node) && isObject(node.metadata) ? node.metadata : {}
  const labels = metadataOf(node)?.labels ?? {}
  const createdMs = typeof metadata.creationTimestamp === 'string' ? Date.parse(metadata.creationTimestamp) : Number.NaN
  return {
    uid: typeof metadata.uid === 'string' ? metadata.uid : '',
    canary: labels[CANARY_LABEL] === 'true',
    controlPlane: labels[CONTROL_PLANE_LABEL] !== undefined,
    ...(Number.isFinite(createdMs) && { createdMs }),
  }
}
