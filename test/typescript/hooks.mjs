/**
 * Loads TypeScript: esbuild removes the types, and .tap/transpiled keeps the result under a hash of
 * the text. tap's own plugin compiles every module again in each of its processes, which costs more
 * CPU than most test files themselves.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)
/** Loaded only where a text is not in the cache. */
const esbuild = () => require('esbuild')

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = `${ROOT}.tap/transpiled/`
/** Below a node_modules, as the package is: Node.js does not warn of deprecated modules there. */
const BUNDLE_CACHE = `${CACHE}node_modules/`
const TRANSPILE = {
  loader: 'ts',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  sourcesContent: false,
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
}

/**
 * This package has thousands of modules, and loading them one by one takes seconds. The tests get
 * it as one module, as the release does.
 */
const BUNDLED = '@kubernetes/client-node'
const BUNDLE = {
  stdin: { contents: `export { KubeConfig } from '${BUNDLED}'`, resolveDir: ROOT },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
  write: false,
}

export function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  const text = readFileSync(fileURLToPath(url), 'utf8')
  const path = cachePath(CACHE, url, text, TRANSPILE)
  if (!existsSync(path)) write(path, esbuild().transformSync(text, { ...TRANSPILE, sourcefile: url }).code)
  return { format: 'module', source: readFileSync(path, 'utf8'), shortCircuit: true }
}

export function resolve(specifier, context, nextResolve) {
  if (specifier !== BUNDLED) return nextResolve(specifier, context)
  const manifest = readFileSync(`${ROOT}node_modules/${BUNDLED}/package.json`, 'utf8')
  const path = cachePath(BUNDLE_CACHE, manifest, BUNDLE)
  if (!existsSync(path)) write(path, esbuild().buildSync(BUNDLE).outputFiles[0].text)
  return { url: pathToFileURL(path).href, format: 'module', shortCircuit: true }
}

function cachePath(directory, ...inputs) {
  return `${directory}${createHash('sha256').update(JSON.stringify(inputs)).digest('hex')}.mjs`
}

/** Several processes may write the same file at the same time. */
function write(path, text) {
  const unfinished = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(unfinished, text)
  renameSync(unfinished, path)
}
