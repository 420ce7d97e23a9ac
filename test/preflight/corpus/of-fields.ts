// SPDX-License-Identifier: Apache-2.0
/** Every field of kubelet 1.20: with a valid value, with a wrong one, and with null. */

import type { Field, FieldType } from '../../../src/kubelet/field.ts'
import { FIELDS, isKnown, NEWEST_MINOR } from '../../../src/kubelet/fields.ts'
import { below, type Candidate, withFields } from './candidate.ts'

export const FITTING: Readonly<Record<FieldType, unknown>> = {
  string: '',
  boolean: true,
  int32: 7,
  int64: 7,
  uint32: 7,
  number: 0.5,
  duration: '1m30s',
  'nullable-duration': '100ms',
  nanoseconds: 5_000_000_000,
  quantity: '1Mi',
  time: '2024-05-01T12:00:00Z',
  object: {},
  objects: [],
  strings: [],
  int32s: [],
  'string-map': {},
  'boolean-map': {},
  'strings-map': { Accept: ['a', 'b'] },
  'quantity-map': {},
}

/** Typical mistakes: in quotes, without a list, without a unit. */
export const UNFIT: Readonly<Record<FieldType, unknown>> = {
  string: 5,
  boolean: 'false',
  int32: '7',
  int64: 7.5,
  uint32: -1,
  number: '0.5',
  duration: 60,
  'nullable-duration': '1 minute',
  nanoseconds: true,
  quantity: true,
  time: 'yesterday',
  object: 'all',
  objects: {},
  strings: 'one',
  int32s: ['1'],
  'string-map': { cpu: 1 },
  'boolean-map': { AllAlpha: 'false' },
  'strings-map': { Accept: 'a' },
  'quantity-map': [],
}

const fields: readonly (readonly [name: string, field: Field])[] = Object.entries(FIELDS)
const old = fields.filter(([, field]) => isKnown(field, 20))
const added = fields.filter(([, field]) => !isKnown(field, 20) && isKnown(field, NEWEST_MINOR))
const fromAll = (values: Readonly<Record<FieldType, unknown>>, some: typeof fields) =>
  Object.fromEntries(some.map(([name, { type }]) => [name, values[type]]))
const isPeriod = ([, { type }]: (typeof fields)[number]) => type === 'duration'

/** Their values would be refused in combination with others. */
const NEEDY = [
  ...['imageGCHighThresholdPercent', 'shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'],
  ...['readOnlyPort', 'healthzPort', 'iptablesDropBit'],
]
/** One by one they say nothing more. */
const PLAIN: readonly FieldType[] = ['string', 'boolean', 'int32', 'duration']

export function listFieldCandidates(): Candidate[] {
  return [
    {
      ...withFields(
        fromAll(
          FITTING,
          old.filter(([name]) => !NEEDY.includes(name)),
        ),
      ),
      name: 'all old fields, fitting',
    },
    ...old.filter(([, { type }]) => !PLAIN.includes(type)).map((field) => withFields(fromAll(FITTING, [field]))),
    ...old.map((field) => withFields(fromAll(UNFIT, [field]))),
    ...old.filter(isPeriod).map(([name]) => below(`${name}:`)),
    {
      ...below(
        old
          .filter((field) => !isPeriod(field))
          .map(([name]) => `${name}:`)
          .join('\n'),
      ),
      name: 'all old fields but durations, with nothing',
    },
    { ...withFields(fromAll(FITTING, added)), name: 'all new fields, fitting' },
    { ...withFields(fromAll(UNFIT, added)), name: 'all new fields, unfit' },
    ...NESTED.map(below),
  ]
}

const NESTED = [
  'authentication: {x509: {clientCAFile: ""}, webhook: {enabled: false, cacheTTL: 1m}, anonymous: {enabled: true}}',
  'authentication: {x509: {clientCAFile: 5}}',
  'authentication: {x509: {clientCAFile: null}}',
  'authentication: {x509: "/etc/kubernetes/pki/ca.crt"}',
  'authentication: {webhook: {enabled: "false"}}',
  'authentication: {webhook: {enabled: "true"}}',
  'authentication: {webhook: {enabled: null}}',
  'authentication: {webhook: {cacheTTL: 120}}',
  'authentication: {webhook: {cacheTTL: null}}',
  'authentication: {webhook: {cacheTTL: 0s}}',
  'authentication: {anonymous: {enabled: "false"}}',
  'authentication: {anonymous: false}',
  'authentication: {anonymous: {enable: false}}',
  'authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 5m0s, cacheUnauthorizedTTL: 30s}}',
  'authorization: {mode: AlwaysAllow}',
  'authorization: {mode: ""}',
  'authorization: {mode: null}',
  'authorization: {mode: [Webhook]}',
  'authorization: {webhook: {cacheAuthorizedTTL: null}}',
  'authorization: {webhook: {cacheUnauthorizedTTL: 30}}',
  'authorization: Webhook',
  'logging: {format: text}',
  'logging: {format: json}',
  'logging: {format: ""}',
  'logging: {format: JSON}',
  'logging: {format: 5}',
  'logging: {sanitization: true}',
  'logging: {sanitization: "true"}',
  'logging: {verbosity: 5, flushFrequency: 5s}',
  'logging: {verbosity: "loud", vmodule: 7}',
  'clusterDNS: [null]',
  'clusterDNS: ["10.96.0.10", 5]',
  'clusterDNS: [["10.96.0.10"]]',
  'evictionHard: {memory.available: 5}',
  'evictionHard: {memory.available: null}',
  'evictionHard: ["memory.available"]',
  'staticPodURLHeader: {Accept: [5]}',
  'staticPodURLHeader: {Accept: null}',
  'featureGates: {AllAlpha: null}',
  'featureGates: {AllAlpha: 1}',
  'featureGates: {AllAlpha: false, AllBeta: true}',
  'featureGates: [AllAlpha]',
  'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]',
  'registerWithTaints: [{key: a, effect: NoSchedule}]',
]
