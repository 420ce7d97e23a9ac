// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run traces -- --out FILE` writes down a hash of what the agent does in each schedule that is
 * kept by name, and in those of many seeds, half of them with a crash. `npm run traces -- --against
 * FILE`, at another commit, names each that differs. `npm run traces -- --text NAME` prints what is
 * behind one hash: the output at two commits shows the first difference.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Part } from './part.ts'
import { runParts } from './pool.ts'
import { NAMES, traceOf } from './trace.ts'

const RUNS_AT_ONCE = 20

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    against: { type: 'string' },
    text: { type: 'string' },
    seeds: { type: 'string', default: '300' },
    from: { type: 'string', default: '1' },
    processes: { type: 'string', default: String(availableParallelism()) },
  },
})

function fail(why: string): never {
  console.error(why)
  process.exit(2)
}

function numberOf(name: 'seeds' | 'from' | 'processes'): number {
  const value = Number(values[name])
  return Number.isSafeInteger(value) && value > 0 ? value : fail(`--${name} must be a number above 0, not ${values[name]}`)
}

async function record(): Promise<ReadonlyMap<string, string>> {
  const from = numberOf('from')
  const seeds = Array.from({ length: numberOf('seeds') }, (_, index) => String(from + index))
  const names = [...NAMES, ...seeds]
  const hashes = new Map<string, string>()
  let next = 0
  const nextPart = (): Part | undefined => {
    const part: Part = { kind: 'traces', names: names.slice(next, next + RUNS_AT_ONCE) }
    next += RUNS_AT_ONCE
    return part.names.length === 0 ? undefined : part
  }
  const failures: string[] = []
  await runParts(nextPart, numberOf('processes'), {
    done: (_part, { traces = [], failures: of }) => {
      failures.push(...of)
      for (const [name, hash] of traces) hashes.set(name, hash)
    },
  })
  if (failures.length > 0) fail(failures.join('\n'))
  return new Map(names.map((name) => [name, hashes.get(name) ?? fail(`${name} was not run`)]))
}

/** A line is a hash, a space and a name. */
function readHashes(path: string): ReadonlyMap<string, string> {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

/** @returns whether each trace is the one of the file */
function compare(hashes: ReadonlyMap<string, string>, path: string): boolean {
  const before = readHashes(path)
  const unknown = [...hashes.keys()].filter((name) => !before.has(name))
  const different = [...hashes].filter(([name, hash]) => before.has(name) && before.get(name) !== hash).map(([name]) => name)
  for (const name of unknown) console.log(`not in ${path}: ${name}`)
  for (const name of different) console.log(`differs: ${name}`)
  console.log(`${hashes.size - unknown.length - different.length} of ${hashes.size} traces are equal, ${different.length} differ`)
  if (different[0] !== undefined)
    console.log(`To see the first difference, compare at both commits: npm run --silent traces -- --text '${different[0]}'`)
  return unknown.length + different.length === 0
}

async function main({ text, out, against }: typeof values): Promise<void> {
  if (text !== undefined) {
    if (!NAMES.includes(text) && !/^[1-9]\d*$/.test(text)) fail(`--text must be a seed or one of:\n${NAMES.join('\n')}`)
    process.stdout.write(await traceOf(text))
    return
  }
  if (out === undefined && against === undefined) fail('use --out FILE, --against FILE or --text NAME')
  const hashes = await record()
  if (out !== undefined) writeFileSync(out, [...hashes].map(([name, hash]) => `${hash} ${name}\n`).join(''))
  if (against !== undefined && !compare(hashes, against)) process.exitCode = 1
}

await main(values)
