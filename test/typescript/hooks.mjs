// SPDX-License-Identifier: Apache-2.0
/**
 * Loads TypeScript: ts-blank-space puts spaces in place of the types, and .tap/blank keeps the
 * result under a hash of the text. So a stack trace has the lines of the source without a source
 * map. tap's own plugin compiles every module again in each of its processes, which costs more CPU
 * than most test files themselves.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)
/** Compilers that are loaded only where a text is not in the cache. */
const esbuild = () => require('esbuild')
const tsBlankSpace = () => require('ts-blank-space').default

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = `${ROOT}.tap/blank/`
/** Below a node_modules, as the package is: Node.js does not warn of deprecated modules there. */
const BUNDLE_CACHE = `${CACHE}node_modules/`
const TS_BLANK_SPACE = readManifest('ts-blank-space')

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
  const path = cachePath(CACHE, TS_BLANK_SPACE, text)
  if (!existsSync(path)) write(path, removeTypes(text, url))
  return { format: 'module', source: readFileSync(path, 'utf8'), shortCircuit: true }
}

export function resolve(specifier, context, nextResolve) {
  if (specifier !== BUNDLED) return nextResolve(specifier, context)
  const path = cachePath(BUNDLE_CACHE, readManifest(BUNDLED), BUNDLE)
  if (!existsSync(path)) write(path, esbuild().buildSync(BUNDLE).outputFiles[0].text)
  return { url: pathToFileURL(path).href, format: 'module', shortCircuit: true }
}

/** The manifest, which has the version. */
function readManifest(name) {
  return readFileSync(`${ROOT}node_modules/${name}/package.json`, 'utf8')
}

function removeTypes(text, url) {
  return tsBlankSpace()(text, ({ pos, end }) => {
    throw new SyntaxError(`${url}: this is no type, so it cannot be left out: ${text.slice(pos, end).trim()}`)
  })
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
