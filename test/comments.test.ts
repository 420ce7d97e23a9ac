// SPDX-License-Identifier: Apache-2.0
/**
 * Comments wrap at 100 columns, so that they can be read beside code in any editor. In `src/`, a
 * comment begins with a noun that a stranger knows, and not with a pronoun.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listFiles, ROOT } from './docs/pages.ts'

const FOLDERS = ['src', 'test', 'demo', 'bench', 'scripts', 'site']
const WIDEST = 100
/** Whole lines of comment. What stands behind code, tables and what a tool reads is left out. */
const COMMENT = /^\s*(\/\/|\/\*\*|\*)\s+(?!biome-ignore|@ts-|\||.*https?:)/
/** A block of lines with `//`, or a JSDoc, whose first word does not say what it is about. */
const WITHOUT_NOUN = /(?<!^[ \t]*\/\/.*\n)^[ \t]*\/\/[ \t]*(It|What|That)\b|\/\*\*[\s*]*(It|What|That)\b/gm

function listSources(...folders: readonly string[]): readonly string[] {
  return [...listFiles()].filter((file) => /\.(ts|mjs)$/.test(file) && folders.some((folder) => file.startsWith(`${folder}/`)))
}

function* widerLines(path: string): Generator<string> {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n')
  for (const [index, line] of lines.entries()) if (line.length > WIDEST && COMMENT.test(line)) yield `${path}:${index + 1}`
}

function listWithoutNoun(text: string): readonly string[] {
  return [...text.matchAll(WITHOUT_NOUN)].map(({ index, 0: opening }) => {
    const line = text.slice(0, index + opening.length).split('\n').length
    return `${line}: ${opening.trim()}`
  })
}

t.test('no comment is wider than 100 columns', (t) => {
  const files = listSources(...FOLDERS)
  t.ok(files.length > 500)
  t.strictSame(
    files.flatMap((file) => [...widerLines(file)]),
    [],
  )
  t.end()
})

t.test('a comment begins with its noun', (t) => {
  t.strictSame(
    listWithoutNoun('a\n  // It is.\n  // What is left\nb // That\n/** What it is. */\n/**\n * That.\n * It\n */\n// Items\n//\n// It\n'),
    ['2: // It', '5: /** What', '7: /**\n * That'],
    'the first word of a comment is looked at, not that of each line',
  )
  t.strictSame(
    listSources('src').flatMap((path) => listWithoutNoun(readFileSync(join(ROOT, path), 'utf8')).map((found) => `${path}:${found}`)),
    [],
  )
  t.end()
})

t.test('a source file begins with its licence', (t) => {
  const files = listSources(...FOLDERS)
  t.strictSame(
    files.filter((path) => !/^(#!.*\n)?\/\/ SPDX-License-Identifier: Apache-2\.0\n/.test(readFileSync(join(ROOT, path), 'utf8'))),
    [],
  )
  t.end()
})
