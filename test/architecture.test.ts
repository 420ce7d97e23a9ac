// SPDX-License-Identifier: Apache-2.0
/**
 * The shape of the code, read from its imports. Folders stand on floors, and import only from
 * floors below. Only the modules listed as adapters do I/O; every other module is pure: nothing it
 * does depends on anything but its arguments. Adapters never import each other, but for the modules
 * of `process/`, which wrap one builtin each for everyone; and one module imports each library.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { PURE_BUILTINS, PURE_PACKAGES } from './pure-modules.ts'

const SRC = resolve(import.meta.dirname, '../src')
const MOST_LINES = 320

/**
 * From the ground up: a folder imports only from floors below its own. `compose` and `.`, which
 * holds the entry point, are the composition, the only place where adapters meet. Adapters that
 * stand beside their rules in one folder are named on the floor of their own.
 */
const FLOORS: readonly (readonly string[])[] = [
  ['values'],
  ['subject'],
  ['rollout'],
  ['health'],
  ['decision', 'evidence', 'process'],
  ['ports'],
  ['checkpoint', 'directory', 'kube', 'kubelet', 'runtime'],
  ['cel', 'report', 'systemd'],
  [
    'evidence/ask-cluster.ts',
    'evidence/ask-runtime.ts',
    'evidence/serving-probe.ts',
    'evidence/worker.ts',
    'overlay',
    'preflight',
    'source',
  ],
  ['settings'],
  ['agent', 'helper'],
  ['command'],
  ['compose'],
  ['.'],
]

/** The folders of the rules of one decision, which know each other. */
const RULES: readonly string[] = ['decision', 'evidence']

/**
 * The modules that do I/O, read a clock or keep a library. A module that is not listed here is
 * pure.
 */
const ADAPTERS: readonly string[] = [
  'agent/heap.ts',
  'agent/waker.ts',
  'checkpoint/lock.ts',
  'checkpoint/node-disk.ts',
  'command/agent/config-file.ts',
  'command/agent/rights.ts',
  'command/ask.ts',
  'command/read-input.ts',
  'directory/owned-files.ts',
  'directory/watch-directory.ts',
  'evidence/serving-probe.ts',
  'helper/helper-process.ts',
  'helper/time-limit.ts',
  'kube/credentials.ts',
  'kube/dial.ts',
  'kube/http1-pool.ts',
  'kube/http2-line.ts',
  'kube/kube-api.ts',
  'kube/kubeconfig.ts',
  'kubelet/bounded-yaml.ts',
  'kubelet/health.ts',
  'kubelet/node-facts.ts',
  'kubelet/read-port-holder.ts',
  'kubelet/yaml-child.ts',
  'preflight/configz/kubelet-port.ts',
  'preflight/kubelet/binaries.ts',
  'preflight/kubelet/stand-in.ts',
  'preflight/kubelet/judge.ts',
  'preflight/node/read-runtime.ts',
  'preflight/node/read-surroundings.ts',
  'process/run-command.ts',
  'report/metrics.ts',
  'report/server.ts',
  'report/textfile.ts',
  'runtime/grpc-channel.ts',
  'systemd/binary-identity.ts',
  'systemd/boot-clock.ts',
  'systemd/bus-signals.ts',
  'systemd/file-ownership.ts',
  'systemd/journal.ts',
  'systemd/job-results.ts',
  'systemd/last-words.ts',
  'systemd/notify.ts',
  'systemd/read-agent-service.ts',
  'systemd/systemctl.ts',
]

/** The modules that open or accept connections, and to whom: docs/support.md says so. */
const CONNECTED: Readonly<Record<string, string>> = {
  'evidence/serving-probe.ts': "kubelet's TLS port",
  'kube/dial.ts': 'the API server, or the proxy of the kubeconfig',
  'kube/http1-pool.ts': 'the connections of kube/dial.ts',
  'kube/http2-line.ts': 'the connections of kube/dial.ts',
  'kubelet/health.ts': "kubelet's /healthz",
  'kubelet/read-port-holder.ts': 'an address of this machine',
  'preflight/configz/kubelet-port.ts': "kubelet's /configz",
  'preflight/kubelet/stand-in.ts': 'kubelet in preflight, in a network of its own',
  'report/server.ts': 'whoever reads the metrics, on loopback',
  'runtime/grpc-channel.ts': 'the socket of the container runtime',
  'systemd/bus-signals.ts': 'the socket of the system bus',
}
const NETWORK = /^(node:)?(net|tls|http|https|http2|dgram|dns)(\/|$)/
/** This machine, and the name of a schema. */
const NAMED_HOSTS = ['127.0.0.1', 'localhost', 'docs.oasis-open.org']

/** Globals that read a clock, chance or the process, or reach outside. */
const IMPURE_GLOBALS = ['performance', 'process', 'console', 'fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']
const IMPURE_MEMBERS = ['Date.now', 'Math.random']
const IMPURE_CRYPTO = ['randomBytes', 'randomUUID', 'randomInt', 'getRandomValues', 'randomFillSync']

interface Import {
  readonly specifier: string
  /** Erased by the compiler: a type is no dependency on what the module does. */
  readonly typeOnly: boolean
  /** By `import()`: when it is wanted. */
  readonly late?: boolean
}

interface Module {
  readonly name: string
  readonly text: string
  readonly imports: readonly Import[]
  /** Why it is no pure module; empty for one. */
  readonly impurities: readonly string[]
}

function readModule(path: string): Module {
  const text = readFileSync(path, 'utf8')
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const imports = findImports(file)
  const wrappers = imports
    .filter((imported) => !imported.typeOnly && importsWrapper(path, imported))
    .map(({ specifier }) => `imports ${specifier}`)
  return { name: relative(SRC, path), text, imports, impurities: [...impureImports(imports), ...wrappers, ...impureWords(file)] }
}

/**
 * Modules of `process/` wrap one builtin each for everyone: to import one is like importing the
 * builtin.
 */
const isWrapper = (name: string) => name.startsWith('process/')

function importsWrapper(path: string, { specifier }: Import): boolean {
  return specifier.startsWith('.') && isWrapper(relative(SRC, resolve(dirname(path), specifier)))
}

function findImports(file: ts.SourceFile): Import[] {
  const found: Import[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      found.push({ specifier: node.moduleSpecifier.text, typeOnly: importsTypesOnly(node) })
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)) {
      found.push({ specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly })
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments
      if (specifier !== undefined && ts.isStringLiteral(specifier)) found.push({ specifier: specifier.text, typeOnly: false, late: true })
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      found.push({ specifier: node.argument.literal.text, typeOnly: true })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function importsTypesOnly({ importClause: clause }: ts.ImportDeclaration): boolean {
  if (clause === undefined) return false
  if (clause.isTypeOnly) return true
  const names = clause.namedBindings
  return (
    clause.name === undefined && names !== undefined && ts.isNamedImports(names) && names.elements.every((element) => element.isTypeOnly)
  )
}

function impureImports(imports: readonly Import[]): string[] {
  const outside = imports.filter(({ specifier, typeOnly }) => !typeOnly && !specifier.startsWith('.')).map(({ specifier }) => specifier)
  return outside
    .filter(
      (specifier) =>
        !PURE_PACKAGES.includes(specifier) && !(isBuiltin(specifier) && PURE_BUILTINS.includes(specifier.replace(/^node:/, ''))),
    )
    .map((name) => `imports ${name}`)
}

function impureWords(file: ts.SourceFile): string[] {
  const declared = new Set<string>()
  const used: string[] = []
  const visit = (node: ts.Node): void => {
    if (isDeclarationName(node)) declared.add(node.text)
    else if (ts.isPropertyAccessExpression(node) && IMPURE_MEMBERS.includes(node.getText())) used.push(node.getText())
    else if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) used.push('new Date()')
    else if (ts.isIdentifier(node) && isReference(node) && [...IMPURE_GLOBALS, ...IMPURE_CRYPTO].includes(node.text)) used.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(file)
  // An imported setTimeout counts by its module; a parameter named process is just a name.
  return [...new Set(used)].filter((name) => IMPURE_CRYPTO.includes(name) || !declared.has(name)).map((name) => `mentions ${name}`)
}

function isDeclarationName(node: ts.Node): node is ts.Identifier {
  const { parent } = node
  if (!ts.isIdentifier(node) || parent === undefined) return false
  const declares =
    ts.isVariableDeclaration(parent) || ts.isParameter(parent) || ts.isBindingElement(parent) || ts.isFunctionDeclaration(parent)
  return declares && parent.name === node
}

/** Not the name of a property, a member or a type. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node
  return (
    ts.isExpression(parent) || ts.isVariableDeclaration(parent) || ts.isReturnStatement(parent) || ts.isShorthandPropertyAssignment(parent)
  )
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

const MODULES: ReadonlyMap<string, Module> = new Map(
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => [name, readModule(join(SRC, name))]),
)

/** Modules of ours that this one imports; `types`: those too of which it takes types alone. */
function ownImports(module: Module, { late, types } = { late: true, types: false }): string[] {
  return module.imports
    .filter((imported) => (types || !imported.typeOnly) && imported.specifier.startsWith('.') && (late || imported.late !== true))
    .map(({ specifier }) => relative(SRC, resolve(dirname(join(SRC, module.name)), specifier)))
}

const allImports = (module: Module) => ownImports(module, { late: true, types: true })

/** The modules in memory as soon as one is. */
function loadedWith(name: string, found = new Set<string>()): ReadonlySet<string> {
  const module = MODULES.get(name)
  if (module === undefined || found.has(name)) return found
  found.add(name)
  for (const imported of ownImports(module, { late: false, types: false })) loadedWith(imported, found)
  return found
}

const isPure = (name: string) => MODULES.get(name)?.impurities.length === 0
const why = (name: string) => MODULES.get(name)?.impurities.join(', ')
const each = [...MODULES.values()]
const folderOf = (name: string) => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '.')
const isComposition = (name: string) => ['compose', '.'].includes(folderOf(name))
const floorOf = (name: string) => FLOORS.findIndex((names) => names.includes(FLOORS.flat().includes(name) ? name : folderOf(name)))
const roomOf = (name: string) => (RULES.includes(folderOf(name)) ? 'rules' : folderOf(name))

t.test('what is imported exists', async (t) => {
  for (const module of each) {
    for (const name of allImports(module)) t.ok(MODULES.has(name), `${module.name} imports ${name}`)
  }
})

t.test('a folder imports only from floors below its own', async (t) => {
  for (const module of each) {
    t.ok(floorOf(module.name) >= 0, `${folderOf(module.name)} is on a floor`)
    const floor = floorOf(module.name)
    const above = allImports(module).filter((name) => floorOf(name) >= floor + (roomOf(name) === roomOf(module.name) ? 1 : 0))
    t.same(above, [], module.name)
  }
})

t.test('no files import each other in a circle', async (t) => {
  const done = new Set<string>()
  const visit = (name: string, path: readonly string[]): void => {
    const at = path.indexOf(name)
    t.ok(at < 0, [...path.slice(Math.max(0, at)), name].join(' -> '))
    if (at >= 0 || done.has(name)) return
    const module = MODULES.get(name)
    for (const imported of module === undefined ? [] : allImports(module)) visit(imported, [...path, name])
    done.add(name)
  }
  for (const { name } of each) visit(name, [])
})

t.test('all but the adapters is pure', async (t) => {
  for (const name of ADAPTERS) t.ok(MODULES.has(name) && !isPure(name), `${name} is an adapter`)
  for (const { name } of each.filter(({ name }) => !isComposition(name) && !ADAPTERS.includes(name)))
    t.ok(isPure(name), `${name} ${why(name)}`)
})

t.test('pure modules import only pure modules', async (t) => {
  for (const module of each.filter(({ name }) => isPure(name) && !isComposition(name))) {
    const broken = ownImports(module).filter((name) => !isPure(name))
    t.same(broken, [], `${module.name}: ${broken.map((name) => `${name} ${why(name)}`).join('; ')}`)
  }
})

t.test('an adapter never imports another, except one that wraps a builtin for everyone', async (t) => {
  for (const module of each.filter(({ name }) => !isPure(name) && !isComposition(name))) {
    const others = ownImports(module).filter((name) => !isPure(name) && !isWrapper(name))
    t.same(others, [], `${module.name} (${why(module.name)}): ${others.map((name) => `${name} ${why(name)}`).join('; ')}`)
  }
})

t.test('a module that wraps a builtin wraps one, imports no adapter, and is the only one to import that builtin', async (t) => {
  const impureBuiltins = ({ imports }: Module) => impureImports(imports.filter(({ specifier }) => isBuiltin(specifier)))
  for (const wrapper of each.filter(({ name }) => isWrapper(name))) {
    const [builtin, ...others] = impureBuiltins(wrapper)
    t.ok(builtin !== undefined && others.length === 0, `${wrapper.name}: ${why(wrapper.name)}`)
    t.ok(ownImports(wrapper).every(isPure), wrapper.name)
    const users = each.filter((module) => builtin !== undefined && impureBuiltins(module).includes(builtin)).map(({ name }) => name)
    t.same(users, [wrapper.name], `${builtin}`)
  }
})

t.test('only these modules reach the network, and none names a host of its own', async (t) => {
  const builtins = ({ imports, text }: Module) => [
    ...imports.filter(({ typeOnly }) => !typeOnly).map(({ specifier }) => specifier),
    ...[...text.matchAll(/\bgetBuiltinModule\('([^']+)'\)/g)].map(([, name = '']) => name),
  ]
  const reach = (module: Module) => builtins(module).some((name) => NETWORK.test(name)) || module.impurities.includes('mentions fetch')
  t.same(
    each.filter(reach).map(({ name }) => name),
    Object.keys(CONNECTED).sort(),
  )
  const hosts = each.flatMap(({ text }) => [...text.matchAll(/['"`]https?:\/\/([\w.-]+)/g)].map(([, host]) => host))
  t.same([...new Set(hosts)].sort(), [...NAMED_HOSTS].sort())
})

t.test(
  'an agent that waits has no tables of rules in its memory, no parser of YAML, no CEL, and no client of the container runtime',
  async (t) => {
    const loaded = [...loadedWith('main.ts')]
    t.ok(loaded.includes('agent/loop.ts'))
    const heavy =
      /^cel\/(evaluator|engine|functions)|^preflight\/(fields|node|kubelet)\/|^runtime\/(cri|grpc|protobuf)|\/(field-rows|check-fields|parts|validate|yaml)\.ts$/
    t.same(
      loaded.filter((name) => heavy.test(name) || name.startsWith('command/agent/commands/')),
      [],
    )
  },
)

t.test('the helper has nothing in its memory of what only the agent tells', async (t) => {
  const loaded = [...loadedWith('compose/helper.ts')]
  t.ok(loaded.includes('preflight/inspect-here.ts'))
  t.notOk(loaded.includes('cel/engine.ts'), 'CEL is loaded with the first expression')
  t.same(
    loaded.filter((name) => name.startsWith('report/')),
    ['report/publications.ts'],
  )
})

t.test('each library is known to one module', async (t) => {
  const users = new Map<string, Set<string>>()
  for (const module of each) {
    for (const { specifier } of module.imports) {
      if (specifier.startsWith('.') || isBuiltin(specifier)) continue
      const name = packageOf(specifier)
      users.set(name, (users.get(name) ?? new Set()).add(module.name))
    }
  }
  for (const [library, modules] of users) t.equal(modules.size, 1, `${library}: ${[...modules].join(', ')}`)
})

t.test('every module opens with a paragraph that says what it is', async (t) => {
  for (const { name, text } of each) t.match(text, /^(#!.*\n)?\/\/ SPDX-.*\n\/\*\*/, name)
})

t.test(`no module is longer than ${MOST_LINES} lines`, async (t) => {
  for (const { name, text } of each) {
    // Without the one of its licence.
    const lines = text.trimEnd().split('\n').length - 1
    t.ok(lines <= MOST_LINES, `${name}: ${lines}`)
  }
})
