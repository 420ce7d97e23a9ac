/**
 * Loads TypeScript: esbuild removes the types, and the result is kept in .tap/transpiled under a hash of the text. tap's own plugin
 * compiles every module again in each of its processes, which costs more CPU than most test files themselves.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const CACHE = fileURLToPath(new URL('../../.tap/transpiled/', import.meta.url))
const OPTIONS = {
  loader: 'ts',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  sourcesContent: false,
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
}

export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  const text = readFileSync(fileURLToPath(url), 'utf8')
  const key = createHash('sha256')
    .update(JSON.stringify([url, text, OPTIONS]))
    .digest('hex')
  const path = `${CACHE}${key}.mjs`
  return { format: 'module', source: read(path) ?? (await transpile(url, text, path)), shortCircuit: true }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

async function transpile(url, text, path) {
  const { transform } = await import('esbuild')
  const { code } = await transform(text, { ...OPTIONS, sourcefile: url })
  // Several processes may write the same file at the same time.
  const unfinished = `${path}.${process.pid}`
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(unfinished, code)
  renameSync(unfinished, path)
  return code
}
