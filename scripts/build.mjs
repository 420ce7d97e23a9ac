#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
/**
 * Bundles the agent: `node scripts/build.mjs [entry] [outdir] [metafile]`, by default src/main.ts
 * to dist/kubelet-cfg-agent.mjs. The metafile is esbuild's list of what is in the bundle.
 *
 * All loaded code occupies memory on a node for as long as the agent runs. @kubernetes/client-node
 * brings every type of the Kubernetes API (about 3 MB of source), an HTTP client, OpenID and SOCKS,
 * but the agent uses only its kubeconfig module. So the bundle takes only that module, and replaces
 * its other imports with stubs, which throw when they are called. Other libraries are reduced in
 * the same way. What the agent imports with `import()` (yaml, metrics, node facts) becomes a
 * separate file, which is loaded when it is needed.
 */
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const NAME = 'kubelet-cfg-agent'
/** The program that parses YAML in a process of its own. */
const YAML_CHILD = { in: fileURLToPath(new URL('../src/kubelet/yaml-child.ts', import.meta.url)), out: 'lib/yaml-child' }
/** The program that answers for Docker in a sandbox. */
const STAND_IN = { in: fileURLToPath(new URL('../src/preflight/kubelet/stand-in.ts', import.meta.url)), out: 'lib/stand-in' }
/** The program that the agent asks for what takes much code. */
const HELPER = { in: fileURLToPath(new URL('../src/compose/helper.ts', import.meta.url)), out: 'lib/helper' }
const MAIN = 'src/main.ts'
const [entry = MAIN, outdir = 'dist', metafilePath] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const require = createRequire(import.meta.url)
const clientNode = dirname(require.resolve('@kubernetes/client-node'))
const writeFileAtomic = dirname(require.resolve('write-file-atomic'))
const promClient = dirname(require.resolve('prom-client'))
const pino = dirname(require.resolve('pino'))
const sonicBoom = dirname(createRequire(require.resolve('pino')).resolve('sonic-boom'))

/**
 * Packages of which the bundle takes one file. Of systeminformation, the agent uses only memory.
 */
const PARTS = [
  { module: '@kubernetes/client-node', path: join(clientNode, 'config.js') },
  { module: 'systeminformation', path: join(dirname(require.resolve('systeminformation')), 'memory.js') },
]

/**
 * Imports that the agent does not need: each becomes a function that throws. `feature` is what a
 * kubeconfig would have to use to call it.
 */
const STUBS = [
  { from: clientNode, module: 'node-fetch', exports: ['Headers'], feature: 'the HTTP client of client-node' },
  {
    from: clientNode,
    module: './gen/index.js',
    exports: ['createConfiguration', 'ServerConfiguration'],
    feature: 'the API clients of client-node',
  },
  { from: clientNode, module: 'socks-proxy-agent', exports: ['SocksProxyAgent'], feature: 'a SOCKS proxy (proxy-url: socks5://...)' },
  { from: clientNode, module: 'openid-client', exports: ['refreshTokenGrant', 'discovery'], feature: 'the auth provider oidc' },
  { from: clientNode, module: 'jsonpath-plus', exports: ['JSONPath'], feature: 'the auth providers gcp and azure' },
].map(({ feature, exports, ...stub }) => {
  const message = `${feature} is not in this build (${stub.module}): use a client certificate, a token or an exec plugin`
  const unavailable = `function unavailable() { throw Object.assign(new Error(${JSON.stringify(message)}), { code: 'ERR_NOT_IN_THIS_BUILD' }) }`
  return { ...stub, contents: `${unavailable}\nexport { ${exports.map((name) => `unavailable as ${name}`).join(', ')} }` }
})

/**
 * Imports that the agent does not need and that run anyway: replaced with code that does nothing,
 * or as little as is used of it.
 */
const SMALL = [
  // The package would install and remove a dozen signal handlers at each write, to delete a
  // half-written file. No signal handler runs during a synchronous write, and the agent deletes at
  // its start what a kill left behind.
  { from: writeFileAtomic, module: 'signal-exit', contents: 'export const onExit = () => () => {}' },
  // The worker thread of pino's transports, which the agent does not use.
  { from: join(pino, 'lib'), module: 'thread-stream', contents: 'module.exports = undefined' },
  // Node.js takes 3 ms to load these two, and the logger uses one name of each.
  { from: join(pino, 'lib'), module: 'worker_threads', contents: 'export const isMainThread = true' },
  {
    from: sonicBoom,
    module: 'assert',
    contents: 'module.exports = (value, message) => { if (!value) throw new Error(message) }',
  },
  // Default metrics (with OpenTelemetry), metrics of other processes, the push gateway and
  // summaries.
  ...['./lib/defaultMetrics', './lib/cluster', './lib/pushgateway', './lib/summary'].map((module) => ({
    from: promClient,
    module,
    contents: 'module.exports = undefined',
  })),
]

const slim = {
  name: 'slim',
  setup(bundle) {
    for (const { module, path } of PARTS) bundle.onResolve({ filter: exactly(module) }, () => ({ path }))
    for (const stub of [...STUBS, ...SMALL]) {
      bundle.onResolve({ filter: exactly(stub.module) }, ({ importer }) =>
        dirname(importer) === stub.from ? { path: stub.module, namespace: 'stub', pluginData: stub } : undefined,
      )
    }
    bundle.onLoad({ filter: /.*/, namespace: 'stub' }, ({ pluginData: { contents } }) => ({ contents }))
  },
}

/**
 * Modules of Node.js come by require(). An import of one makes Node.js read every export of it, and
 * some of them load code when they are read: `import { get } from 'node:http'` loads an HTTP client
 * with WebSockets (8 MB), `node:tls` makes texts of all its root certificates.
 */
const builtins = {
  name: 'builtins',
  setup(bundle) {
    bundle.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'require-call' ? { path, external: true } : { path, namespace: 'builtin' },
    )
    bundle.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      const names = Object.keys(require(path)).filter((name) => /^\w+$/.test(name) && name !== 'default')
      // Those that nothing uses are left out, and so not read.
      const exports = names.map((name) => `export const ${name} = /* @__PURE__ */ (() => builtin.${name})()`)
      return { contents: [`const builtin = require(${JSON.stringify(path)})`, 'export default builtin', ...exports].join('\n') }
    })
  },
}

function exactly(module) {
  return new RegExp(`^${module.replace(/[.]/g, '\\.')}$`)
}

// Removes only what this script writes: packages are in the same directory.
for (const written of [`${NAME}.mjs`, `${NAME}.mjs.map`, `${NAME}.mjs.LEGAL.txt`, 'lib'])
  rmSync(join(outdir, written), { recursive: true, force: true })
const common = {
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Traces stay readable: names and white space are kept.
  minifySyntax: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'linked',
  define: {
    KUBELET_CFG_AGENT_VERSION: JSON.stringify(version),
    KUBELET_CFG_AGENT_YAML_CHILD: JSON.stringify(`./${YAML_CHILD.out}.mjs`),
    KUBELET_CFG_AGENT_HELPER: JSON.stringify(`./${HELPER.out}.mjs`),
    KUBELET_CFG_AGENT_STAND_IN: JSON.stringify(`./${STAND_IN.out}.mjs`),
    // CommonJS dependencies use their own path (write-file-atomic does, for the names of its
    // temporary files),
    __filename: 'import.meta.filename',
    __dirname: 'import.meta.dirname',
  },
  banner: {
    // and load modules of Node.js with require().
    js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'\nconst require = __createRequire(import.meta.url)",
  },
  plugins: [slim, builtins],
  metafile: true,
  logLevel: 'warning',
}
// The programs beside the agent have their own copies of what they share with it: a file more takes
// about a millisecond at each start, and shared files would be many small ones.
const metafiles = await Promise.all([
  build({ ...common, entryPoints: [{ in: entry, out: NAME }], splitting: true, chunkNames: 'lib/[name]-[hash]' }),
  ...[YAML_CHILD, STAND_IN, HELPER].map((program) => build({ ...common, entryPoints: [program] })),
]).then((built) => built.map(({ metafile }) => metafile))
const metafile = {
  inputs: Object.assign({}, ...metafiles.map(({ inputs }) => inputs)),
  outputs: Object.assign({}, ...metafiles.map(({ outputs }) => outputs)),
}
// A chunk that only re-exports has an empty source map.
for (const map of Object.keys(metafile.outputs).filter((output) => output.endsWith('.map'))) {
  if (JSON.parse(readFileSync(map, 'utf8')).mappings !== '') continue
  const chunk = map.slice(0, -'.map'.length)
  writeFileSync(chunk, readFileSync(chunk, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'))
  rmSync(map)
}
// V8 keeps a source text with one byte a character only if all of them are Latin-1. esbuild escapes
// the others in strings, and leaves them in comments and regular expressions, where an escape means
// the same: curly quotes in a comment of js-yaml doubled the memory of the largest file.
for (const file of Object.keys(metafile.outputs).filter((output) => output.endsWith('.mjs'))) {
  const text = readFileSync(file, 'utf8')
  const narrow = text.replace(/[\u0100-\uffff]/g, (wide) => `\\u${wide.charCodeAt(0).toString(16).padStart(4, '0')}`)
  if (narrow !== text) writeFileSync(file, narrow)
}
const main = join(outdir, `${NAME}.mjs`)
chmodSync(main, 0o755)
if (metafilePath !== undefined) writeFileSync(metafilePath, JSON.stringify(metafile))

const heavy = Object.keys(metafile.inputs).filter((input) =>
  /client-node\/dist\/gen\/|node_modules\/(node-fetch|openid-client|tr46|ws|@opentelemetry)\//.test(input),
)
if (heavy.length > 0)
  throw new Error(`the bundle contains modules that it must not contain: ${heavy.slice(0, 3).join(', ')} (${heavy.length} files)`)
const unused = [...STUBS, ...SMALL]
  .filter(({ module }) => metafile.inputs[`stub:${module}`] === undefined)
  .map(({ module, from }) => `${module} (imported from ${from})`)
if (entry === MAIN && unused.length > 0)
  throw new Error(`no module imports what these stubs replace; a package has changed: ${unused.join(', ')}`)
const written = Object.entries(metafile.outputs).filter(([file]) => file.endsWith('.mjs'))
const kib = Math.ceil(written.reduce((sum, [, { bytes }]) => sum + bytes, 0) / 1024)
console.log(`${relative('.', main)} and ${written.length - 1} files beside it: ${kib} KiB`)
