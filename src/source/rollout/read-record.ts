// SPDX-License-Identifier: Apache-2.0
/**
 * Adapter: reads the record of a rollout, and after it the config, both from the API server and not
 * from a cache. Never throws: each failure is a detail for people.
 */
import { ROLLOUT_ANNOTATION } from '../../decision/channels.ts'
import { hashObject } from '../../decision/rollout-hash.ts'
import type { RolloutSubject } from '../../decision/rollout-subject.ts'
import { configOf, ROLLOUT_OFF } from '../../decision/staging.ts'
import { sourcePath } from '../../decision/status-texts.ts'
import { describeSilence } from '../../kube/answer.ts'
import type { KubeAnswer, KubeApi } from '../../ports/kube-api.ts'
import { parsePlan } from '../../rollout/plan.ts'
import { parseRecord, type RolloutRecord } from '../../rollout/record.ts'
import type { RolloutConfig } from '../../rollout/view.ts'
import type { ConfigMapRef } from '../../subject/config-source.ts'
import type { JsonObject } from '../../values/is-object.ts'
import { isObjectName, quote } from '../../values/kubernetes-names.ts'
import { readBases } from '../base-chain.ts'
import { metadataOf, readPause } from '../channels/metadata.ts'
import { identityOf, readAnswer, viewConfigMap } from '../kube-object.ts'
import { readConfigMapOnce } from '../read-once.ts'

export interface RecordRef {
  readonly namespace: string
  readonly name: string
}

/** The record as one request returned it. */
export type FoundRecord =
  | { readonly kind: 'found'; readonly uid: string; readonly resourceVersion: string; readonly record: RolloutRecord }
  | { readonly kind: 'unavailable'; readonly detail: string; readonly retryAfterMs?: number | undefined }

type FoundConfig = { readonly kind: 'found'; readonly config: RolloutConfig } | Extract<FoundRecord, { kind: 'unavailable' }>

export const TIMEOUT_MS = 30_000

/** Where the record is, or why it cannot be read. */
export function findRecordRef({ config, record }: Pick<RolloutSubject, 'config' | 'record'>): RecordRef | string {
  const what = `ConfigMap ${configOf(config)}`
  if (record === undefined)
    return `${what} had a rollout, and its annotation ${ROLLOUT_ANNOTATION} is missing: set it to the name of the record again, or to off to end the rollout`
  if (!isObjectName(record))
    return `the rollout of ${what} names the record ${quote(record)}, which is not a valid ConfigMap name: correct the annotation ${ROLLOUT_ANNOTATION}`
  if (record === config.name)
    return `the rollout of ${what} names the config itself as its record: create an empty ConfigMap beside it and name that one`
  return { namespace: config.namespace, name: record }
}

export async function getRecord(api: Pick<KubeApi, 'request'>, ref: RecordRef): Promise<FoundRecord> {
  const what = `the record ${ref.namespace}/${ref.name}`
  const answer = await api.request({ method: 'GET', path: sourcePath(ref), timeoutMs: TIMEOUT_MS })
  if (answer.kind !== 'ok') return failed(what, answer, remedyFor(ref))
  const reading = readAnswer(answer.object, { kind: 'ConfigMap', ...ref, form: 'whole' })
  if (!reading.ok) return { kind: 'unavailable', detail: `${what}: ${reading.detail}` }
  return readFoundRecord(what, reading.found.object)
}

export function readFoundRecord(what: string, object: JsonObject): FoundRecord {
  const { uid = '', resourceVersion = '' } = identityOf(object) ?? {}
  const parsed = parseRecord(object.data)
  if (!parsed.ok) return { kind: 'unavailable', detail: `${what} cannot be used: ${parsed.problem}` }
  return { kind: 'found', uid, resourceVersion, record: parsed.record }
}

/**
 * The record, then the config, both at their newest: where they differ, the config is newer (R3).
 */
export async function readBoth(
  api: Pick<KubeApi, 'request'>,
  ref: RecordRef,
  config: ConfigMapRef,
): Promise<
  | { readonly kind: 'found'; readonly found: Extract<FoundRecord, { kind: 'found' }>; readonly config: RolloutConfig }
  | Extract<FoundRecord, { kind: 'unavailable' }>
> {
  const found = await getRecord(api, ref)
  if (found.kind === 'unavailable') return found
  const read = await getConfigOfRecord(api, config, ref.name)
  return read.kind === 'unavailable' ? read : { kind: 'found', found, config: read.config }
}

/** @param record the name that the annotation has to have */
export async function getConfigOfRecord(api: Pick<KubeApi, 'request'>, ref: ConfigMapRef, record: string): Promise<FoundConfig> {
  const what = `ConfigMap ${ref.namespace}/${ref.name}`
  const unavailable = (detail: string): FoundConfig => ({ kind: 'unavailable', detail })
  const answer = await api.request({ method: 'GET', path: sourcePath(ref), timeoutMs: TIMEOUT_MS })
  if (answer.kind !== 'ok') return failed(what, answer, CONFIG_REMEDY)
  const reading = readAnswer(answer.object, { kind: 'ConfigMap', namespace: ref.namespace, name: ref.name, form: 'whole' })
  if (!reading.ok) return unavailable(`${what}: ${reading.detail}`)
  const view = viewConfigMap(reading.found.object)
  if (view.kind !== 'found') return unavailable(`${what}: ${view.kind === 'unavailable' ? view.detail : 'it has not been read'}`)
  const { uid, resourceVersion, rollout } = view
  if (rollout?.record === ROLLOUT_OFF) return unavailable(`the rollout of ${what} has just been switched off`)
  if (rollout?.record !== record)
    return unavailable(`the annotation ${ROLLOUT_ANNOTATION} of ${what} no longer names the record ${record}; the agent reads it again`)
  const whole = await readBases({ ref }, view, (base) => readConfigMapOnce(api, base, TIMEOUT_MS))
  if (whole.bases?.problem !== undefined) return unavailable(`${what}: ${whole.bases.problem}`)
  const lost = whole.bases?.views.find(({ object }) => object.kind === 'unavailable')
  if (lost?.object.kind === 'unavailable') return unavailable(`ConfigMap ${configOf(lost.ref)} under ${what}: ${lost.object.detail}`)
  const plan = parsePlan(rollout.plan, rollout.excluded)
  const metadata = metadataOf(reading.found.object)
  const paused = metadata && readPause(metadata, 'ConfigMap', `${ref.namespace}/${ref.name}`)
  return { kind: 'found', config: { uid, resourceVersion, hash: hashObject(whole, ref.kubeletConfigKey), plan, paused } }
}

/** The advice if the object does not exist, or the agent may not read it. */
interface Remedy {
  readonly missing: string
  readonly forbidden: string
}

const CONFIG_REMEDY: Remedy = {
  missing: 'it was deleted a moment ago',
  forbidden: 'grant get of it by name (deploy/rbac/node-configmaps.yaml)',
}

function remedyFor({ namespace, name }: RecordRef): Remedy {
  return {
    missing: `create it, empty (kubectl --namespace ${namespace} create configmap ${name})`,
    forbidden: 'grant get, watch and patch of it by name (deploy/rbac/rollout.yaml)',
  }
}

export function describeMissingRecord(ref: RecordRef): string {
  return `the record ${configOf(ref)} does not exist: ${remedyFor(ref).missing}`
}

type Failure = Exclude<KubeAnswer, { kind: 'ok' }>

function failed(what: string, answer: Failure, remedy: Remedy): Extract<FoundRecord, { kind: 'unavailable' }> {
  const detail = describeFailure(what, answer, remedy)
  return answer.kind === 'refused' ? { kind: 'unavailable', detail, retryAfterMs: answer.retryAfterMs } : { kind: 'unavailable', detail }
}

function describeFailure(what: string, answer: Failure, remedy: Remedy): string {
  if (answer.kind === 'unreachable') return `${what} cannot be read: ${describeSilence(answer)}`
  switch (answer.status) {
    case 401:
      return `${what} cannot be read: the API server does not accept the agent's credentials (${answer.detail})`
    case 403:
      return `${what} may not be read: ${remedy.forbidden} (${answer.detail})`
    case 404:
      return `${what} does not exist: ${remedy.missing}`
    default:
      return `${what} cannot be read: the API server answers ${answer.status} ${answer.reason}`
  }
}
