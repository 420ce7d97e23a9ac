// SPDX-License-Identifier: Apache-2.0
/**
 * Values that hold something that nobody meant to write: a template that was not rendered, a curly
 * quote, a space that is none. Pure. Kubelet takes such a text where any text will do, and then it
 * is a warning, for the fields that cannot have it. Where another rule complains of the value, that
 * one says the reason.
 */
import { type FieldPath, valueAt } from '../../kubelet/field-path.ts'
import { findMarkIn, type LeftMark } from '../../kubelet/left-marks.ts'
import { isObject } from '../../values/is-object.ts'
import type { FieldProblem, FieldRuleInput } from './complaint.ts'

/** No address, quantity, name of a signal, cipher or CPU has such a mark. A path may. */
const NEVER_MARKED: readonly string[] = [
  'address',
  'clusterDNS',
  'clusterDomain',
  'enforceNodeAllocatable',
  'evictionHard',
  'evictionMinimumReclaim',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'featureGates',
  'healthzBindAddress',
  'kubeReserved',
  'podCIDR',
  'qosReserved',
  'reservedSystemCPUs',
  'systemReserved',
  'tlsCipherSuites',
]
const RULES = { template: { rule: 'template' }, character: { rule: 'odd-character' } } as const
const MOST = 100

export function adviseMarks(complaints: readonly FieldProblem[], { config }: FieldRuleInput): FieldProblem[] {
  const told = new Set<string>()
  const advised = complaints.map((complaint): FieldProblem => {
    const mark = findMark(config, complaint.path)
    if (mark === undefined) return complaint
    told.add(String(complaint.path[0]))
    const { mistyped: _, ...rest } = complaint
    return { ...rest, advice: `${mark.what}: ${mark.advice}` }
  })
  return [...advised, ...NEVER_MARKED.filter((name) => !told.has(name)).flatMap((name) => remark(config[name], [name]))]
}

/** In the value at the path, or in the name of its key. */
function findMark(config: unknown, path: FieldPath): LeftMark | undefined {
  for (const text of [valueAt(config, path), path.at(-1)]) {
    const mark = typeof text === 'string' ? findMarkIn(text) : undefined
    if (mark !== undefined) return mark
  }
  return undefined
}

function remark(value: unknown, path: FieldPath): FieldProblem[] {
  const texts: [step: string | number | undefined, text: unknown][] = isObject(value)
    ? Object.entries(value).slice(0, MOST)
    : Array.isArray(value)
      ? [...value.slice(0, MOST).entries()]
      : [[undefined, value]]
  return texts.flatMap(([step, text]): FieldProblem[] => {
    const here = step === undefined ? path : [...path, step]
    const mark = findMark({ [here[0] ?? '']: value }, here)
    if (mark === undefined || (typeof text !== 'string' && typeof step !== 'string')) return []
    return [{ ...RULES[mark.kind], path: here, problem: `${mark.what}: kubelet takes it as it is`, advice: mark.advice, severity: 'warn' }]
  })
}
