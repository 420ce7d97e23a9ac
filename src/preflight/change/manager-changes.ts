// SPDX-License-Identifier: Apache-2.0
/**
 * Changes of what kubelet's CPU, memory and topology managers go by. Kubelet admits the pods that
 * run anew with it: it rejects those that do not fit any more, and gives CPUs to others. So such a
 * change waits for a drained node, whatever the settings say. Pure. Rules: `HandlePodAdditions`,
 * pkg/kubelet/kubelet.go; `NewManager`, pkg/kubelet/cm/cpumanager/cpu_manager.go (1.20 to 1.38).
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { resolveGate } from '../../kubelet/gates.ts'
import { parseQuantity, roundUp } from '../../kubelet/quantity.ts'
import { isObject } from '../../values/is-object.ts'
import type { ConfigDocument } from '../document.ts'
import { type Finding, MANAGERS, waitsForDrain } from '../finding.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import type { Change } from './change.ts'
import { type EffectiveConfig, effectiveConfig } from './effective.ts'
import { type KubeletFlags, overlayFlags, overridingFlag } from './kubelet-flags.ts'

interface Sides {
  readonly before: EffectiveConfig
  readonly after: EffectiveConfig
  readonly version: KubeletVersion | undefined
}

const ALWAYS = () => true
const alignsNothing = ({ after }: Sides) => (after.get('topologyManagerPolicy')?.value ?? 'none') === 'none'
const hasStaticCpus = ({ after }: Sides) => after.get('cpuManagerPolicy')?.value === 'static'
const hasStaticMemory = ({ after }: Sides) => after.get('memoryManagerPolicy')?.value === 'Static'
/** The form of the state files depends on this gate, and so does what pods are given. */
const changesPodLevel = (sides: Sides) => {
  if (!hasStaticCpus(sides) && !hasStaticMemory(sides)) return false
  const [before, after] = [sides.before, sides.after].map((side) => {
    const gates = side.get('featureGates')?.value
    return resolveGate('PodLevelResourceManagers', sides.version?.minor, isObject(gates) ? gates : {})
  })
  return before === undefined || before !== after
}
const changesReserved = (sides: Sides) => hasStaticCpus(sides) && reservedCpus(sides.before) !== reservedCpus(sides.after)

/** By the path of the change: whether a manager goes by it. */
const ROWS: ReadonlyMap<string, (sides: Sides) => boolean> = new Map([
  ['cpuManagerPolicy', ALWAYS],
  ['cpuManagerPolicyOptions', hasStaticCpus],
  ['reservedSystemCPUs', hasStaticCpus],
  ['systemReserved.cpu', changesReserved],
  ['kubeReserved.cpu', changesReserved],
  ['memoryManagerPolicy', ALWAYS],
  ['reservedMemory', hasStaticMemory],
  ['topologyManagerPolicy', ALWAYS],
  ['topologyManagerScope', (sides) => !alignsNothing(sides)],
  ['featureGates.PodLevelResourceManagers', changesPodLevel],
  ['featureGates.AllAlpha', changesPodLevel],
  ['featureGates.AllBeta', changesPodLevel],
])

interface Compared {
  readonly changes: readonly Change[]
  readonly before: KubeletConfig
  readonly after: KubeletConfig
  readonly flags: KubeletFlags
  readonly version: KubeletVersion | undefined
}

export function findManagerChanges(compared: Compared, document: Pick<ConfigDocument, 'locate'>): Finding[] {
  const { changes, flags, version } = compared
  const effective = (config: KubeletConfig) => effectiveConfig(overlayFlags(config, flags, version).config, version)
  const sides = { before: effective(compared.before), after: effective(compared.after), version }
  return changes.flatMap(({ path, risk }): Finding[] => {
    const row = ROWS.get(path.join('.')) ?? ROWS.get(String(path[0]))
    if (row === undefined || risk === 'none' || overridingFlag(path, flags) !== undefined || !row(sides)) return []
    return [waitsForDrain(MANAGERS, path, document, ', once no pod has CPUs, memory or devices to lose')]
  })
}

/** Kubelet reserves whole CPUs. A list of CPUs counts in place of the two quantities. */
function reservedCpus(config: EffectiveConfig): string {
  const named = config.get('reservedSystemCPUs')?.value
  if (typeof named === 'string' && named !== '') return named
  const quantities = ['systemReserved', 'kubeReserved'].map((name) => {
    const value = config.get(name)?.value
    return parseQuantity(String((isObject(value) ? value.cpu : undefined) ?? '0')) ?? 0n
  })
  return `${roundUp(quantities.reduce((a, b) => a + b, 0n))} CPUs`
}
