// SPDX-License-Identifier: Apache-2.0
/**
 * The patterns of a change policy: a field by its path with dots (and everything within it), with
 * `*` for any characters, or `class:reboot` for all changes of a risk class. Pure. A pattern that
 * cannot match anything is rejected with the nearest one that can.
 */

import type { FieldPath } from '../../kubelet/field-path.ts'
import { FIELDS, listLeaves, listParents } from '../../kubelet/fields.ts'
import { nearest } from '../../values/nearest.ts'
import { type Change, isRiskClass, RISKS } from '../change/change.ts'

type PatternCheck = { readonly ok: true } | { readonly ok: false; readonly detail: string }

const CLASS = 'class:'
const LONGEST = 200

/**
 * Fields and their parents: `authentication`, `authentication.x509`,
 * `authentication.x509.clientCAFile`.
 */
const PLACES: ReadonlySet<string> = new Set(listLeaves().flatMap(([name]) => [...listParents(name), name]))
/** Fields whose keys are free. */
const MAPS: ReadonlySet<string> = new Set(Object.entries(FIELDS).flatMap(([name, { type }]) => (type.endsWith('-map') ? [name] : [])))

export function checkPattern(text: string): PatternCheck {
  if (text.length > LONGEST) return { ok: false, detail: `longer than ${LONGEST} characters` }
  if (text.startsWith(CLASS)) {
    const name = text.slice(CLASS.length)
    return isRiskClass(name) ? { ok: true } : refuse('risk class', name, Object.keys(RISKS), CLASS)
  }
  if (!/^[\w*./-]+$/.test(text)) return { ok: false, detail: `"${text}" is not the path of a field, such as authentication.x509 or tls*` }
  const matchesSome = text.includes('*') ? [...PLACES].some((place) => isLike(text, place)) : PLACES.has(text)
  return matchesSome || isWithinMap(text) ? { ok: true } : refuse('field', text, [...PLACES], '')
}

export function matchesPattern(text: string, { path, risk }: Pick<Change, 'path' | 'risk'>): boolean {
  return text.startsWith(CLASS) ? risk === text.slice(CLASS.length) : matchesPath(text, path)
}

/**
 * Whether a pattern that restricts applies. A change of unknown risk may be of every class, and its
 * field any other one to kubelet.
 *
 * @param isAllowed something allows the change: then it is not taken for one of another field
 */
export function mayMatchPattern(text: string, change: Pick<Change, 'path' | 'risk'>, isAllowed: boolean): boolean {
  return matchesPattern(text, change) || (change.risk === 'unknown' && (text.startsWith(CLASS) || !isAllowed))
}

/** The pattern that allows this change and the least besides. */
export function patternFor({ path, risk }: Pick<Change, 'path' | 'risk'>): string {
  return risk === 'unknown' ? `${CLASS}${risk}` : path.join('.')
}

function matchesPath(text: string, path: FieldPath): boolean {
  let place = ''
  return path.some((step) => {
    place = place === '' ? String(step) : `${place}.${step}`
    return isLike(text, place)
  })
}

/** Takes each part between stars at its first occurrence, which is never worse: no backtracking. */
function isLike(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  return rest.every((part) => {
    const found = text.indexOf(part, at)
    at = found + part.length
    return found >= 0 && at <= end
  })
}

function isWithinMap(text: string): boolean {
  const [field = '', ...key] = text.split('.')
  return MAPS.has(field) && key.join('.') !== ''
}

function refuse(what: string, name: string, known: readonly string[], prefix: string): PatternCheck {
  const suggestion = nearest(name, known)
  return { ok: false, detail: `"${prefix}${name}" is not a ${what} of kubelet's config; the nearest one is ${prefix}${suggestion ?? ''}` }
}
