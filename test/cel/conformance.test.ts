// SPDX-License-Identifier: Apache-2.0
/**
 * CEL's own conformance tests (cel-spec) of the language without extensions, on the library with
 * the functions that we add. What fails is listed, so that a version of the library that fails in
 * more, or in less, is noticed.
 */
import {
  type CelInput,
  CelScalar,
  type CelValue,
  celEnv,
  celList,
  celMap,
  celType,
  celUint,
  isCelError,
  isCelList,
  isCelMap,
  isCelType,
  isCelUint,
  listType,
  mapType,
  objectType,
  parse,
  plan,
} from '@bufbuild/cel'
import type { Value } from '@bufbuild/cel-spec/cel/expr/value_pb.js'
import { getTestRegistry } from '@bufbuild/cel-spec/testdata/registry.js'
import { getConformanceSuite, type IncrementalTest, type IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js'
import { type JsonValue, toJson } from '@bufbuild/protobuf'
import { isReflectMessage } from '@bufbuild/protobuf/reflect'
import { anyUnpack } from '@bufbuild/protobuf/wkt'
import t from 'tap'
import { FUNCTIONS } from '../../src/cel/engine.ts'
import { errorMessage } from '../../src/values/errors.ts'
import { isObject } from '../../src/values/is-object.ts'

const registry = getTestRegistry()

/** Of functions that neither we nor the library have, and of `optional`. */
const EXTENSIONS = /_ext$|^(optionals|unknowns)$/

const TYPES = [
  CelScalar.INT,
  CelScalar.UINT,
  CelScalar.BOOL,
  CelScalar.STRING,
  CelScalar.BYTES,
  CelScalar.DOUBLE,
  CelScalar.NULL,
  CelScalar.TYPE,
]

function toInput({ kind }: Value): CelInput {
  switch (kind.case) {
    case 'uint64Value':
      return celUint(kind.value)
    case 'nullValue':
      return null
    case 'enumValue':
      return BigInt(kind.value.value)
    case 'objectValue': {
      const message = anyUnpack(kind.value, registry)
      if (message === undefined) throw new Error(`unknown type ${kind.value.typeUrl}`)
      return message
    }
    case 'listValue':
      return celList(kind.value.values.map(toInput))
    case 'mapValue':
      return celMap(new Map(kind.value.entries.map(({ key, value }) => [toInput(key as Value) as string, toInput(value as Value)])))
    case 'typeValue': {
      const all = [...TYPES, listType(CelScalar.DYN), mapType(CelScalar.DYN, CelScalar.DYN)]
      return all.find(({ name }) => name === kind.value) ?? objectType(kind.value)
    }
    case undefined:
      throw new Error('a value without a kind')
    default:
      return kind.value
  }
}

/** With the types of all values in it, since 1 == 1u in CEL. */
function describe(value: CelValue): string {
  if (isCelList(value)) return `[${[...value].map(describe).join(', ')}]`
  if (isCelMap(value))
    return `{${[...value]
      .map(([key, inner]) => `${describe(key)}: ${describe(inner)}`)
      .sort()
      .join(', ')}}`
  if (isCelUint(value)) return `uint ${value.value}`
  if (isCelType(value)) return `type ${value.name}`
  if (isReflectMessage(value)) return `${value.desc.typeName} ${inOrder(toJson(value.desc, value.message, { registry }))}`
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`
  return `${celType(value).name} ${Object.is(value, -0) ? '-0' : String(value)}`
}

function inOrder(json: JsonValue): string {
  return JSON.stringify(json, (_, inner: unknown) => (isObject(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner))
}

/** undefined: it passes. */
function findFailure({ original }: IncrementalTest): string | undefined {
  const { expr, container, bindings, resultMatcher } = original
  const env = celEnv({ registry, namespace: container, funcs: [...FUNCTIONS] })
  const evaluate = (): string => {
    const variables = Object.entries(bindings).map(([name, { kind }]) => {
      if (kind.case !== 'value') throw new Error('a variable without a value')
      return [name, toInput(kind.value)] as const
    })
    const result = plan(env, parse(expr))(Object.fromEntries(variables))
    if (isCelError(result)) throw result
    return describe(result)
  }
  const wanted =
    resultMatcher.case === 'typedResult' ? resultMatcher.value.result : resultMatcher.case === 'value' ? resultMatcher.value : undefined
  const isError = resultMatcher.case === 'evalError' || resultMatcher.case === 'anyEvalErrors'
  let got: string
  try {
    got = evaluate()
  } catch (error) {
    return isError ? undefined : `error: ${errorMessage(error)}`
  }
  if (isError) return `${got} and no error`
  const identity = plan(env, parse('x'))({ x: wanted === undefined ? true : toInput(wanted) })
  if (isCelError(identity)) throw identity
  return got === describe(identity) ? undefined : `${got} and not ${describe(identity)}`
}

function listTests(suite: IncrementalTestSuite, path: readonly string[] = []): (readonly [name: string, test: IncrementalTest])[] {
  const own = suite.tests.map((test) => [[...path, test.name].join('/'), test] as const)
  return [...own, ...suite.suites.flatMap((inner) => listTests(inner, [...path, inner.name]))]
}

/** How many tests of a section fail. None of this is of use in a config. */
const FAILING = {
  // Enums as types of their own.
  'enums/strong_proto2': 8,
  'enums/strong_proto3': 10,
  // Names in back-quotes.
  'fields/quoted_map_fields': 6,
  'proto2/quoted_fields': 2,
  'proto2/extensions_has': 9,
  'proto2/extensions_get': 9,
  'proto3/quoted_fields': 2,
  // The key 0 twice, as an int and as a uint.
  'fields/qualified_identifier_resolution': 1,
  // Macros with two variables.
  'macros2/exists': 10,
  'macros2/all': 8,
  'macros2/existsOne': 8,
  'macros2/transformList': 6,
  'macros2/transformMap': 6,
}

t.test('the language is that of the specification, but for these', async (t) => {
  const suites = getConformanceSuite().suites.filter(({ name }) => !EXTENSIONS.test(name))
  const all = suites.flatMap((suite) => listTests(suite, [suite.name]))
  const tests = all.filter(([, { original }]) => !original.checkOnly && !original.disableMacros)
  t.ok(tests.length > 1700, `${tests.length} tests`)
  const failing = tests.flatMap(([name, test]) => (findFailure(test) === undefined ? [] : [name.slice(0, name.lastIndexOf('/'))]))
  const counted: Record<string, number> = {}
  for (const section of failing) counted[section] = (counted[section] ?? 0) + 1
  t.same(counted, FAILING)
})
