// SPDX-License-Identifier: Apache-2.0
/**
 * The config that kubelet makes of the file of `--config` and its drop-ins. Pure. Rules:
 * `mergeKubeletConfigurations`, cmd/kubelet/app/server.go. From 1.30 on, kubelet applies each
 * drop-in as a JSON merge patch (RFC 7386). The config that is patched has its defaults already, so
 * defaults that depend on other fields are those of the file alone. Before 1.30 (alpha) kubelet
 * merges Go structs that have defaults too; that is not computed here.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { NEWEST_MINOR } from '../../kubelet/fields.ts'
import { isObject } from '../../values/is-object.ts'
import { mergePatch } from '../../values/merge-patch.ts'
import { effectiveConfig } from '../change/effective.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import type { DropIn, DropInsHere, MergeOrder } from './read-drop-ins.ts'

/** Where drop-ins are JSON merge patches. */
const FIRST_WITH_PATCHES = 30
/** Where the patches have the names of v1beta1, and a null removes a field. */
const FIRST_WITH_NAMES = 32

/** Whether `mergeDropIns` computes what this version does. */
export function mergesByPatch(version: KubeletVersion | undefined): boolean {
  return version === undefined || version.minor >= FIRST_WITH_PATCHES
}

/** @param config as it is, or as a drop-in in this order */
export function mergeAround(config: KubeletConfig, { base, below, above }: MergeOrder, version: KubeletVersion | undefined): KubeletConfig {
  const patches = [...below.map(toConfig), ...(base === undefined ? [] : [config]), ...above.map(toConfig)]
  return mergeDropIns(base?.config ?? config, patches, version)
}

/** Merges the drop-ins of this node, if there are any, into a config as kubelet does. */
export function mergeWith(dropIns: DropInsHere | undefined, config: KubeletConfig, version: KubeletVersion | undefined): KubeletConfig {
  return dropIns?.kind === 'usable' && mergesByPatch(version) ? mergeAround(config, dropIns.order, version) : config
}

const toConfig = ({ config }: { readonly config: KubeletConfig }) => config

export function mergeDropIns(base: KubeletConfig, patches: readonly KubeletConfig[], version: KubeletVersion | undefined): KubeletConfig {
  const known = patches.map((patch) => asPatch(patch, version))
  const settled = fillDependent(isBeforeNames(version) ? base : withoutEmptyLists(base), known, version)
  const merged = known.reduce<unknown>(mergePatch, settled)
  if (!isObject(merged)) return {}
  // Unlike other defaults, that of the thresholds is filled in before the merge alone.
  const isRemoved = known.some((patch) => patch.evictionHard === null) && !Object.hasOwn(merged, 'evictionHard')
  return isRemoved ? { ...merged, evictionHard: {} } : merged
}

/** The drop-ins with what this version takes from them. */
export function asMerged(order: MergeOrder, version: KubeletVersion | undefined): MergeOrder {
  const read = (dropIn: DropIn): DropIn => ({ ...dropIn, config: asPatch(dropIn.config, version) })
  return { base: order.base, below: order.below.map(read), above: order.above.map(read) }
}

function asPatch(patch: KubeletConfig, version: KubeletVersion | undefined): KubeletConfig {
  return isBeforeNames(version) ? asBeforeNames(patch) : withoutKind(patch)
}

function isBeforeNames(version: KubeletVersion | undefined): boolean {
  return (version?.minor ?? NEWEST_MINOR) < FIRST_WITH_NAMES
}

function withoutKind({ apiVersion: _, kind: __, ...fields }: KubeletConfig): KubeletConfig {
  return fields
}

/**
 * 1.30 and 1.31 merge the names of Go's internal type and decode them into a config that has values
 * already: a null has no effect, nor has resolvConf, which is called ResolverConfig there
 * (kubernetes issue 127421).
 */
function asBeforeNames(patch: KubeletConfig): KubeletConfig {
  const { resolvConf: _, ...others } = withoutKind(patch)
  return withoutNulls(others)
}

function withoutNulls(value: KubeletConfig): KubeletConfig {
  const entries = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(entries.map(([name, inner]) => [name, isObject(inner) ? withoutNulls(inner) : inner]))
}

/**
 * Kubelet writes the config as JSON (`omitempty`) before it patches it, so that an empty list gets
 * its default again: `enforceNodeAllocatable: []` becomes `[pods]`, even without any drop-in.
 */
function withoutEmptyLists(base: KubeletConfig): KubeletConfig {
  return Object.fromEntries(Object.entries(base).filter(([, value]) => !(Array.isArray(value) && value.length === 0)))
}

/**
 * Fields whose default the file of `--config` decides, though a drop-in sets what it depends on.
 */
const DEPENDENT: readonly (readonly [cause: string, name: string])[] = [
  ['evictionHard', 'evictionHard'],
  ['mergeDefaultEvictionSettings', 'evictionHard'],
  ['maxParallelImagePulls', 'serializeImagePulls'],
  ['nodeStatusUpdateFrequency', 'nodeStatusReportFrequency'],
  ['featureGates', 'crashLoopBackOff.maxContainerRestartPeriod'],
  ['featureGates', 'imagePullCredentialsVerificationPolicy'],
]

function fillDependent(base: KubeletConfig, patches: readonly KubeletConfig[], version: KubeletVersion | undefined): unknown {
  const effective = effectiveConfig(base, version)
  const filled = DEPENDENT.filter(([cause]) => patches.some((patch) => Object.hasOwn(patch, cause)))
  return filled.reduce<unknown>((config, [, name]) => {
    const value = effective.get(name)?.value
    return value === undefined ? config : mergePatch(config, nest(name.split('.'), value))
  }, base)
}

function nest([step, ...rest]: readonly string[], value: unknown): unknown {
  return step === undefined ? value : { [step]: nest(rest, value) }
}
