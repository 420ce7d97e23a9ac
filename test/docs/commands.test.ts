// SPDX-License-Identifier: Apache-2.0
/**
 * Commands, patches and YAML of the documents are such as the program, npm and kubectl take, and
 * the examples print what the documents say.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findWrongBlocks } from './blocks.ts'
import { FOREIGN_FLAGS, findUnknownVariables, findWrongCommands } from './commands.ts'
import { parsePage } from './markdown.ts'
import { ROOT, readPages } from './pages.ts'
import { OWN_FLAGS } from './program.ts'
import { listExamples, runExamples } from './runnable.ts'
import { splitCommands } from './shell.ts'

const pages = readPages()
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
const npmScripts = Object.keys(scripts)

t.test('every command is one that the program, npm or kubectl takes', async (t) => {
  t.same(await findWrongCommands(pages, npmScripts), [])
})

t.test('every variable is that of a setting', async (t) => {
  t.same(findUnknownVariables(pages), [])
})

t.test('every block says what it holds, and holds that', async (t) => {
  t.same(await findWrongBlocks(pages), [])
})

t.test('FOREIGN_FLAGS lists no flag of the program, and none that no page mentions', async (t) => {
  const mentioned = new Set(pages.flatMap(({ inlineCode }) => inlineCode.map(({ text }) => text.replace(/[= ].*$/, ''))))
  t.same(
    FOREIGN_FLAGS.filter((flag) => OWN_FLAGS.has(flag) || !mentioned.has(flag)),
    [],
  )
})

t.test('every example runs, and prints what the page shows', async (t) => {
  t.ok(pages.flatMap(listExamples).length >= 3)
  for (const page of pages) t.same(runExamples(page), [], page.path)
})

const page = (text: string) => [parsePage('x.md', text)]
const block = (info: string, text: string) => page(`\`\`\`${info}\n${text}\n\`\`\``)

t.test('a line of the shell', async (t) => {
  t.same(splitCommands(`kubectl patch node N -p '{"a": "b c"}' && npm ci; x | jq -r '.a' > f # what it does`), [
    ['kubectl', 'patch', 'node', 'N', '-p', '{"a": "b c"}'],
    ['npm', 'ci'],
    ['x'],
    ['jq', '-r', '.a'],
    ['f'],
  ])
})

t.test('a broken command is found', async (t) => {
  const problems = (text: string) => findWrongCommands(page(text), ['test', 'sim'])
  const sh = (text: string) => findWrongCommands(block('sh', text), ['test', 'sim'])
  t.same(await sh('kubelet-cfg-agent status -o json | jq .a\nnpm ci && npm test\nnpm run sim -- --seed 4'), [])
  t.same(await sh('kubelet-cfg-agent run --trial-duration 30m \\\n  --spread 10m'), [])
  t.match(await sh('kubelet-cfg-agent stats'), [/^x\.md:2: kubelet-cfg-agent stats: /])
  t.match(await sh('ls\nkubelet-cfg-agent run --trail-duration 30m'), [/^x\.md:3: [\s\S]*--trial-duration/])
  t.match(await sh('kubelet-cfg-agent run --trial-duration soon'), [/--trial-duration/])
  t.match(await sh('kubelet-cfg-agent status --spread 5m'), [/--spread/])
  t.match(await sh('kubelet-cfg-agent validate'), [/validate/])
  t.match(await findWrongCommands(block('console', 'Node worker-1\n$ kubelet-cfg-agent stats'), []), [/^x\.md:3: /])
  t.same(await findWrongCommands(block('text', 'kubelet-cfg-agent stats'), []), [], 'output is no command')
  t.same(await problems('run `kubelet-cfg-agent validate`, `--spread`, `npm run sim` or `npm ci`'), [])
  t.same(await sh('kubectl kubelet-config get -l role=worker -o wide'), [])
  t.match(await sh('kubectl kubelet-config get --selektor x'), [/--selector/])
  t.match(await problems('run `kubectl kubelet-config gett`'), [/nearest known one is get/])
  t.match(await problems('run `kubelet-cfg-agent validate --strcit`'), [/--strict/])
  t.match(await problems('the flag `--sprad`'), [/no command has this flag/])
  t.match(await problems('`npm run simulate`'), [/no such script/])
  t.match(await problems('`npm run ci`'), [/no such script/])
  t.same(await sh(`kubectl patch node N -p '{"spec":{"configSource":null}}'`), [])
  t.match(await sh(`kubectl patch node N -p '{"spec":{"configSource":null}'`), [/not a JSON object/])
  t.match(await sh(`kubectl patch node N --patch '{"a":...}'`), [/not a JSON object/])
})

t.test('a broken variable is found', async (t) => {
  t.same(findUnknownVariables(page('`KUBELET_CFG_AGENT_TRIAL_DURATION=30m`')), [])
  t.same(findUnknownVariables(page('`KUBELET_CFG_AGENT_TRIAL`')), ['x.md:1: KUBELET_CFG_AGENT_TRIAL: no setting has this variable'])
})

t.test('a broken block is found', async (t) => {
  const problems = (info: string, text: string) => findWrongBlocks(block(info, text))
  t.match(await problems('', 'ls'), [/^x\.md:1: "" is not one of/])
  t.match(await problems('bash', 'ls'), [/"bash" is not one of/])
  t.match(await problems('yaml', 'a: 1'), [/says what it holds/])
  t.match(await problems('yaml manifest', 'a: [1'), [/not YAML/])
  t.match(await problems('yaml manifest', 'kind: Node'), [/no apiVersion/])
  t.same(await problems('yaml manifest', 'apiVersion: v1\nkind: Node'), [])
  t.match(await problems('yaml file=a.yaml', 'maxPods: 1'), [/no apiVersion/])
  t.same(await problems('yaml settings', 'apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: AgentConfiguration\ntrialDuration: 30m'), [])
  t.same(await problems('yaml settings', "requireDrain: ['class:drain', maxPods]"), [])
  t.match(await problems('yaml settings', 'trialDuraton: 30m'), [/trialDuration/])
  t.match(await problems('yaml settings', 'trialDuration: soon'), [/trialDuration/])
  t.same(await problems('yaml overlay', 'maxPods: 62\nfeatureGates:\n  CSIMigration: null'), [])
  t.match(await problems('yaml overlay', 'maxPod: 62'), [/no field maxPod/])
  t.match(await problems('yaml overlay', 'maxPods: 1\nmaxPods: 2'), [/not an overlay/])
  t.match(await problems('json', '{"a": }'), [/not a JSON object/])
  t.match(await problems('mermaid', 'flow LR'), [/does not begin like a diagram/])
})

t.test('an example that is not so is found', async (t) => {
  const text = (shown: string, info = 'sh run') =>
    `\`\`\`yaml file=a.yaml\napiVersion: v1\nkind: X\n\`\`\`\n\`\`\`${info}\nkubelet-cfg-agent --version\n\`\`\`\n\`\`\`text output\n${shown}\n\`\`\`\n`
  const run = (shown: string, info?: string) => runExamples(parsePage('x.md', text(shown, info)))
  t.same(run('kubelet-cfg-agent 0.0.0-dev'), [])
  t.match(run('kubelet-cfg-agent 0.0'), [/^x\.md:5: kubelet-cfg-agent --version: it prints/])
  t.match(run('kubelet-cfg-agent 0.0.0-dev', 'sh run exits=1'), [/exits with 0, not 1/])
  t.match(runExamples(parsePage('x.md', '```sh run\nls\n```')), [/only kubelet-cfg-agent is run here/])
  t.match(runExamples(parsePage('x.md', '```sh run\nkubelet-cfg-agent validate none.yaml\n```')), [/exits with 2, not 0/])
})
