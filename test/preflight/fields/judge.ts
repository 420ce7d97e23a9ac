// SPDX-License-Identifier: Apache-2.0
/** The field rules on a config that is given as an object, in short. */
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { checkFields } from '../../../src/preflight/check-fields.ts'
import type { Unseen } from '../../../src/preflight/fields/complaint.ts'
import type { Finding } from '../../../src/preflight/finding.ts'
import { v } from '../change/configs.ts'
import { NOWHERE } from '../node/node-options.ts'

interface Place {
  /** undefined: the newest. null: unknown. */
  readonly minor?: number | null
  readonly flags?: readonly string[]
  readonly unseen?: Unseen | undefined
  readonly isDropIn?: boolean
}

export function judge(config: object, { minor = 37, flags = [], unseen, isDropIn }: Place = {}): Finding[] {
  const document = { text: '', config: { ...config }, repeated: [], ...NOWHERE }
  const version = minor === null ? undefined : v(minor)
  return checkFields(document, { version, unknownKeys: 'warn', flags: collectFlags(flags), unseen, ...(isDropIn && { isDropIn }) })
}

/** Of rules that begin with these: `refuse fields/endpoint containerRuntimeEndpoint`. */
export function inShort(findings: readonly Finding[], ...families: readonly string[]): string[] {
  return findings
    .filter(({ rule }) => families.length === 0 || families.some((family) => rule.startsWith(family)))
    .map(({ severity, rule, path }) => `${severity} ${rule} ${path.join('.')}`)
}
