// SPDX-License-Identifier: Apache-2.0
/**
 * Functions that Kubernetes adds to CEL, as data that knows no library: `quantity` and its methods,
 * and those of lists. Pure. Upstream: quantity.go and lists.go in
 * k8s.io/apiserver/pkg/cel/library.
 */
import { NANOS, parseQuantity } from '../kubelet/quantity.ts'

/** Of a value that goes in or out. A quantity is a number of billionths here. */
export type Kind = 'int' | 'double' | 'bool' | 'string' | 'list' | 'quantity' | 'any'

/** The value of each kind, as a function gets it. */
interface ValueOf {
  readonly int: bigint
  readonly double: number
  readonly bool: boolean
  readonly string: string
  readonly list: readonly unknown[]
  readonly quantity: bigint
  readonly any: unknown
}

export interface CelFunction {
  readonly name: string
  /** The kind that it is a method of. undefined: it is a function. */
  readonly target?: Kind
  readonly args: readonly Kind[]
  readonly result: Kind
  /** Takes the target and then the arguments. An exception is an error of CEL. */
  readonly run: (...values: never[]) => unknown
}

/** How CEL itself treats values whose kind a function does not know. */
export interface Operators {
  isLess(a: unknown, b: unknown): boolean
  isEqual(a: unknown, b: unknown): boolean
  add(a: unknown, b: unknown): unknown
}

function method<T extends Kind, A extends readonly Kind[], R extends Kind>(
  name: string,
  target: T,
  args: A,
  result: R,
  run: (target: ValueOf[T], ...args: { [I in keyof A]: ValueOf[A[I] & Kind] }) => ValueOf[R],
): CelFunction {
  return { name, target, args, result, run }
}

const toInt = (nanos: bigint): bigint | undefined => {
  const whole = nanos / NANOS
  return nanos % NANOS === 0n && BigInt.asIntN(64, whole) === whole ? whole : undefined
}
const signOf = (nanos: bigint): bigint => (nanos > 0n ? 1n : nanos < 0n ? -1n : 0n)

const QUANTITIES: readonly CelFunction[] = [
  { name: 'quantity', args: ['string'], result: 'quantity', run: readQuantity },
  { name: 'isQuantity', args: ['string'], result: 'bool', run: (text: string) => parseQuantity(text) !== undefined },
  // Upstream's code has a function, and upstream's documentation a method.
  { name: 'sign', args: ['quantity'], result: 'int', run: signOf },
  method('sign', 'quantity', [], 'int', signOf),
  method('isGreaterThan', 'quantity', ['quantity'], 'bool', (a, b) => a > b),
  method('isLessThan', 'quantity', ['quantity'], 'bool', (a, b) => a < b),
  method('compareTo', 'quantity', ['quantity'], 'int', (a, b) => signOf(a - b)),
  method('asApproximateFloat', 'quantity', [], 'double', (nanos) => Number(nanos) / Number(NANOS)),
  method('isInteger', 'quantity', [], 'bool', (nanos) => toInt(nanos) !== undefined),
  method('asInteger', 'quantity', [], 'int', (nanos) => {
    const whole = toInt(nanos)
    if (whole === undefined) throw new Error('cannot convert value to integer')
    return whole
  }),
  method('add', 'quantity', ['quantity'], 'quantity', (a, b) => a + b),
  method('add', 'quantity', ['int'], 'quantity', (a, b) => a + b * NANOS),
  method('sub', 'quantity', ['quantity'], 'quantity', (a, b) => a - b),
  method('sub', 'quantity', ['int'], 'quantity', (a, b) => a - b * NANOS),
]

/** @throws where the text is no quantity */
function readQuantity(text: string): bigint {
  const nanos = parseQuantity(text)
  if (nanos === undefined) throw new Error(`${JSON.stringify(text.slice(0, 80))} is not a quantity such as "100Mi"`)
  return nanos
}

function listFunctions({ isLess, isEqual, add }: Operators): readonly CelFunction[] {
  const best = (name: string, isBetter: (a: unknown, b: unknown) => boolean) => (items: readonly unknown[]) => {
    const [first] = items
    if (first === undefined) throw new Error(`${name} called on empty list`)
    return items.reduce((found, item) => (isBetter(item, found) ? item : found), first)
  }
  const indexOf = (items: readonly unknown[], wanted: unknown) => BigInt(items.findIndex((item) => isEqual(item, wanted)))
  const lastIndexOf = (items: readonly unknown[], wanted: unknown) => BigInt(items.findLastIndex((item) => isEqual(item, wanted)))
  return [
    method('isSorted', 'list', [], 'bool', (items) => items.every((item, index) => !isLess(item, items[Math.max(0, index - 1)]))),
    method(
      'sum',
      'list',
      [],
      'any',
      (items) => items.reduce((sum, item) => (sum === undefined ? summand(item) : add(sum, item)), undefined) ?? 0n,
    ),
    method('min', 'list', [], 'any', best('min', isLess)),
    method(
      'max',
      'list',
      [],
      'any',
      best('max', (a, b) => isLess(b, a)),
    ),
    method('indexOf', 'list', ['any'], 'int', indexOf),
    method('lastIndexOf', 'list', ['any'], 'int', lastIndexOf),
  ]
}

/** CEL adds texts, bytes and lists too, which have no sum. */
function summand(item: unknown): unknown {
  if (typeof item === 'string' || typeof item === 'boolean' || item === null || item instanceof Uint8Array || Array.isArray(item))
    throw new Error("found no matching overload for 'sum': it adds numbers and durations")
  return item
}

export function kubernetesFunctions(operators: Operators): readonly CelFunction[] {
  return [...QUANTITIES, ...listFunctions(operators)]
}
