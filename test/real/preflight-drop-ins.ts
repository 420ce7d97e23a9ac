// SPDX-License-Identifier: Apache-2.0
/**
 * The config that the agent computes with kubelet's drop-ins, beside the one that a real kubelet
 * makes: values that are empty, null or zero, and defaults that depend on another field.
 */
import { strict as assert } from 'node:assert'
import { effectiveConfig } from '../../src/preflight/change/effective.ts'
import { mergeDropIns } from '../../src/preflight/drop-ins/merge-drop-ins.ts'
import { parseGoDuration } from '../../src/values/go-syntax.ts'
import { askMerged, type Merged, SERVED_SINCE } from './kubelet-merge.ts'
import type { AskedKubelet } from './kubelet-verdict.ts'

const THRESHOLD = { 'memory.available': '1%' }

/** Fields whose values are compared, and what is merged: the file first. */
const CASES: readonly (readonly [fields: readonly string[], file: object, ...dropIns: readonly object[]])[] = [
  [['enforceNodeAllocatable'], { enforceNodeAllocatable: [] }],
  [['enforceNodeAllocatable'], { enforceNodeAllocatable: [] }, {}],
  [['enforceNodeAllocatable'], {}, { enforceNodeAllocatable: [] }],
  [['enforceNodeAllocatable'], { enforceNodeAllocatable: [] }, { enforceNodeAllocatable: null }],
  [['enforceNodeAllocatable'], { enforceNodeAllocatable: ['none'] }, { enforceNodeAllocatable: null }],
  [['enforceNodeAllocatable'], { enforceNodeAllocatable: ['none'] }, { enforceNodeAllocatable: [] }],
  [['enforceNodeAllocatable'], { enforceNodeAllocatable: ['none'] }, {}],
  [['evictionHard'], { evictionHard: {} }],
  [['evictionHard'], { evictionHard: {} }, { evictionHard: THRESHOLD }],
  [['evictionHard'], {}, { evictionHard: THRESHOLD }],
  [['evictionHard'], {}, { evictionHard: {} }],
  [['evictionHard'], {}, { evictionHard: null }],
  [['evictionHard'], { evictionHard: THRESHOLD }, { evictionHard: null }],
  [['evictionHard'], { evictionHard: THRESHOLD }, { evictionHard: null }, { evictionHard: { 'nodefs.available': '5%' } }],
  [['evictionHard'], {}, { evictionHard: { 'memory.available': null } }],
  [['evictionHard'], { evictionHard: THRESHOLD }, { evictionHard: { 'memory.available': null } }],
  [['clusterDNS', 'systemReserved', 'featureGates'], { clusterDNS: [], systemReserved: {}, featureGates: {} }, {}],
  [['registryPullQPS', 'healthzPort', 'podsPerCore'], { registryPullQPS: 0, healthzPort: 0, podsPerCore: 0 }, {}],
  [['maxPods', 'syncFrequency'], { maxPods: 7 }, { maxPods: 0, syncFrequency: '0s' }],
  [['authentication.webhook.enabled'], { authentication: { webhook: { enabled: false } } }, { authentication: null }],
  [['nodeStatusReportFrequency'], {}, { nodeStatusUpdateFrequency: '30s' }],
  [['nodeStatusReportFrequency'], { nodeStatusUpdateFrequency: '30s' }, { nodeStatusUpdateFrequency: null }],
  [['serializeImagePulls', 'maxParallelImagePulls'], { maxParallelImagePulls: 5 }, { maxParallelImagePulls: null }],
  [['serializeImagePulls'], { serializeImagePulls: false }, { serializeImagePulls: null }],
]

export async function compareMerged(kubelet: AskedKubelet): Promise<void> {
  const wrong: string[] = []
  for (const [fields, file, ...dropIns] of CASES) {
    const theirs = await askMerged(kubelet, { file, dropIns })
    const ours = computeMerged({ file, dropIns }, kubelet.minor)
    for (const field of fields) {
      const [real, computed] = [valueAt(theirs, field), ours.get(field)?.value].map(comparable)
      const isLeftOut = kubelet.minor >= SERVED_SINCE && real === 'nothing' && computed === '0'
      if (real !== computed && !isLeftOut) wrong.push(`${JSON.stringify([file, ...dropIns])}: ${field} is ${real}, and not ${computed}`)
    }
  }
  assert.deepEqual(wrong, [])
}

function computeMerged({ file, dropIns }: Merged, minor: number): ReturnType<typeof effectiveConfig> {
  const version = { major: 1, minor, patch: 0 }
  return effectiveConfig(
    mergeDropIns(
      { ...file },
      dropIns.map((dropIn) => ({ ...dropIn })),
      version,
    ),
    version,
  )
}

/** The internal type has the same names, in capitals. */
function valueAt(config: object, field: string): unknown {
  const read = (value: object, step: string) => Object(value)[step] ?? Object(value)[step.replace(/^./, (letter) => letter.toUpperCase())]
  return field.split('.').reduce<unknown>((value, step) => read(Object(value), step), config)
}

/** Go does not tell what is empty from what is missing here; `60s` and `1m0s` are one duration. */
function comparable(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (typeof value === 'string') return String(parseGoDuration(value) ?? value)
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.length === 0 ? 'nothing' : JSON.stringify(entries)
}
