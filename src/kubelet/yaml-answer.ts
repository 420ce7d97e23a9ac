/** What the process that parses a YAML text answers, and its check. Pure. */
import { anyOf, type Check, isText, listOf, oneOf, optional, shape, shapeOf, type TypeOf } from '../values/json-shape.ts'
import type { YamlDocument } from './yaml-document.ts'
import { isMaybePosition, isPlaces } from './yaml-places.ts'

const isTrue: Check<true> = (value): value is true => value === true
const isAnything: Check<unknown> = (value): value is unknown => value !== undefined

export const isChildAnswer = anyOf(
  shape({ kind: oneOf('first'), value: isAnything, remarks: listOf(isText), repeated: isPlaces, places: isPlaces }),
  shape({ kind: oneOf('all'), documents: listOf(shapeOf<YamlDocument>({ value: isAnything, remarks: listOf(isText) })) }),
  shape({ kind: oneOf('failed'), detail: isText, position: isMaybePosition, unjudged: optional(isTrue) }),
  /** `starved`: the process got too little CPU to tell. */
  shape({ kind: oneOf('too-slow', 'too-large', 'starved') }),
)
export type ChildAnswer = TypeOf<typeof isChildAnswer>
