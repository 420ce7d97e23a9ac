/** Comments wrap at 100 columns, so that they can be read beside code in any editor. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDERS = ['src', 'test', 'demo', 'bench', 'scripts']
const WIDEST = 100
/** Whole lines of comment. What stands behind code, tables and what a tool reads is left out. */
const COMMENT = /^\s*(\/\/|\/\*\*|\*)\s+(?!biome-ignore|@ts-|\||.*https?:)/

function* widerLines(path: string): Generator<string> {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n')
  for (const [index, line] of lines.entries()) if (line.length > WIDEST && COMMENT.test(line)) yield `${path}:${index + 1}`
}

t.test('no comment is wider than 100 columns', (t) => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ).filter((file) => /\.(ts|mjs)$/.test(file))
  t.ok(files.length > 500)
  t.strictSame(
    files.flatMap((file) => [...widerLines(file)]),
    [],
  )
  t.end()
})
