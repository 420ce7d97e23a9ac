// SPDX-License-Identifier: Apache-2.0
/**
 * Why a text is neither YAML nor JSON, in the words of whoever wrote it: a parser says where it
 * stopped, which for a template or a curly quote helps nobody. Pure. Changes the detail and the
 * place of a failure, never the verdict.
 */
import { findEnd, type ParsedJson } from './json.ts'
import { findBreaking } from './left-marks.ts'
import { type Position, positionsIn, type YamlFailure } from './yaml-document.ts'

interface Fault {
  readonly detail: string
  readonly position: Position
}

/** Texts of the library that nobody understands who does not know the grammar of YAML. */
const PLAINER: readonly (readonly [text: RegExp, plainer: string])[] = [
  [
    /^Implicit (?:keys need to be on a single line|map keys need to be followed by map values)(?= at line)/,
    'neither a key with its value nor an item of a list: write "name: value", with a space behind the colon, or "- value"',
  ],
]

export function explainYaml(text: string, failure: YamlFailure): YamlFailure {
  const { detail, position } = failure
  if (position === undefined) return failure
  const mark = findMark(text, position.line)
  if (mark !== undefined) return { ...failure, ...withPlace(mark) }
  const [pattern, plainer = ''] = PLAINER.find(([library]) => library.test(detail)) ?? []
  return pattern === undefined ? failure : { ...failure, detail: detail.replace(pattern, () => plainer) }
}

export function explainJson(text: string, failed: Extract<ParsedJson, { ok: false }>): YamlFailure {
  const positionOf = positionsIn(text)
  const position = failed.offset === undefined ? undefined : positionOf(failed.offset)
  const failure: YamlFailure = { ok: false, detail: failed.detail, position, unjudged: failed.unjudged }
  const fault = failed.isSyntax === true ? findJsonFault(text) : undefined
  if (fault === undefined) return failure
  return { ...failure, ...withPlace({ detail: `${failed.detail}: ${fault.detail}`, position: positionOf(fault.offset) }) }
}

/** As a detail of the parser ends. */
function withPlace({ detail, position }: Fault): Fault {
  return { detail: `${detail} at line ${position.line}, column ${position.column}`, position }
}

function findMark(text: string, before: number): Fault | undefined {
  const found = findBreaking(text, before)
  if (found === undefined) return undefined
  const { mark, line } = found
  return { detail: `${mark.what}: ${mark.advice}`, position: { line, column: mark.index + 1 } }
}

/** Texts that JSON does not have outside of strings. */
const FAULTS: readonly (readonly [pattern: RegExp, detail: string])[] = [
  [/^(?:\{\{|\{%|\$\{|<%)/, 'a template that was not rendered begins here: render it first, and give the result'],
  [/^(?:\/\/|\/\*|#)/, 'remove this comment, JSON has none'],
  [/^,/, 'remove this comma, JSON has none behind the last value'],
  [/^'/, 'write " in place of \', JSON has no other quotation mark'],
  [/^[\u2018-\u201f\u00ab\u00bb]/, 'write " in place of this quotation mark, JSON has no other'],
  [/^[\u00a0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000]/, 'write a space in place of this character, which only looks like one'],
  [/^[A-Za-z_$]/, 'write this name in double quotes'],
]
const SUSPECT =
  /"|\{\{|\{%|\$\{|<%|\/\/|\/\*|#|,(?=\s*[}\]])|'|[\u2018-\u201f\u00ab\u00bb\u00a0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000]|[A-Za-z_$][\w$.-]*/g
const COLON = /\s*:/y

/** The first in the text. */
function findJsonFault(text: string): { readonly detail: string; readonly offset: number } | undefined {
  const suspect = new RegExp(SUSPECT)
  for (let match = suspect.exec(text); match !== null; match = suspect.exec(text)) {
    const { 0: lexeme, index } = match
    if (lexeme === '"') suspect.lastIndex = findEnd(text, index)
    // true, false and null are words as well.
    else if (!/^[A-Za-z_$]/.test(lexeme) || isBeforeColon(text, suspect.lastIndex)) {
      const found = FAULTS.find(([pattern]) => pattern.test(lexeme))
      if (found !== undefined) return { detail: found[1], offset: index }
    }
  }
  return undefined
}

function isBeforeColon(text: string, offset: number): boolean {
  const colon = new RegExp(COLON)
  colon.lastIndex = offset
  return colon.test(text)
}
