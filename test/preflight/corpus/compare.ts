// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the rules of fields with what a kubelet said of candidates. Both directions count: what
 * the rules refuse and kubelet loads, and what they accept and it refuses. Known differences are in
 * `disagreements.json`.
 */
import { formatPath } from '../../../src/kubelet/field-path.ts'
import { parseUncommon } from '../../../src/kubelet/yaml.ts'
import { formatSide } from '../../../src/preflight/change/change.ts'
import { findMisread } from '../../../src/preflight/change/check-same.ts'
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { checkFields } from '../../../src/preflight/check-fields.ts'
import { readDocument } from '../../../src/preflight/document.ts'
import { findEffectiveConfig } from '../../../src/preflight/kubelet/final-message.ts'
import type { KubeletVersion } from '../../../src/preflight/kubelet-version.ts'
import { isObject } from '../../../src/values/is-object.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'
import type { Candidate } from './candidate.ts'
import { type Disagreement, isKnown, type Machine } from './recorded.ts'

const LONGEST = 200

interface Comparison {
  readonly accepted: number
  readonly refused: number
  /** Known differences. */
  readonly listed: number
  /** Differences that are not known, and known ones that are none: with what both say. */
  readonly surprises: readonly string[]
}

/** By the rules of fields; undefined: they accept it. */
export async function refusalOf(text: string, version: KubeletVersion, knowsFlags = false): Promise<string | undefined> {
  const read = await readDocument(text, IN_PLACE)
  if (!read.ok) return read.detail
  // A value that a flag could supply is not kubelet's to judge from the config alone.
  const options = { version, unknownKeys: 'warn', unseen: knowsFlags ? undefined : 'flags' } as const
  const refusals = checkFields(read.document, options).filter(({ severity }) => severity === 'refuse')
  return refusals.length === 0 ? undefined : refusals.map(({ problem }) => problem).join('; ')
}

/** Where the effective config in kubelet's output is not the one that the rules expect. */
export async function misreadIn(
  text: string,
  output: string,
  flags: readonly string[],
  version: KubeletVersion,
): Promise<readonly string[]> {
  const effective = parseUncommon(findEffectiveConfig(output) ?? '')
  const read = await readDocument(text, IN_PLACE)
  if (!read.ok) return []
  if (!effective.ok || !isObject(effective.value)) return ['it logs no effective config']
  return findMisread(read.document.config, effective.value, version, collectFlags(flags)).map(
    ({ path, meant, running }) => `${formatPath(path)} is ${formatSide(running)}, and not ${formatSide(meant)}`,
  )
}

/**
 * @param verdicts by the names of the candidates; `accepted`, or kubelet's words
 * @param disagreements by the names of the candidates
 */
export async function compare(
  candidates: readonly Candidate[],
  verdicts: ReadonlyMap<string, string>,
  disagreements: ReadonlyMap<string, Disagreement>,
  version: KubeletVersion,
  machine: Machine,
): Promise<Comparison> {
  const surprises: string[] = []
  const counts = { accepted: 0, refused: 0, listed: 0 }
  for (const { name, text } of candidates) {
    const theirs = verdicts.get(name) ?? 'not asked'
    const ours = await refusalOf(text, version)
    const known = disagreements.get(name)
    const listed = known !== undefined && isKnown(known, version.minor, machine)
    const agree = (theirs === 'accepted') === (ours === undefined)
    if (agree === listed)
      surprises.push(describe(name, theirs, ours, agree ? 'they agree, and the list says that they do not' : 'not listed'))
    else if (listed && ours === undefined && known.judgedBy === undefined) surprises.push(describe(name, theirs, ours, 'nobody judges it'))
    else if (listed) counts.listed += 1
    else counts[ours === undefined ? 'accepted' : 'refused'] += 1
  }
  return { ...counts, surprises }
}

function describe(name: string, theirs: string, ours: string | undefined, what: string): string {
  const [short, said] = [JSON.stringify(name), ours ?? 'accepted'].map((text) => text.slice(0, LONGEST))
  return `${short}: ${what}; kubelet: ${theirs.slice(0, LONGEST)}; rules: ${said}`
}
