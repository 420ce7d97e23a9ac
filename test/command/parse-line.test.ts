// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { complete } from '../../src/command/complete.ts'
import { helpOn } from '../../src/command/help.ts'
import { readLine } from '../../src/command/parse-line.ts'
import { GLOBAL_OPTIONS } from '../../src/command/plugin/options.ts'
import { isCompletion, isPluginStart } from '../../src/command/plugin/plugin-name.ts'
import { PLUGIN_PROGRAM } from '../../src/command/plugin/program.ts'

const read = (...args: string[]) => readLine(args, PLUGIN_PROGRAM)

t.test('flags stand anywhere, long and short', async (t) => {
  t.match(read('--context', 'prod', 'get', 'n1', '-n', 'configs', '-o', 'json'), {
    kind: 'run',
    command: { name: 'get' },
    line: { options: { output: 'json', selector: '', watch: 'false' }, args: ['n1'], shared: { context: 'prod', namespace: 'configs' } },
    problems: [],
  })
  t.match(read('get', '-w', '-o=wide', '--selector=a=b'), { line: { options: { output: 'wide', watch: 'true', selector: 'a=b' } } })
})

t.test('all problems are reported together', async (t) => {
  t.match(read('get', '--selektor', 'x', '-o', 'xml', '-n', 'Not_A_Name'), {
    problems: [/--selektor.*--selector/, /-n: "Not_A_Name"/, /-o: "xml" is not one of/],
  })
  t.match(read('get', '-o'), { problems: [/-o: needs a value/] })
  t.match(read('got'), { kind: 'wrong', problems: [/got: unknown command; the nearest known one is get/] })
})

t.test('an unknown flag is named as it was typed, and never taken for --help', async (t) => {
  const unknown = (flag: string) => ({ kind: 'run', problems: [new RegExp(`^${flag}: unknown flag`)] })
  t.match(read('get', '-path=/x'), unknown('-path'))
  t.match(read('get', '-sh'), unknown('-sh'))
  t.match(read('get', '-v5'), unknown('-v5'))
  t.match(read('get', '-w=false'), { line: { options: { watch: 'false' } }, problems: [] })
  t.match(read('get', '-wh'), { kind: 'help', command: { name: 'get' } })
  t.match(read('versions', 'pods', '-w'), { problems: ['-w: only the commands get, rollout status take this flag'] })
})

t.test('a hint names what was meant, or there is none', async (t) => {
  const problem = (...args: string[]) => {
    const reading = read(...args)
    return 'problems' in reading ? reading.problems : []
  }
  t.same(problem('get', '--jsn'), ['--jsn: unknown flag; write -o json'])
  t.same(problem('get', '--yaml'), ['--yaml: unknown flag; write -o yaml'])
  t.same(problem('get', '--watc'), ['--watc: unknown flag; the nearest known one is --watch'])
  for (const flag of ['-A', '--all-namespaces']) t.match(problem('get', flag), [/: unknown flag; Nodes have no namespace, .* -n names/])
  t.same(problem('get', '--field-selector', 'x'), ['--field-selector: unknown flag'])
  t.same(problem('get', '-z'), ['-z: unknown flag'])
  t.same(problem('nope'), ['nope: unknown command'])
  t.same(problem('help', 'nope'), ['nope: unknown command'])
})

t.test('without a command, a flag is a problem only where no command takes it', async (t) => {
  t.match(read('-o', 'json'), { kind: 'wrong', problems: ['a command is missing'] })
  const swallows = read('--insecure-skip-tls-verify', 'get', 'n1')
  t.match(swallows, { kind: 'wrong', problems: [/^--insecure-skip-tls-verify: unknown flag/] })
})

t.test('an empty value is a problem, as of a variable that is not set', async (t) => {
  const empty = { problems: [/^--to: is empty: give a value, or leave it out$/] }
  t.match(read('undo', 'pods', '--to', ''), empty)
  t.match(read('undo', 'pods', '--to='), empty)
  for (const [name, ...args] of [
    ['--filename', 'apply', 'pods'],
    ['--base', 'apply', 'pods'],
    ['--record', 'rollout', 'init', 'pods'],
    ['--plan', 'rollout', 'init', 'pods'],
    ['--output', 'get'],
    ['--namespace', 'get'],
  ] as const)
    t.match(read(...args, `${name}=`), { problems: [`${name}: is empty: give a value, or leave it out`] })
  for (const name of ['--selector', '--context', '--kubeconfig'])
    t.match(read('get', `${name}=`), { problems: [] }, `${name} as in kubectl`)
})

t.test('help fits 80 columns, apart from command lines to copy', async (t) => {
  for (const command of [undefined, ...PLUGIN_PROGRAM.commands]) {
    const text = helpOn(PLUGIN_PROGRAM, command, 80)
    for (const line of text.split('\n')) t.ok(line.length <= 80 || line.startsWith('  kubectl '), line)
  }
})

t.test('help and version', async (t) => {
  t.match(read(), { kind: 'help', command: undefined, isAsked: false })
  t.match(read('--help'), { kind: 'help', command: undefined, isAsked: true })
  t.match(read('help', 'get'), { kind: 'help', command: { name: 'get' } })
  t.match(read('get', '-h'), { kind: 'help', command: { name: 'get' } })
  t.match(read('--version'), { kind: 'version' })
  t.matchSnapshot(helpOn(PLUGIN_PROGRAM, undefined, 80))
  for (const command of PLUGIN_PROGRAM.commands)
    t.match(helpOn(PLUGIN_PROGRAM, command, 80), /Examples:\n {2}kubectl kubelet-config /, command.name)
})

t.test('an option has one type in all commands, and no two have one letter', async (t) => {
  const all = [...GLOBAL_OPTIONS, ...PLUGIN_PROGRAM.commands.flatMap(({ options }) => options)]
  for (const option of all) {
    for (const other of all) {
      if (other.name !== option.name && other.short !== undefined) t.not(other.short, option.short)
      if (other.name !== option.name) continue
      t.equal(other.short, option.short, option.name)
      t.equal(other.kind.placeholder === undefined, option.kind.placeholder === undefined, option.name)
    }
  }
})

t.test('every example is a command line that it takes', async (t) => {
  for (const { examples } of PLUGIN_PROGRAM.commands) {
    for (const [example] of examples) t.match(read(...(example.split(' | ')[0] ?? '').split(' ')), { kind: 'run', problems: [] }, example)
  }
})

t.test('completion', async (t) => {
  const names = async (kind: string) => (kind === 'node' ? ['worker-1', 'worker-2'] : ['kubelet-config'])
  const suggest = (...args: string[]) => complete(args, PLUGIN_PROGRAM, names)
  t.equal(await suggest('upgrade-check', ''), ':4\n', 'a version has no names')
  t.equal(await suggest('ge'), 'get\n:4\n')
  t.equal(await suggest('get', 'wor'), 'worker-1\nworker-2\n:4\n')
  t.equal(await suggest('get', 'worker-1', ''), 'worker-2\n:4\n', 'not what stands there already')
  t.equal(await suggest('get', '-o', ''), 'table\nwide\nsum\njson\nyaml\n:4\n')
  t.equal(await suggest('upgrade-check', '-o', ''), 'table\njson\nyaml\n:4\n', 'not the values of another command')
  t.equal(await suggest('get', '--sel'), '--selector\n:4\n')
  t.equal(await suggest('--kubeconfig', ''), ':0\n', 'a file')
  t.equal(await suggest('nothing', 'x'), ':4\n')
  const globals: object[] = []
  await complete(['-n', 'configs', '--context=prod', 'get', ''], PLUGIN_PROGRAM, async (_, given) => {
    globals.push(given)
    return []
  })
  t.match(globals, [{ namespace: 'configs', context: 'prod' }])
})

t.test('the names under which it is the plugin', async (t) => {
  t.ok(isPluginStart('/usr/bin/kubectl-kubelet_config'))
  t.ok(isPluginStart('/usr/lib/kubelet-cfg-agent/kubectl-kubelet_config.mjs'))
  t.ok(isPluginStart('/x/kubectl_complete-kubelet_config') && isCompletion('/x/kubectl_complete-kubelet_config'))
  t.notOk(isPluginStart('/usr/lib/kubelet-cfg-agent/kubelet-cfg-agent.mjs') || isPluginStart(undefined))
})
