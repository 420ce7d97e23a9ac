/**
 * The shape of the code, read from its imports: pure modules import only pure modules, an adapter never imports another, each library has
 * one module. A module is pure if nothing it does depends on anything but its arguments; every other one is an adapter.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'

const SRC = resolve(import.meta.dirname, '../src')
const MOST_LINES = 320
/** One function that names every part of the agent once. */
const MOST_LINES_OF_COMPOSITION = 400

/** Where adapters meet: the only places that may import more than one. */
const COMPOSITION = ['main-preflight.ts', 'main.ts', 'main-commands.ts', 'main-stores.ts']

/** Must stay pure, whatever becomes of the others: all that decides. */
const PURE_FOR_EVER = [
  'agent/awaited.ts',
  'agent/base.ts',
  'agent/cadence.ts',
  'agent/channel-kinds.ts',
  'agent/desired.ts',
  'agent/durations.ts',
  'agent/error-code.ts',
  'agent/health-record.ts',
  'agent/judging.ts',
  'agent/model.ts',
  'agent/nearest.ts',
  'agent/next-step.ts',
  'agent/pause.ts',
  'agent/ports.ts',
  'agent/prunable.ts',
  'agent/release.ts',
  'agent/resolve-settings.ts',
  'agent/restarts.ts',
  'agent/setting-changes.ts',
  'agent/setting-kinds.ts',
  'agent/settings.ts',
  'agent/sources.ts',
  'agent/spread.ts',
  'agent/step.ts',
  'agent/target.ts',
  'agent/trial-key.ts',
  'agent/trial.ts',
  'cli/active-config.ts',
  'cli/candidate.ts',
  'cli/changes-text.ts',
  'cli/foresee.ts',
  'cli/manifest-text.ts',
  'cli/plan-document.ts',
  'cli/plan-text.ts',
  'cli/report-document.ts',
  'cli/report-text.ts',
  'cli/sarif.ts',
  'cli/source-line.ts',
  'checkpoint/content.ts',
  'checkpoint/names.ts',
  'checkpoint/serialize.ts',
  'kubelet/decode.ts',
  'kubelet/duration.ts',
  'kubelet/field-types.ts',
  'kubelet/fields.ts',
  'kubelet/json.ts',
  'kubelet/quantity.ts',
  'kubelet/validate.ts',
  'overlay/lay-over.ts',
  'overlay/merge-patch.ts',
  'overlay/patch-file.ts',
  'overlay/read-overlay.ts',
  'overlay/render.ts',
  'overlay/view.ts',
  'preflight/kubelet/classify.ts',
  'preflight/kubelet/judgement.ts',
  'preflight/kubelet/last-words.ts',
  'preflight/kubelet/places.ts',
  'preflight/kubelet/probe-flags.ts',
  'preflight/kubelet/quote-words.ts',
  'preflight/kubelet/remembered.ts',
  'preflight/kubelet/sandbox.ts',
  'preflight/kubelet/sandbox-end.ts',
  'preflight/change/change.ts',
  'preflight/change/check-same.ts',
  'preflight/change/compare.ts',
  'preflight/change/effective.ts',
  'preflight/change/field-rows.ts',
  'preflight/change/kubelet-flags.ts',
  'preflight/change/overlay-flags.ts',
  'preflight/change/overridden.ts',
  'preflight/change/risk-classes.ts',
  'preflight/change/same-value.ts',
  'preflight/node/check-endpoints.ts',
  'preflight/node/check-files.ts',
  'preflight/node/check-machine.ts',
  'preflight/node/check-node.ts',
  'preflight/node/check-reservations.ts',
  'preflight/node/check-states.ts',
  'preflight/cpu-set.ts',
  'preflight/node/managers.ts',
  'preflight/node/node-view.ts',
  'preflight/node/proc-net.ts',
  'preflight/policy/check-policy.ts',
  'preflight/policy/patterns.ts',
  'kubelet/yaml-number.ts',
  'preflight/agent-preflight.ts',
  'preflight/check-fields.ts',
  'preflight/describe-changes.ts',
  'preflight/describe-finding.ts',
  'preflight/effect-check.ts',
  'preflight/heed-kubelet.ts',
  'preflight/parts.ts',
  'preflight/fields/at-start.ts',
  'preflight/fields/check-gates.ts',
  'preflight/fields/choices.ts',
  'preflight/fields/cross.ts',
  'preflight/fields/gate-stages.ts',
  'preflight/fields/new-fields.ts',
  'preflight/fields/ranges.ts',
  'preflight/fields/unknown-keys.ts',
  'preflight/locate.ts',
  'preflight/read-document.ts',
  'preflight/field-path.ts',
  'preflight/inspect.ts',
  'preflight/inspection.ts',
  'preflight/report.ts',
  'report/annotation.ts',
  'report/budget.ts',
  'report/assignment-doubts.ts',
  'report/condition.ts',
  'report/cut.ts',
  'report/deadlines.ts',
  'report/events.ts',
  'report/fault.ts',
  'report/status.ts',
  'report/steadiness.ts',
  'report/texts.ts',
  'source/ask-once.ts',
  'source/channels/annotation.ts',
  'source/channels/config-map-name.ts',
  'source/channels/desired.ts',
  'source/channels/fleet.ts',
  'source/channels/label-selector.ts',
  'source/channels/label-syntax.ts',
  'source/channels/metadata.ts',
  'source/channels/pause.ts',
  'source/channels/resolve.ts',
  'source/channels/words.ts',
  'source/desired.ts',
  'source/names.ts',
  'systemd/environment-file.ts',
  'systemd/flags.ts',
  'systemd/heartbeat.ts',
  'systemd/status-line.ts',
  'systemd/unit-activity.ts',
  'systemd/unit-machine.ts',
  'systemd/unit-properties.ts',
  'systemd/wiring.ts',
  'systemd/words.ts',
]

/** Builtins that compute and do nothing else. */
const PURE_BUILTINS = ['assert', 'buffer', 'crypto', 'path', 'path/posix', 'querystring', 'string_decoder', 'url', 'util']
/** Libraries that compute and do nothing else. */
const PURE_PACKAGES = ['yaml']
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
  return { name: relative(SRC, path), text, imports, impurities: [...impureImports(imports), ...impureWords(file)] }
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

/** Modules of ours whose code this one runs. */
function ownImports(module: Module, { late } = { late: true }): string[] {
  return module.imports
    .filter((imported) => !imported.typeOnly && imported.specifier.startsWith('.') && (late || imported.late !== true))
    .map(({ specifier }) => relative(SRC, resolve(dirname(join(SRC, module.name)), specifier)))
}

/** What is in memory as soon as one module is. */
function loadedWith(name: string, found = new Set<string>()): ReadonlySet<string> {
  const module = MODULES.get(name)
  if (module === undefined || found.has(name)) return found
  found.add(name)
  for (const imported of ownImports(module, { late: false })) loadedWith(imported, found)
  return found
}

const isPure = (name: string) => MODULES.get(name)?.impurities.length === 0
const why = (name: string) => MODULES.get(name)?.impurities.join(', ')
const each = [...MODULES.values()]

t.test('what is imported exists', async (t) => {
  for (const module of each) {
    for (const name of ownImports(module)) t.ok(MODULES.has(name), `${module.name} imports ${name}`)
  }
})

t.test('what decides is pure', async (t) => {
  for (const name of PURE_FOR_EVER) t.ok(isPure(name), `${name} ${MODULES.has(name) ? why(name) : 'does not exist'}`)
})

t.test('pure modules import only pure modules', async (t) => {
  for (const module of each.filter(({ name }) => isPure(name) && !COMPOSITION.includes(name))) {
    const broken = ownImports(module).filter((name) => !isPure(name))
    t.same(broken, [], `${module.name}: ${broken.map((name) => `${name} ${why(name)}`).join('; ')}`)
  }
})

t.test('an adapter never imports another', async (t) => {
  for (const module of each.filter(({ name }) => !isPure(name) && !COMPOSITION.includes(name))) {
    const others = ownImports(module).filter((name) => !isPure(name))
    t.same(others, [], `${module.name} (${why(module.name)}): ${others.map((name) => `${name} ${why(name)}`).join('; ')}`)
  }
})

t.test('an agent that waits has no tables of rules in its memory, nor a parser of YAML', async (t) => {
  const loaded = [...loadedWith('main.ts')]
  t.ok(loaded.includes('agent/loop.ts'))
  const heavy = /^preflight\/(fields|node|kubelet)\/|\/(field-rows|check-fields|parts|validate|yaml)\.ts$/
  t.same(
    loaded.filter((name) => heavy.test(name) && name !== 'cli/validate.ts'),
    [],
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
  for (const { name, text } of each) t.match(text, /^(#!.*\n)?\/\*\*/, name)
})

t.test(`no module is longer than ${MOST_LINES} lines`, async (t) => {
  for (const { name, text } of each) {
    const lines = text.trimEnd().split('\n').length
    t.ok(lines <= (COMPOSITION.includes(name) ? MOST_LINES_OF_COMPOSITION : MOST_LINES), `${name}: ${lines}`)
  }
})
