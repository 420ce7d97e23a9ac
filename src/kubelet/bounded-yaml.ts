// SPDX-License-Identifier: Apache-2.0
/**
 * Parses YAML that comes from outside. A short text without aliases and merge keys is parsed here:
 * that takes milliseconds. Any other is parsed in a process of its own, which can be ended: 941 KB
 * with 990 merges took 111 s of CPU. One runs at a time, and only while there is a text to parse.
 */
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { type CommandResult, describeFailure, runCommand } from '../process/run-command.ts'
import { parseJson } from '../values/json-shape.ts'
import {
  type ChildAnswer,
  type DocumentsReading,
  isChildAnswer,
  type LocatedReading,
  locateIn,
  type YamlFailure,
  type YamlReader,
} from './yaml-document.ts'

interface BoundedYamlOptions {
  /** Path of the program `yaml-child.ts`. */
  readonly child: string
  readonly limitMs?: number
  readonly memoryMb?: number
}

type Mode = 'first' | 'first-of-any' | 'all'
type Answer = ChildAnswer | { readonly kind: 'out-of-memory' }

/** Kubelet takes some 10 ms for a config of 100 KB. */
const LIMIT_MS = 2000
/** The program itself needs some 50 MB of it. */
const MEMORY_MB = 160
/** For the start of the process, and for more time on a machine that is busy. */
const BUSY_MS = 20_000
const MOST_OUTPUT = 16 << 20

/** The costliest text of this length takes 0.35 s of CPU. */
const SHORT = 32 << 10
/**
 * An alias or an anchor can begin only after one of these. In quotes it may be something else, and
 * so may the `<<` of a merge, whose cost grows with the square of their number.
 */
const ALIAS = /(?:^|[\s,[{:])[*&]/

export function isCheap(text: string): boolean {
  return text.length <= SHORT && !ALIAS.test(text) && !text.includes('<<')
}

export class BoundedYaml implements YamlReader {
  readonly #options: Required<BoundedYamlOptions>
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: BoundedYamlOptions) {
    this.#options = { limitMs: LIMIT_MS, memoryMb: MEMORY_MB, ...options }
  }

  async first(text: string, signal?: AbortSignal): Promise<LocatedReading> {
    if (isCheap(text)) return (await import('./yaml.ts')).parseLocated(text)
    return this.#toLocated(await this.#ask('first', text, signal))
  }

  async firstOfAny(text: string, signal?: AbortSignal): Promise<LocatedReading> {
    if (isCheap(text)) return (await import('./yaml.ts')).parseUncommon(text)
    return this.#toLocated(await this.#ask('first-of-any', text, signal))
  }

  #toLocated(answer: Answer): LocatedReading {
    if (answer.kind !== 'first') return this.#fail(answer)
    const { value, remarks, repeated, places } = answer
    return { ok: true, value, remarks, repeated, locate: locateIn(places) }
  }

  async all(text: string, signal?: AbortSignal): Promise<DocumentsReading> {
    if (isCheap(text)) return (await import('./yaml.ts')).parseDocuments(text)
    const answer = await this.#ask('all', text, signal)
    return answer.kind === 'all' ? { ok: true, documents: answer.documents } : this.#fail(answer)
  }

  #ask(mode: Mode, text: string, signal: AbortSignal | undefined): Promise<Answer> {
    const turn = this.#last.then(() => this.#run(mode, text, signal))
    this.#last = turn.catch(() => {})
    return turn
  }

  async #run(mode: Mode, text: string, signal: AbortSignal | undefined): Promise<Answer> {
    signal?.throwIfAborted()
    const { child, limitMs, memoryMb } = this.#options
    // The nursery of an agent, which waits, would be too small for it.
    const memory = ['--max-semi-space-size=8', `--max-old-space-size=${memoryMb}`]
    const args = [...flagsFor(child), ...memory, child, mode, String(limitMs)]
    const result = await runCommand(process.execPath, args, {
      timeoutMs: limitMs + BUSY_MS,
      maxOutputBytes: MOST_OUTPUT,
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
      input: text,
      ...(signal && { signal }),
    })
    if (isOutOfMemory(result)) return { kind: 'out-of-memory' }
    const answer = parseJson(Buffer.from(result.stdout), isChildAnswer)
    if (answer === undefined) throw new Error(`cannot run the parser of YAML: ${describeFailure(result)}`)
    if (answer.kind === 'starved') throw new Error('the machine is too busy to parse YAML: trying again later')
    return answer
  }

  #fail(answer: Answer): YamlFailure {
    const { limitMs, memoryMb } = this.#options
    switch (answer.kind) {
      case 'failed':
        return { ok: false, detail: answer.detail, position: answer.position, unjudged: answer.unjudged }
      case 'too-slow':
        return refuse(`takes longer than ${limitMs / 1000} s to parse`)
      case 'too-large':
        return refuse('becomes too large when its aliases are replaced')
      case 'out-of-memory':
        return refuse(`takes more than ${memoryMb} MiB of memory to parse`)
      case 'first':
      case 'all':
      case 'starved':
        throw new Error(`unexpected answer of the parser of YAML: ${answer.kind}`)
    }
  }
}

/**
 * The parser may read its own code, write nothing, and start nothing. From source it needs the
 * loader that this process was started with. The network is not limited by that (nodejs.org,
 * "Permissions"). Node.js 20 has no such limits.
 */
function flagsFor(child: string): readonly string[] {
  if (!child.endsWith('.mjs')) return process.execArgv
  const directory = dirname(realpathSync(child))
  return process.allowedNodeEnvironmentFlags.has('--permission') ? ['--permission', `--allow-fs-read=${directory}`] : []
}

function refuse(why: string): YamlFailure {
  return { ok: false, detail: `${why}: shorten it, and use fewer aliases and merge keys (<<)`, position: undefined }
}

/** V8 then ends the process with SIGABRT (node/src/api/environment.cc, `OOMErrorHandler`). */
function isOutOfMemory({ end, stderr }: CommandResult): boolean {
  return end.kind === 'signalled' && end.signal === 'SIGABRT' && stderr.includes('heap out of memory')
}
