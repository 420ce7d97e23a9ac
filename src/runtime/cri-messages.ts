// SPDX-License-Identifier: Apache-2.0
/**
 * Decodes the answers of CRI that the agent asks for: k8s.io/cri-api, runtime/v1/api.proto, whose
 * numbers of these fields are the same in v1alpha2. Reads the wire format
 * (protobuf.dev/programming-guides/encoding) as far as proto3 uses it: varints, fixed 32 and 64
 * bits, and length-delimited values. Pure. A message that does not follow the format, or has more
 * fields than allowed, throws; nothing is read beyond its end.
 */
import type { CgroupDriver, PodSandbox, RuntimeContainer, RuntimePods, RuntimeStatus } from '../ports/probes.ts'

/**
 * A node has some hundred pods, each with some ten labels and annotations, at three fields each.
 */
const MOST_FIELDS = 500_000
/** Pods and containers. Objects take more memory than the bytes that they are made of. */
const MOST_ITEMS = 20_000
const NS_PER_MS = 1_000_000n

/** Message StatusResponse. */
export function decodeStatus(message: Buffer): RuntimeStatus {
  const budget = { left: MOST_FIELDS }
  const conditions = new Map<string, boolean>()
  for (const status of submessages(message, 1, budget)) {
    for (const condition of submessages(status, 1, budget)) {
      const fields = readFields(condition, budget)
      conditions.set(textOf(fields.get(1)), numberOf(fields.get(2)) !== 0n)
      if (conditions.size > MOST_ITEMS) throw new Error('it has too many conditions')
    }
  }
  return { runtimeReady: conditions.get('RuntimeReady') }
}

/** Messages ListPodSandboxResponse and ListContainersResponse. */
export function decodePods(sandboxes: Buffer, containers: Buffer): RuntimePods {
  return { sandboxes: decodeItems(sandboxes, decodeSandbox), containers: decodeItems(containers, decodeContainer) }
}

/** Message RuntimeConfigResponse. undefined: it names no driver that is known. */
export function decodeCgroupDriver(message: Buffer): CgroupDriver | undefined {
  const budget = { left: MOST_FIELDS }
  const [linux] = submessages(message, 1, budget)
  if (linux === undefined) return undefined
  switch (numberOf(readFields(linux, budget).get(1))) {
    case 0n:
      return 'systemd'
    case 1n:
      return 'cgroupfs'
    default:
      return undefined
  }
}

/** Message ImageFsInfoResponse. undefined: it names none. */
export function decodeImageDirectory(message: Buffer): string | undefined {
  const budget = { left: MOST_FIELDS }
  const [usage] = submessages(message, 1, budget)
  const [id] = usage === undefined ? [] : submessages(usage, 2, budget)
  return id === undefined ? undefined : textOf(readFields(id, budget).get(1)) || undefined
}

function decodeItems<T>(message: Buffer, decode: (item: Buffer, budget: FieldBudget) => T): T[] {
  const budget = { left: MOST_FIELDS }
  const items: T[] = []
  for (const item of submessages(message, 1, budget)) {
    if (items.length >= MOST_ITEMS) throw new Error(`it has more than ${MOST_ITEMS} items`)
    items.push(decode(item, budget))
  }
  return items
}

function decodeSandbox(item: Buffer, budget: FieldBudget): PodSandbox {
  const fields = readFields(item, budget)
  const metadata = readFields(bytesOf(fields.get(2)), budget)
  const annotations = findAnnotations(item, 6, budget)
  return {
    id: textOf(fields.get(1)),
    uid: textOf(metadata.get(2)),
    name: textOf(metadata.get(1)),
    namespace: textOf(metadata.get(3)),
    attempt: Number(numberOf(metadata.get(4))),
    // enum PodSandboxState: SANDBOX_READY is 0, which is not written.
    state: numberOf(fields.get(3)) === 0n ? 'ready' : 'not-ready',
    createdAtMs: millisecondsOf(fields.get(4)),
    configSource: annotations.get(CONFIG_SOURCE),
    configHash: annotations.get(CONFIG_HASH),
  }
}

/** enum ContainerState. */
const CONTAINER_STATES = ['created', 'running', 'exited'] as const

function decodeContainer(item: Buffer, budget: FieldBudget): RuntimeContainer {
  const fields = readFields(item, budget)
  const metadata = readFields(bytesOf(fields.get(3)), budget)
  return {
    id: textOf(fields.get(1)),
    sandboxId: textOf(fields.get(2)),
    name: textOf(metadata.get(1)),
    attempt: Number(numberOf(metadata.get(2))),
    state: CONTAINER_STATES[Number(numberOf(fields.get(6)))] ?? 'unknown',
    createdAtMs: millisecondsOf(fields.get(7)),
  }
}

// pkg/kubelet/types/pod_update.go: kubelet hands the pod's annotations on to its sandbox.
const CONFIG_SOURCE = 'kubernetes.io/config.source'
const CONFIG_HASH = 'kubernetes.io/config.hash'

/**
 * The annotations in a map field, whose entries are messages with key 1 and value 2. The others may
 * be large.
 */
function findAnnotations(item: Buffer, number: number, budget: FieldBudget): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const entry of submessages(item, number, budget)) {
    const fields = readFields(entry, budget)
    const key = textOf(fields.get(1))
    if (key === CONFIG_SOURCE || key === CONFIG_HASH) found.set(key, textOf(fields.get(2)))
  }
  return found
}

function* submessages(message: Buffer, number: number, budget: FieldBudget): Generator<Buffer> {
  for (const field of fieldsOf(message, budget)) if (field.number === number) yield bytesOf(field)
}

/** The last value of each field counts. */
function readFields(message: Buffer, budget: FieldBudget): ReadonlyMap<number, WireField> {
  const fields = new Map<number, WireField>()
  for (const field of fieldsOf(message, budget)) fields.set(field.number, field)
  return fields
}

const NOTHING = Buffer.alloc(0)

/** A field that is not written has the default value of its type. */
function bytesOf(field: WireField | undefined): Buffer {
  if (field === undefined) return NOTHING
  if (field.kind !== 'bytes') throw new Error(`field ${field.number} has the wrong wire type`)
  return field.value
}

function textOf(field: WireField | undefined): string {
  return bytesOf(field).toString('utf8')
}

function numberOf(field: WireField | undefined): bigint {
  if (field === undefined) return 0n
  if (field.kind !== 'varint') throw new Error(`field ${field.number} has the wrong wire type`)
  return field.value
}

function millisecondsOf(field: WireField | undefined): number {
  return Number(BigInt.asIntN(64, numberOf(field)) / NS_PER_MS)
}

type WireValue =
  | { readonly kind: 'varint'; readonly value: bigint }
  | { readonly kind: 'bytes'; readonly value: Buffer }
  /** 32 or 64 bits: no message that is read here has such a field. */
  | { readonly kind: 'fixed' }

type WireField = WireValue & { readonly number: number }

/** How many more fields may be read. One count for a message and all that it contains. */
interface FieldBudget {
  left: number
}

const VARINT = 0
const FIXED_64 = 1
const LENGTH_DELIMITED = 2
const FIXED_32 = 5
const LONGEST_VARINT = 10
const LARGEST_FIELD = 2 ** 29 - 1

export function* fieldsOf(message: Buffer, budget: FieldBudget): Generator<WireField> {
  const reader = new WireReader(message)
  while (!reader.isAtEnd()) {
    if (budget.left <= 0) throw new Error('it has too many fields')
    budget.left--
    yield reader.field()
  }
}

class WireReader {
  readonly #message: Buffer
  #at = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  isAtEnd(): boolean {
    return this.#at >= this.#message.length
  }

  field(): WireField {
    const tag = this.#varint()
    const number = Number(tag >> 3n)
    if (number < 1 || number > LARGEST_FIELD) throw new Error(`${number} is not a field number`)
    return { number, ...this.#value(Number(tag & 7n)) }
  }

  #value(wireType: number): WireValue {
    switch (wireType) {
      case VARINT:
        return { kind: 'varint', value: this.#varint() }
      case LENGTH_DELIMITED:
        return { kind: 'bytes', value: this.#take(this.#varint()) }
      case FIXED_64:
        this.#take(8n)
        return { kind: 'fixed' }
      case FIXED_32:
        this.#take(4n)
        return { kind: 'fixed' }
      default:
        throw new Error(`${wireType} is not a wire type of proto3`)
    }
  }

  #take(length: bigint): Buffer {
    if (length > BigInt(this.#message.length - this.#at)) throw new Error('it ends within a value')
    const start = this.#at
    this.#at += Number(length)
    return this.#message.subarray(start, this.#at)
  }

  /** Bits beyond the 64th are dropped, as the format wants it. */
  #varint(): bigint {
    let value = 0n
    for (let index = 0; index < LONGEST_VARINT; index++) {
      const byte = this.#message[this.#at]
      if (byte === undefined) throw new Error('it ends within a number')
      this.#at++
      value |= BigInt(byte & 0x7f) << BigInt(7 * index)
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new Error(`a number has more than ${LONGEST_VARINT} bytes`)
  }
}
