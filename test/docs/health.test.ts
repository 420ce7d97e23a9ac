// SPDX-License-Identifier: Apache-2.0
/**
 * Each rule of health has a number: one sentence in docs/health.md, one place in the code, and one
 * test.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from './pages.ts'

const RULES = 51
const NUMBERS = Array.from({ length: RULES }, (_, index) => index + 1)

function listNumbers(folder: string, isOfTests: boolean): readonly number[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(isOfTests ? '.test.ts' : '.ts'))
    .sort()
  const pattern = isOfTests ? /t\.test\(\s*'[^'\n]*\((rule \d+(?:, rule \d+)*)\)'/g : /^\s*(?:\/\/|\*|\/\*\*) .*?\b(Rule \d+):/gm
  return files.flatMap((name) =>
    [...readFileSync(join(ROOT, folder, name), 'utf8').matchAll(pattern)].flatMap(([, found = '']) =>
      [...found.matchAll(/\d+/g)].map(([number]) => Number(number)),
    ),
  )
}

const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)

t.test('each number is one sentence, in order', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/health.md'), 'utf8')
  const sentences = [...page.matchAll(/^(\d+)\. (.+)$/gm)]
  t.same(
    sentences.map(([, number]) => Number(number)),
    NUMBERS,
  )
  for (const [line] of sentences) t.match(line, /^\d+\. [A-Z\d][^.]*\.$/, line)
})

t.test('each number is at one place in the code', async (t) => {
  t.same(sorted(listNumbers('src', false)), NUMBERS)
})

t.test('each number has one test', async (t) => {
  t.same(sorted(listNumbers('test', true)), NUMBERS)
})
