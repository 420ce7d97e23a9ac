// SPDX-License-Identifier: Apache-2.0
/**
 * Whether kubelet decodes from a text what the agent read: upstream's own decoders of the oldest
 * and the newest kubelet say it (`../lab/decoder/main.go`).
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { decodeConfig, looksLikeJson } from '../../../src/kubelet/decode.ts'
import { FIELDS, findMisfits } from '../../../src/kubelet/fields.ts'
import { parseJsonText } from '../../../src/kubelet/json.ts'
import { parseLocated } from '../../../src/kubelet/yaml.ts'
import { isObject } from '../../../src/values/is-object.ts'

export interface Decoder {
  readonly minor: number
  /** The path of the program. */
  readonly program: string
}

interface Difference {
  readonly minor: number
  readonly text: string
  readonly what: string
}

export interface Agreement {
  texts: number
  /** Texts that the agent reads. */
  read: number
  /** Texts that the agent refuses and a kubelet decodes. */
  refusedAlone: number
  readonly differences: Difference[]
}

const BATCH = 500
const INEXACT = 1
const NO_TEXT = Buffer.alloc(0)

interface Read {
  readonly text: string
  /** undefined: the agent refuses it. */
  readonly value: unknown
}

export async function findDifferences(
  decoders: readonly Decoder[],
  texts: Iterable<string>,
  parse: typeof parseLocated = parseLocated,
): Promise<Agreement> {
  const found: Agreement = { texts: 0, read: 0, refusedAlone: 0, differences: [] }
  const running = decoders.map((decoder) => new RunningDecoder(decoder))
  try {
    for (const batch of inBatches(texts)) {
      const read = batch.map((text) => readAsAgent(text, parse))
      const answers = await Promise.all(running.map((decoder) => decoder.ask(read)))
      for (const [index, { text, value }] of read.entries()) {
        found.texts += 1
        if (value !== undefined) found.read += 1
        else if (answers.some((each) => each[index]?.startsWith('+'))) found.refusedAlone += 1
        for (const [which, { minor }] of decoders.entries()) {
          const what = differenceIn(answers[which]?.[index] ?? '', text, value, minor)
          if (what !== undefined) found.differences.push({ minor, text, what })
        }
      }
    }
  } finally {
    for (const decoder of running) decoder.stop()
  }
  return found
}

function readAsAgent(text: string, parse: typeof parseLocated): Read {
  const read = looksLikeJson(text) ? parseJsonText(text) : parse(text)
  return { text, value: read.ok ? (read.value ?? undefined) : undefined }
}

function differenceIn(answer: string, text: string, value: Read['value'], minor: number): string | undefined {
  if (value === undefined) return undefined
  if (hasHalfAPair(value)) return 'the agent keeps half of a surrogate pair'
  if (answer.length !== 1) return answer.slice(1)
  return answer === '-' && isAccepted(text, value, minor) ? 'the agent accepts it, and kubelet does not' : undefined
}

/** Whether a number is 2^63 or less is for kubelet to say: JavaScript holds both as one. */
function isAccepted(text: string, value: unknown, minor: number): boolean {
  if (isInexact(value)) return false
  const { ok } = decodeConfig(text, () => ({ ok: true, value, remarks: [] }))
  return ok && isObject(value) && findMisfits(value, FIELDS, minor).length === 0
}

export const NO_RULE = 'no rule'

/** Why the agent refuses a text of YAML. */
export function ruleOf(text: string): string {
  const read = parseLocated(text)
  return read.ok ? NO_RULE : read.detail.replace(/ at line .*$/, '')
}

/** How many of the texts each rule keeps away, the most first. */
export function countRules(differences: readonly Difference[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const text of new Set(differences.map((each) => each.text))) {
    const rule = ruleOf(text)
    counts.set(rule, (counts.get(rule) ?? 0) + 1)
  }
  return new Map([...counts].sort(([, a], [, b]) => b - a))
}

class RunningDecoder {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>

  constructor({ program }: Decoder) {
    this.#child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  async ask(batch: readonly Read[]): Promise<string[]> {
    this.#child.stdin.write(Buffer.concat(batch.flatMap(encode)))
    const answers: string[] = []
    for (const { text } of batch) {
      const { value, done } = await this.#lines.next()
      if (done === true) throw new Error(`the decoder ended at or after ${JSON.stringify(text)}`)
      answers.push(value)
    }
    return answers
  }

  stop(): void {
    this.#child.stdin.end()
  }
}

function encode({ text, value }: Read): Buffer[] {
  const ours = value === undefined ? NO_TEXT : Buffer.from(JSON.stringify(looksLikeJson(text) ? value : inOrder(value)))
  return [
    Buffer.of(value !== undefined && isInexact(value) ? INEXACT : 0),
    ...[Buffer.from(text), ours].flatMap((part) => [lengthOf(part), part]),
  ]
}

/** Kubelet sorts the keys as it turns YAML into JSON. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, inOrder(inner)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(part.length)
  return length
}

function isInexact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(isInexact)
}

/** Of UTF-16; Go replaces it. */
function hasHalfAPair(value: unknown): boolean {
  if (typeof value === 'string') return /\p{Surrogate}/u.test(value)
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasHalfAPair)
}

function* inBatches(texts: Iterable<string>): Generator<string[]> {
  let batch: string[] = []
  for (const text of texts) {
    batch.push(text)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
