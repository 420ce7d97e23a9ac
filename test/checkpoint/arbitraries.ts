// SPDX-License-Identifier: Apache-2.0
/**
 * Safe names, and sources and data made of them, for property tests; biased towards names that are
 * not strings in YAML.
 */
import fc from 'fast-check'
import type { CheckpointFile, ConfigMapSource } from '../../src/subject/config-source.ts'

const tricky = fc.constantFrom('null', 'true', 'y', 'No', '1e3', '0x10', '0o7', '010', '1_0', '2021-02-03', '.5', '.nan', '-', '---', '212')
export const anyName = fc.oneof(tricky, fc.stringMatching(/^[a-zA-Z0-9_-][-._a-zA-Z0-9]{0,30}$/))
export const anyKey = fc.oneof(anyName, fc.constantFrom('__proto__', 'constructor', '.hidden', 'kubelet'))
const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary' }))
/** Not by assignment, so `__proto__` is a key like any other. */
export const anyData = fc
  .uniqueArray(fc.tuple(anyKey, anyText), { selector: ([key]) => key, maxLength: 5 })
  .map((pairs) => Object.fromEntries(pairs))
const anyOverlay = fc.stringMatching(/^[0-9a-f]{16}$/)
export const anyFile: fc.Arbitrary<CheckpointFile> = fc.record(
  { uid: anyName, resourceVersion: anyName, kubeletConfigKey: anyKey, overlay: anyOverlay },
  { noNullPrototype: true, requiredKeys: ['uid', 'resourceVersion', 'kubeletConfigKey'] },
)
export const anySource: fc.Arbitrary<ConfigMapSource> = fc.record(
  {
    namespace: anyName,
    name: anyName,
    kubeletConfigKey: anyKey,
    uid: anyName,
    resourceVersion: anyName,
    overlay: anyOverlay,
  },
  { noNullPrototype: true, requiredKeys: ['namespace', 'name', 'kubeletConfigKey', 'uid', 'resourceVersion'] },
)
