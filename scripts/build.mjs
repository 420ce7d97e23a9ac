#!/usr/bin/env node
/**
 * Bundles the agent: `node scripts/build.mjs [entry] [outdir] [metafile]`, by default src/main.ts to dist/kubelet-cfg-agent.mjs. The metafile is
 * esbuild's account of what went in.
 *
 * What is loaded is what the agent weighs on a node, for ever: @kubernetes/client-node brings every type of the Kubernetes API (some
 * 3 MB of source), an HTTP client, OpenID and SOCKS, of which the agent uses the kubeconfig alone. So only that module of it is taken,
 * and what it would load besides is replaced by stubs that say so when they are ever called; with the other libraries alike. What the
 * agent itself imports with `import()` (yaml, metrics, node facts) becomes a file of its own and is loaded when it is needed.
 */
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

const NAME = 'kubelet-cfg-agent'
const [entry = 'src/main.ts', outdir = 'dist', metafilePath] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const require = createRequire(import.meta.url)
const clientNode = dirname(require.resolve('@kubernetes/client-node'))
const writeFileAtomic = dirname(require.resolve('write-file-atomic'))
const promClient = dirname(require.resolve('prom-client'))
const pinoLib = join(dirname(require.resolve('pino')), 'lib')

/** Of these, one file is taken for the whole. systeminformation is asked for memory only. */
const PARTS = [
  { module: '@kubernetes/client-node', path: join(clientNode, 'config.js') },
  { module: 'systeminformation', path: join(dirname(require.resolve('systeminformation')), 'memory.js') },
]

/** What the modules of a directory import in vain: replaced by a function that throws. For client-node, what a kubeconfig that needs it would have to use. */
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

/** The same, of which something harmless takes the place. */
const EMPTY = [
  // It would take and give back a dozen signals at each write, to remove a half-written file. No signal comes in the middle of a write that is synchronous, and
  // the agent clears at its start what a kill left.
  { from: writeFileAtomic, module: 'signal-exit', contents: 'export const onExit = () => () => {}' },
  // The worker thread of pino's transports, which the agent does not use.
  { from: pinoLib, module: 'thread-stream', contents: 'module.exports = undefined' },
  // Metrics of its own choice, with OpenTelemetry; those of other processes; and a push to somewhere else.
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
    for (const stub of [...STUBS, ...EMPTY]) {
      bundle.onResolve({ filter: exactly(stub.module) }, ({ importer }) =>
        dirname(importer) === stub.from ? { path: stub.module, namespace: 'stub', pluginData: stub } : undefined,
      )
    }
    bundle.onLoad({ filter: /.*/, namespace: 'stub' }, ({ pluginData: { contents } }) => ({ contents }))
  },
}

function exactly(module) {
  return new RegExp(`^${module.replace(/[.]/g, '\\.')}$`)
}

// Only what this writes: packages lie beside it.
for (const written of [`${NAME}.mjs`, `${NAME}.mjs.map`, `${NAME}.mjs.LEGAL.txt`, 'lib'])
  rmSync(join(outdir, written), { recursive: true, force: true })
const { metafile } = await build({
  entryPoints: [{ in: entry, out: NAME }],
  outdir,
  outExtension: { '.js': '.mjs' },
  chunkNames: 'lib/[name]-[hash]',
  bundle: true,
  splitting: true,
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
    // CommonJS dependencies ask where they are (write-file-atomic does, for the names of its temporary files),
    __filename: 'import.meta.filename',
    __dirname: 'import.meta.dirname',
  },
  banner: {
    // and for node's own modules with require().
    js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'\nconst require = __createRequire(import.meta.url)",
  },
  plugins: [slim],
  metafile: true,
  logLevel: 'warning',
})
// A chunk that only passes on what others export has a map of nothing.
for (const map of Object.keys(metafile.outputs).filter((output) => output.endsWith('.map'))) {
  if (JSON.parse(readFileSync(map, 'utf8')).mappings !== '') continue
  const chunk = map.slice(0, -'.map'.length)
  writeFileSync(chunk, readFileSync(chunk, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'))
  rmSync(map)
}
const main = join(outdir, `${NAME}.mjs`)
chmodSync(main, 0o755)
if (metafilePath !== undefined) writeFileSync(metafilePath, JSON.stringify(metafile))

const heavy = Object.keys(metafile.inputs).filter((input) =>
  /client-node\/dist\/gen\/|node_modules\/(node-fetch|openid-client|tr46|ws|@opentelemetry)\//.test(input),
)
if (heavy.length > 0) throw new Error(`the bundle holds what it must not: ${heavy.slice(0, 3).join(', ')} (${heavy.length} files)`)
for (const [file, { bytes }] of Object.entries(metafile.outputs))
  if (file.endsWith('.mjs')) console.log(`${file}\t${Math.ceil(bytes / 1024)} KiB`)
