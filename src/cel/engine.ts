// SPDX-License-Identifier: Apache-2.0
/**
 * CEL, the language of expressions that Kubernetes uses, with the functions that Kubernetes adds to
 * it. The one module that knows the library. That has no bound on what an expression costs, so the
 * agent has this in its helper alone. Pure.
 */
import {
  type CelFunc,
  type CelInput,
  CelScalar,
  type CelType,
  type CelValue,
  celEnv,
  celFunc,
  celMethod,
  celType,
  isCelError,
  isCelList,
  isCelMap,
  isCelUint,
  listType,
  objectType,
  parse,
  plan,
} from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import { create, createFileRegistry } from '@bufbuild/protobuf'
import { isReflectMessage, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect'
import { type Duration, DurationSchema, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { formatQuantity } from '../kubelet/quantity.ts'
import { errorMessage } from '../values/errors.ts'
import { type CelFunction, type Kind, kubernetesFunctions, type Operators } from './functions.ts'

type Evaluation = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly detail: string }

/** A bigint is an int of CEL. */
export type Variable = bigint | string | Quantity | readonly Variable[] | ReadonlyMap<string, Variable>

export interface Expression {
  /** The result as JSON; a quantity as text. */
  evaluate(variables: Readonly<Record<string, Variable>>): Evaluation
}

/** The library knows no types of others but messages: this one has one field, the billionths. */
const QUANTITY_FILE = create(FileDescriptorProtoSchema, {
  ...{ name: 'quantity.proto', package: 'kubernetes', syntax: 'proto3' },
  messageType: [{ name: 'Quantity', field: [{ name: 'billionths', number: 1, label: 1, type: 9 }] }],
})

const REGISTRY = createFileRegistry(QUANTITY_FILE, () => undefined)
const [SCHEMA, BILLIONTHS] = findQuantityType()
const QUANTITY = objectType(SCHEMA)

function findQuantityType() {
  const schema = REGISTRY.getMessage('kubernetes.Quantity')
  const [field] = schema?.fields ?? []
  if (schema === undefined || field === undefined) throw new Error('bug: the type of quantities is not registered')
  return [schema, field] as const
}

export class Quantity {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }

  static from(message: ReflectMessage): Quantity {
    return new Quantity(BigInt(String(message.get(BILLIONTHS))))
  }

  toMessage(): ReflectMessage {
    const message = reflect(SCHEMA)
    message.set(BILLIONTHS, String(this.nanos))
    return message
  }
}

const TYPES: Readonly<Record<Kind, CelType>> = {
  int: CelScalar.INT,
  double: CelScalar.DOUBLE,
  bool: CelScalar.BOOL,
  string: CelScalar.STRING,
  list: listType(CelScalar.DYN),
  quantity: QUANTITY,
  any: CelScalar.DYN,
}

function isQuantity(value: unknown): value is ReflectMessage {
  return isReflectMessage(value) && value.desc.typeName === QUANTITY.name
}

function toFunc({ name, target, args, result, run }: CelFunction): CelFunc {
  const types = args.map((kind) => TYPES[kind])
  const kinds = target === undefined ? args : [target, ...args]
  const call = (values: readonly unknown[]): CelInput => {
    const made = run(...(values.map((value, index) => take(value, kinds[index])) as never[]))
    return (result === 'quantity' ? new Quantity(made as bigint).toMessage() : made) as CelInput
  }
  if (target === undefined) return celFunc(name, types, TYPES[result], (...values) => call(values))
  return celMethod(name, TYPES[target], types, TYPES[result], function (...values) {
    return call([this, ...values])
  })
}

/** As the function of this kind of argument knows it. */
function take(value: unknown, kind: Kind | undefined): unknown {
  if (kind === 'quantity' && isQuantity(value)) return Quantity.from(value).nanos
  return kind === 'list' && isCelList(value) ? [...value] : value
}

/** CEL's own operators, which know each of its types. */
function openOperators(): Operators {
  const bare = celEnv({ registry: REGISTRY })
  const operate = (text: string) => {
    const run = plan(bare, parse(text))
    return (a: unknown, b: unknown): CelValue => {
      const result = run({ a: a as CelInput, b: b as CelInput })
      if (isCelError(result)) throw result
      return result
    }
  }
  const [less, equal, sum] = [operate('a < b'), operate('a == b'), operate('a + b')]
  return { isLess: (a, b) => less(a, b) === true, isEqual: (a, b) => equal(a, b) === true, add: sum }
}

export const FUNCTIONS: readonly CelFunc[] = [...strings, ...kubernetesFunctions(openOperators()).map(toFunc)]
const environment = celEnv({ registry: REGISTRY, funcs: [...FUNCTIONS] })

/** @throws with what is wrong with the text */
export function readExpression(text: string): Expression {
  const run = planText(text)
  return {
    evaluate(variables) {
      // Without a prototype, whose fields would be variables.
      const bindings: Record<string, CelInput> = Object.create(null)
      for (const [name, value] of Object.entries(variables)) bindings[name] = toInput(value)
      try {
        const result = run(bindings)
        return isCelError(result) ? { ok: false, detail: explain(result.message) } : { ok: true, value: toJson(result) }
      } catch (error) {
        return { ok: false, detail: error instanceof RangeError ? 'it is nested too deeply' : errorMessage(error) }
      }
    },
  }
}

function explain(message: string): string {
  return message === 'unresolved attribute' ? 'there is no variable of this name' : message
}

function planText(text: string): ReturnType<typeof plan> {
  try {
    const parsed = parse(text)
    if (makesBytes(parsed)) throw new Error('an expression makes no bytes: no field holds them')
    return plan(environment, parsed)
  } catch (error) {
    throw error instanceof RangeError ? new Error('it is nested too deeply', { cause: error }) : error
  }
}

/**
 * Bytes lie outside V8's heap, so the helper's limit of memory does not end what makes too many.
 * They begin as a literal, or with the function of that name.
 */
function makesBytes(parsed: unknown): boolean {
  let level: unknown[] = [parsed]
  while (level.length > 0) {
    const objects = level.filter((each) => typeof each === 'object' && each !== null) as Readonly<Record<string, unknown>>[]
    if (objects.some((each) => each.case === 'bytesValue' || each.function === 'bytes')) return true
    level = objects.flatMap((each) => Object.values(each))
  }
  return false
}

function toInput(variable: Variable): CelInput {
  if (variable instanceof Quantity) return variable.toMessage()
  if (variable instanceof Map) return new Map([...variable].map(([key, value]) => [key, toInput(value)]))
  if (Array.isArray(variable)) return variable.map(toInput)
  return variable as bigint | string
}

/** @throws where a config cannot hold the value */
function toJson(value: CelValue): unknown {
  if (typeof value === 'bigint') return toNumber(value)
  if (isCelUint(value)) return toNumber(value.value)
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number' && Number.isFinite(value)) return Number.isInteger(value) ? toNumber(value) : value
  if (isCelList(value)) return [...value].map(toJson)
  if (isCelMap(value)) return Object.fromEntries([...value].map(([key, inner]) => [toKey(key), toJson(inner)]))
  if (isQuantity(value)) return formatQuantity(Quantity.from(value).nanos)
  if (isReflectMessage(value, DurationSchema)) return formatDuration(value.message as Duration)
  throw new Error(`its result is of the type ${celType(value).name}, which no config can hold`)
}

function toNumber(int: bigint | number): number {
  const number = Number(int)
  if (!Number.isSafeInteger(number)) throw new Error('its result is an integer beyond 2^53, which cannot be written exactly')
  return number
}

function toKey(key: unknown): string {
  if (typeof key !== 'string') throw new Error('its result is a map with a key that is no string')
  return key
}

/** In Go's syntax. Both numbers have the same sign. */
function formatDuration({ seconds, nanos }: Duration): string {
  const sign = seconds < 0n || nanos < 0 ? '-' : ''
  const whole = seconds < 0n ? -seconds : seconds
  const fraction = String(Math.abs(nanos)).padStart(9, '0').replace(/0+$/, '')
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}s`
}
