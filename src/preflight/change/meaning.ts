// SPDX-License-Identifier: Apache-2.0
/**
 * The meaning of one config to two kubelets: where its values, the defaults of the fields that it
 * does not set, and the feature gates that it does not name differ, with nothing refused. Pure.
 * Most follows from the tables; `MEANINGS` has the fields whose value stays while its meaning
 * changes.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { type FieldPath, formatPath } from '../../kubelet/field-path.ts'
import { isKnown } from '../../kubelet/fields.ts'
import { type GateState, isGateOn, listGates, periodsOf } from '../../kubelet/gates.ts'
import { isObject } from '../../values/is-object.ts'
import type { ConfigDocument } from '../document.ts'
import { type Finding, locateNearest } from '../finding.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import { formatSide } from './change.ts'
import { compareField } from './compare.ts'
import { type Effective, type EffectiveConfig, effectiveConfig } from './effective.ts'
import { type FieldRow, ROWS } from './field-rows.ts'

interface MeaningChange {
  /**
   * The kind of value whose meaning changes: one that the config sets, a default, or a feature gate
   * that the config does not set.
   */
  readonly kind: 'value' | 'default' | 'gate'
  readonly path: FieldPath
  /** To the first kubelet, and to the second. */
  readonly before: string
  readonly after: string
  readonly advice: string | undefined
}

interface Meaning {
  /** undefined: the value says it. */
  read(value: unknown, isOn: (gate: string) => boolean, minor: number): string | undefined
  /** For an upgrade. */
  readonly advice?: string
}

const NO_THROTTLING = 'no pod is throttled'

/** By the name of the row. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  // `generateLinuxContainerConfig`, pkg/kubelet/kuberuntime/kuberuntime_container_linux.go.
  memoryThrottlingFactor: {
    read(value, isOn) {
      // A value of another type is a finding of its own, and may be long.
      if (value !== undefined && typeof value !== 'number') return undefined
      if (!isOn('MemoryQoS')) return `${NO_THROTTLING}, since the feature gate MemoryQoS is off`
      return value === undefined
        ? NO_THROTTLING
        : `${value}: on cgroup v2, pods that are not Guaranteed are throttled near their memory limit`
    },
    advice: 'remove it if no pod should be throttled',
  },
  // `run`, cmd/kubelet/app/server.go; `DefaultQPS`, k8s.io/client-go/rest/config.go.
  eventRecordQPS: {
    read: (value, _, minor) => (value === 0 ? (minor < 37 ? '0: at most 5 events a second' : '0: no limit') : undefined),
    advice: 'write 5 to keep the limit',
  },
  // `getCgroupDriverFromCRI`, cmd/kubelet/app/server.go.
  cgroupDriver: {
    read: (value, isOn) =>
      isOn('KubeletCgroupDriverFromCRI') && (value === 'cgroupfs' || value === 'systemd')
        ? `the container runtime's, and ${value} where it does not tell`
        : undefined,
  },
}

/**
 * Values that kubelet uses where a field has no default, or is not known yet: constants of its
 * code.
 */
const CONSTANTS: Readonly<Record<string, unknown>> = { 'crashLoopBackOff.maxContainerRestartPeriod': '300s' }

/** In the order of the table of fields, then of that of the gates. */
export function listMeaningChanges(config: KubeletConfig, from: KubeletVersion, to: KubeletVersion): readonly MeaningChange[] {
  const [before, after] = [readBy(config, from), readBy(config, to)]
  return [...[...ROWS].flatMap(([name, row]) => compareMeaning(name, row, before, after)), ...listTurned(config, from.minor, to.minor)]
}

interface Reading {
  readonly minor: number
  readonly effective: EffectiveConfig
  isOn(gate: string): boolean
}

function readBy(config: KubeletConfig, version: KubeletVersion): Reading {
  const { minor } = version
  const isOn = (gate: string) => isOnAt(gate, gatesOf(config), minor) === true
  return { minor, effective: effectiveConfig(config, version), isOn }
}

function compareMeaning(name: string, row: FieldRow, before: Reading, after: Reading): readonly MeaningChange[] {
  const [left, right] = [before.effective.get(name), after.effective.get(name)]
  // A field that a kubelet does not know any more is a finding of its own.
  if (!isKnown(row, after.minor)) return []
  const meaning = MEANINGS[name]
  const isSet = left?.isDefault === false || right?.isDefault === false
  const kind = isSet ? 'value' : 'default'
  const path = name.split('.')
  const [was, is] = [meaning?.read(left?.value, before.isOn, before.minor), meaning?.read(right?.value, after.isOn, after.minor)]
  if (was !== undefined || is !== undefined) {
    const texts = { before: was ?? formatSide(left), after: is ?? formatSide(right) }
    // No throttling on either kubelet is the same, whatever the reason for it.
    const isSame = texts.before === texts.after || [was, is].every((text) => text?.startsWith(NO_THROTTLING))
    const known = after.minor > before.minor ? meaning?.advice : undefined
    const keeping = left?.value === right?.value ? undefined : adviseKeeping(path, left?.value)
    return isSame ? [] : [{ kind, path, ...texts, advice: isSet ? known : keeping }]
  }
  const isNew = !isKnown(row, before.minor)
  return compareField(path, row, left ?? unsetValue(name, row, isNew), right ?? unsetValue(name, row, false)).map((change) => ({
    kind: change.after?.isDefault === false || change.before?.isDefault === false ? 'value' : 'default',
    path: change.path,
    before: isNew && isSet ? 'not read' : formatSide(change.before),
    after: formatSide(change.after),
    advice: isSet ? undefined : adviseKeeping(change.path, change.before?.value),
  }))
}

/** A field begins with what kubelet did without it. */
function unsetValue(name: string, { initial }: FieldRow, isNew: boolean): Effective | undefined {
  const value = CONSTANTS[name] ?? (isNew ? initial?.[0]?.[1] : undefined)
  return value === undefined ? undefined : { value, isDefault: true }
}

function adviseKeeping(path: FieldPath, value: unknown): string | undefined {
  return value === undefined ? undefined : `write ${formatPath(path)}: ${JSON.stringify(value)} to keep it`
}

const NOT_THERE = 'not there'

type Gates = Readonly<Record<string, unknown>>

function gatesOf({ featureGates }: KubeletConfig): Gates {
  return isObject(featureGates) ? featureGates : {}
}

/** One that is gone stays as it was last. undefined: not known yet. */
function isOnAt(gate: string, gates: Gates, minor: number): boolean | undefined {
  const state = lastState(gate, minor)
  return state && isGateOn(gate, state, gates)
}

function lastState(gate: string, minor: number): GateState | undefined {
  return periodsOf(gate).findLast(({ from, state }) => from <= minor && state !== undefined)?.state
}

function listTurned(config: KubeletConfig, from: number, to: number): readonly MeaningChange[] {
  const gates = gatesOf(config)
  return listGates().flatMap((gate): MeaningChange[] => {
    if (Object.hasOwn(gates, gate)) return []
    const [was, is] = [isOnAt(gate, gates, from), isOnAt(gate, gates, to)]
    const [isBefore, isAfter] = [was, is].map((on) => on ?? isOldBehavior(gate))
    if (isBefore === isAfter) return []
    const before = isBefore ? 'on' : was === undefined ? NOT_THERE : 'off'
    return [{ kind: 'gate', path: ['featureGates', gate], before, after: isAfter ? 'on' : 'off', advice: undefined }]
  })
}

/**
 * Whether a gate switches behavior that kubelet had before. A gate that begins as alpha or beta
 * switches something new.
 */
function isOldBehavior(gate: string): boolean {
  const first = periodsOf(gate)[0]?.state
  return first?.on === true && first.stage !== 'beta' && first.stage !== 'alpha'
}

/** For people: gates that turned the same way are one finding. */
export function describeMeanings(
  changes: readonly MeaningChange[],
  from: KubeletVersion,
  to: KubeletVersion,
  document: Pick<ConfigDocument, 'locate'>,
): readonly Finding[] {
  const [old, young] = [from, to].map(({ major, minor }) => `kubelet ${major}.${minor}`)
  const fields = changes.flatMap(({ kind, path, before, after, advice }): Finding[] => {
    if (kind === 'gate') return []
    const name = formatPath(path)
    const both = `to ${old}: ${before}; to ${young}: ${after}`
    const place = { reason: 'validate', path, position: locateNearest(document, path), advice } as const
    return kind === 'value'
      ? [{ rule: 'meaning/value', severity: 'warn', problem: `${name} changes its meaning: ${both}`, ...place }]
      : [{ rule: 'meaning/default', severity: 'info', problem: `${name} is not set, and its default changes: ${both}`, ...place }]
  })
  const gates = ['on', 'off'].flatMap((side): Finding[] => {
    const turned = changes
      .filter(({ kind, after }) => kind === 'gate' && after === side)
      .map(({ path, before }) => `${path[1]}${before === NOT_THERE ? ' (new)' : ''}`)
    if (turned.length === 0) return []
    const problem = `not set, by default ${side === 'on' ? 'off' : 'on'} in ${old} and ${side} in ${young}: ${turned.join(', ')}`
    const advice = 'some are of other components; set those that should stay as they are, as long as kubelet lets them be set'
    return [{ rule: 'meaning/gate', severity: 'info', reason: 'validate', path: ['featureGates'], position: undefined, problem, advice }]
  })
  return [...fields, ...gates]
}
