/** What the process that parses a YAML text answers, and its check. Pure. */
import { type Check, either, isText, listOf, oneOf, optional, shape } from '../values/json-shape.ts'
import type { YamlDocument, YamlFailure } from './yaml-document.ts'
import { isMaybePosition, isPlaces } from './yaml-places.ts'

type Places = typeof isPlaces extends Check<infer T> ? T : never

export type ChildAnswer =
  | {
      readonly kind: 'first'
      readonly value: unknown
      readonly remarks: readonly string[]
      readonly repeated: Places
      readonly places: Places
    }
  | { readonly kind: 'all'; readonly documents: readonly YamlDocument[] }
  | ({ readonly kind: 'failed' } & Omit<YamlFailure, 'ok'>)
  /** `starved`: the process got too little CPU to tell. */
  | { readonly kind: 'too-slow' | 'too-large' | 'starved' }

const isTrue: Check<true> = (value): value is true => value === true
const isAnything: Check<unknown> = (value): value is unknown => value !== undefined

export const isChildAnswer: Check<ChildAnswer> = either(
  either(
    shape({ kind: oneOf('first'), value: isAnything, remarks: listOf(isText), repeated: isPlaces, places: isPlaces }),
    shape({ kind: oneOf('all'), documents: listOf(shape<YamlDocument>({ value: isAnything, remarks: listOf(isText) })) }),
  ),
  either(
    shape({ kind: oneOf('failed'), detail: isText, position: isMaybePosition, unjudged: optional(isTrue) }),
    shape({ kind: oneOf('too-slow', 'too-large', 'starved') }),
  ),
)
