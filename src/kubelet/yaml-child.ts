// SPDX-License-Identifier: Apache-2.0
/**
 * The program that parses one YAML text in a process of its own: the text on standard input, the
 * result on standard output as JSON. `bounded-yaml.ts` starts it. Its memory is limited by a flag
 * of Node.js; the time for parsing is limited here, so that the start of the process does not
 * count.
 */
import { createContext, Script } from 'node:vm'
import { isObject } from '../values/is-object.ts'
import { parseDocuments, parseLocated, parseUncommon } from './yaml.ts'
import { type ChildAnswer, type LocatedReading, listPlaces, type YamlFailure } from './yaml-document.ts'

/**
 * Bytes of the result as JSON, below what `bounded-yaml.ts` reads. A ConfigMap has at most 1 MiB,
 * so a longer one is made of aliases.
 */
const MOST_BYTES = 8 << 20
/**
 * With less CPU than this share of the limit, the machine is to blame and not the text. Then the
 * text gets more time.
 */
const STARVED = 0.5
const MORE_TIME = [1, 2, 4]
/** Duplicate keys that are listed. */
const MOST_REPEATED = 100

function toFirst(read: LocatedReading): ChildAnswer {
  if (!read.ok) return toAnswer(read)
  const { value, remarks, repeated } = read
  return {
    kind: 'first',
    value,
    remarks: remarks.slice(0, MOST_REPEATED),
    repeated: repeated.slice(0, MOST_REPEATED),
    places: listPlaces(read),
  }
}

function parseAll(text: string): ChildAnswer {
  const read = parseDocuments(text)
  return read.ok ? { kind: 'all', documents: read.documents } : toAnswer(read)
}

const MODES: Readonly<Record<string, (text: string) => ChildAnswer>> = {
  first: (text) => toFirst(parseLocated(text)),
  'first-of-any': (text) => toFirst(parseUncommon(text)),
  all: parseAll,
}

function toAnswer({ ok: _, ...failure }: YamlFailure): ChildAnswer {
  return { kind: 'failed', ...failure }
}

function answerWithin(work: () => string, limitMs: number): string {
  for (const factor of MORE_TIME) {
    const before = process.cpuUsage()
    const answer = runWithin(work, limitMs * factor)
    if (answer !== undefined) return answer
    const { user, system } = process.cpuUsage(before)
    if ((user + system) / 1000 >= limitMs * STARVED) return write({ kind: 'too-slow' })
  }
  return write({ kind: 'starved' })
}

/** undefined: it was ended, wherever it was (vm, `timeout`). */
function runWithin(work: () => string, limitMs: number): string | undefined {
  try {
    return String(new Script('work()').runInContext(createContext({ work }), { timeout: limitMs }))
  } catch (error) {
    // An Error of that context, so no instance of this one's.
    if (!isObject(error) || error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return undefined
  }
}

function write(answer: ChildAnswer): string {
  const text = JSON.stringify(answer)
  return Buffer.byteLength(text) <= MOST_BYTES ? text : write({ kind: 'too-large' })
}

const [mode = '', limit = ''] = process.argv.slice(2)
const chunks: Buffer[] = []
for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
const text = Buffer.concat(chunks).toString('utf8')
process.stdout.write(answerWithin(() => write((MODES[mode] ?? parseAll)(text)), Number(limit)))
