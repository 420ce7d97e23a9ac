// SPDX-License-Identifier: Apache-2.0
/** Random configs of known fields, for property tests of comparing them. */
import fc from 'fast-check'
import type { KubeletConfig } from '../../../src/kubelet/decode.ts'
import type { FieldType } from '../../../src/kubelet/field.ts'
import { FIELDS, NEWEST_MINOR } from '../../../src/kubelet/fields.ts'
import type { KubeletVersion } from '../../../src/preflight/kubelet-version.ts'

const text = fc.constantFrom('', 'none', 'static', '/etc/x', '1Gi', '1024Mi', '10%', '0,1')
const duration = fc.constantFrom('0s', '1m', '60s', '1h0m0s', '90s')
const key = fc.constantFrom('memory.available', 'cpu', 'memory', 'A', 'B')
const json = fc.dictionary(key, fc.oneof(text, fc.integer(), fc.boolean(), fc.dictionary(key, text)), { maxKeys: 3 })

const VALUES: Readonly<Record<FieldType, fc.Arbitrary<unknown>>> = {
  string: text,
  boolean: fc.boolean(),
  int32: fc.constantFrom(0, 1, 5, 50, 110, -1),
  int64: fc.constantFrom(0, 1, -1, -5, 4096),
  number: fc.constantFrom(0, 0.8, 0.9),
  duration,
  'nullable-duration': duration,
  uint32: fc.constantFrom(0, 1),
  nanoseconds: duration,
  quantity: text,
  time: text,
  'quantity-map': fc.dictionary(key, text, { maxKeys: 3 }),
  object: json,
  objects: fc.array(json, { maxLength: 2 }),
  strings: fc.array(text, { maxLength: 2 }),
  int32s: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }),
  'string-map': fc.dictionary(key, text, { maxKeys: 3 }),
  'boolean-map': fc.dictionary(key, fc.boolean(), { maxKeys: 3 }),
  'strings-map': fc.dictionary(key, fc.array(text, { maxLength: 2 }), { maxKeys: 2 }),
}

const authentication = fc.record(
  {
    anonymous: fc.record({ enabled: fc.boolean() }, { requiredKeys: [] }),
    webhook: fc.record({ enabled: fc.boolean(), cacheTTL: duration }, { requiredKeys: [] }),
    x509: fc.record({ clientCAFile: text }, { requiredKeys: [] }),
    other: text,
  },
  { requiredKeys: [] },
)

const field: fc.Arbitrary<readonly [string, unknown]> = fc.oneof(
  fc
    .constantFrom(...Object.entries(FIELDS))
    .chain(([name, { type }]) => fc.oneof(VALUES[type], fc.constant(null)).map((value) => [name, value] as const)),
  authentication.map((value) => ['authentication', value] as const),
  fc.tuple(fc.constantFrom('maxPod', 'x'), text),
)

export const anyConfig: fc.Arbitrary<KubeletConfig> = fc.array(field, { maxLength: 12 }).map((fields) => Object.fromEntries(fields))

export const anyVersion: fc.Arbitrary<KubeletVersion | undefined> = fc.option(
  fc.integer({ min: 20, max: NEWEST_MINOR + 1 }).map((minor) => ({ major: 1, minor, patch: 0 })),
  { nil: undefined },
)

export function v(minor: number): KubeletVersion {
  return { major: 1, minor, patch: 0 }
}
