// SPDX-License-Identifier: Apache-2.0
/**
 * The effective value of every field in a given kubelet version: that of the config, or the
 * default. Pure. Ignores flags. Rules: `SetDefaults_KubeletConfiguration`,
 * pkg/kubelet/apis/config/v1beta1/defaults.go. null means "not set", and so does zero unless the
 * field is a pointer upstream. Drops fields that the version does not know.
 */

import type { KubeletConfig } from '../../kubelet/decode.ts'
import { valueAt } from '../../kubelet/field-path.ts'
import { isKnown, NEWEST_MINOR } from '../../kubelet/fields.ts'
import { isGateOn, stateOf } from '../../kubelet/gates.ts'
import { parseGoDuration } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import { type FieldRow, ROWS } from './field-rows.ts'

export interface Effective {
  readonly value: unknown
  readonly isDefault: boolean
}

/** By the name of the row. Without fields that are not set and have no default. */
export type EffectiveConfig = ReadonlyMap<string, Effective>

export function effectiveConfig(config: KubeletConfig, version: KubeletVersion | undefined): EffectiveConfig {
  // The newest one stands in for an unknown version.
  const minor = version?.minor ?? NEWEST_MINOR
  const effective = new Map<string, Effective>()
  for (const [name, row] of ROWS) {
    if (!isKnownIn(row, version)) continue
    const set = readSet(config, name, row, minor)
    if (set !== undefined) effective.set(name, { value: set, isDefault: false })
    else {
      const value = row.initial?.findLast(([since]) => since <= minor)?.[1]
      if (value !== undefined) effective.set(name, { value, isDefault: true })
    }
  }
  fillDependent(effective, minor)
  return effective
}

/** Every field counts as known if the version is unknown. */
export function isKnownIn(row: FieldRow, version: KubeletVersion | undefined): boolean {
  return version === undefined || isKnown(row, version.minor)
}

/** undefined: not set, by kubelet's rules. */
function readSet(config: KubeletConfig, name: string, row: FieldRow, minor: number): unknown {
  const value = valueAt(config, name.split('.'))
  if (value === undefined || value === null) return undefined
  const zeroCounts = row.zeroSince !== undefined && row.zeroSince <= minor
  if (!zeroCounts && isZero(value, row)) return undefined
  return name === 'podPidsLimit' && typeof value === 'number' && value < 0 ? -1 : value
}

function isZero(value: unknown, row: FieldRow): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) return Object.keys(value).length === 0
  if (typeof value === 'string') return value === '' || (row.measure === 'duration' && parseGoDuration(value) === 0n)
  return value === 0 || value === false
}

/** Defaults that depend on other fields. */
function fillDependent(effective: Map<string, Effective>, minor: number): void {
  const fill = (name: string, value: unknown) => {
    if (!effective.has(name) && value !== undefined) effective.set(name, { value, isDefault: true })
  }
  const update = effective.get('nodeStatusUpdateFrequency')
  fill('nodeStatusReportFrequency', update?.isDefault === false ? update.value : '5m')
  const parallel = effective.get('maxParallelImagePulls')?.value
  fill('serializeImagePulls', !(typeof parallel === 'number' && parallel > 1))
  if (isOnIn(effective, 'KubeletCrashLoopBackOffMax', minor)) fill('crashLoopBackOff.maxContainerRestartPeriod', '300s')
  if (isOnIn(effective, 'KubeletEnsureSecretPulledImages', minor))
    fill('imagePullCredentialsVerificationPolicy', 'NeverVerifyPreloadedImages')
  mergeEviction(effective, minor)
}

/** From 1.33 on: adds the defaults of signals that are not in the map. */
function mergeEviction(effective: Map<string, Effective>, minor: number): void {
  const hard = effective.get('evictionHard')
  if (effective.get('mergeDefaultEvictionSettings')?.value !== true || !isObject(hard?.value)) return
  effective.set('evictionHard', { value: { ...defaultThresholds(minor), ...hard.value }, isDefault: hard.isDefault })
}

/** The default thresholds of `evictionHard`, by signal. */
export function defaultThresholds(minor: number): Readonly<Record<string, unknown>> {
  const initial = ROWS.get('evictionHard')?.initial?.findLast(([since]) => since <= minor)?.[1]
  return isObject(initial) ? initial : {}
}

function isOnIn(effective: EffectiveConfig, gate: string, minor: number): boolean {
  const gates = effective.get('featureGates')?.value
  const state = stateOf(gate, minor)
  return state !== undefined && isGateOn(gate, state, isObject(gates) ? gates : {})
}
