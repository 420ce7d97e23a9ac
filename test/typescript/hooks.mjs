/**
 * Loads TypeScript: esbuild removes the types, and .tap/transpiled keeps the result under a hash of
 * the text. tap's own plugin compiles every module again in each of its processes, which costs more
 * CPU than most test files themselves.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = `${ROOT}.tap/transpiled/`
const TRANSPILE = {
  loader: 'ts',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  sourcesContent: false,
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
}

/**
 * Packages of hundreds of modules and more, by what the tests take from them. Loading them one by
 * one costs more than most test files. The tests get each as one module.
 */
const BUNDLED = {
  '@kubernetes/client-node': "export { KubeConfig } from '@kubernetes/client-node'",
  tap: "export * from 'tap'\nexport { default } from 'tap'",
}
const BUNDLE = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  mainFields: ['module', 'main'],
  target: 'node20',
  banner: { js: "import { createRequire as requireOfBundle } from 'node:module'\nconst require = requireOfBundle(import.meta.url)" },
  write: false,
}

/** npm writes it with each installation. */
const installedAt = statSync(`${ROOT}node_modules/.package-lock.json`, { throwIfNoEntry: false })?.mtimeMs

export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  const text = readFileSync(fileURLToPath(url), 'utf8')
  const path = cachePath('', url, text, TRANSPILE)
  if (!existsSync(path)) {
    const { transform } = await import('esbuild')
    write(path, (await transform(text, { ...TRANSPILE, sourcefile: url })).code)
  }
  return { format: 'module', source: readFileSync(path, 'utf8'), shortCircuit: true }
}

export async function resolve(specifier, context, nextResolve) {
  const contents = Object.hasOwn(BUNDLED, specifier) ? BUNDLED[specifier] : undefined
  if (contents === undefined) return nextResolve(specifier, context)
  // tap leaves out of the stacks that it prints what lies in such a directory.
  const path = cachePath('node_modules/@tapjs/', contents, ROOT, installedAt, BUNDLE)
  if (!existsSync(path)) {
    const { build } = await import('esbuild')
    const { outputFiles } = await build({ ...BUNDLE, stdin: { contents, resolveDir: ROOT }, plugins: [keepUrls] })
    write(path, outputFiles[0].text)
  }
  return { url: pathToFileURL(path).href, format: 'module', shortCircuit: true }
}

/** Some modules find files of their package by their own URL. */
const keepUrls = {
  name: 'keep-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/.*\.m?js$/ }, ({ path }) => {
      const url = JSON.stringify(pathToFileURL(path).href)
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url), loader: 'js' }
    })
  },
}

function cachePath(folder, ...inputs) {
  return `${CACHE}${folder}${createHash('sha256').update(JSON.stringify(inputs)).digest('hex')}.mjs`
}

/** Several processes may write the same file at the same time. */
function write(path, text) {
  const unfinished = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(unfinished, text)
  renameSync(unfinished, path)
}
