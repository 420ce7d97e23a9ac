// SPDX-License-Identifier: Apache-2.0
/**
 * The worked examples of CONTRIBUTING.md are changes that work: each applies to the source as it
 * is, takes as many files as its heading says, compiles, and does what it is an example of.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { LOADER } from '../typescript/loader.ts'
import { ROOT } from './pages.ts'

const PAGE = 'CONTRIBUTING.md'
/** The compiler of `npm run typecheck`. */
const COMPILER = 'node_modules/typescript-7/bin/tsc'
const RENEW =
  `make its change by hand in a clean work tree, and write into ${PAGE} what "git add -N . && git diff -U1" prints, ` +
  'without the lines that begin with "diff", "index" and "new file"'

interface Example {
  readonly title: string
  readonly files: number
  readonly patch: string
  readonly line: number
}

/** As in `### A phase, in 1 file`, followed by a block of `diff`. */
function listExamples(text: string): readonly Example[] {
  const found = text.matchAll(/^### (.+), in (\d+) files?\n(?:(?!#|```).*\n)*```diff\n([\s\S]*?\n)```$/gm)
  return [...found].map(({ 1: title = '', 2: files, 3: patch = '', index }) => {
    return { title, files: Number(files), patch, line: text.slice(0, index).split('\n').length }
  })
}

/** A program in a changed copy of the source, and what it prints. */
const PROOFS: Readonly<Record<string, readonly [program: string, prints: string]>> = {
  'A phase': [
    `import { PHASES } from './src/decision/phases.ts'
    import { wait } from './src/decision/wait.ts'
    const snapshot = { now: { monotonicUs: 0 }, policy: { toleranceUs: 60e6, startDeadlineUs: 60e6 }, troubles: [] }
    console.log(PHASES['disk-full'].reason, wait(snapshot, 'disk-full', '').untilUs)`,
    'Waiting 15000000',
  ],
  'A record': [
    `import { DurableFiles } from './src/checkpoint/files.ts'
    import { LastingFaults } from './src/checkpoint/lasting-faults.ts'
    import { layoutOf } from './src/checkpoint/layout.ts'
    import { NodeDisk } from './src/checkpoint/node-disk.ts'
    import { FileRecords } from './src/checkpoint/records.ts'
    const layout = layoutOf(process.cwd() + '/state')
    const files = new DurableFiles(new NodeDisk())
    const open = () => new FileRecords({ files, layout, faults: new LastingFaults(), onSetAside: ({ why }) => console.log(why) })
    open().put('installed', { kubelet: 'a', sinceMs: 1 })
    console.log(open().get('installed'))
    files.replace(layout.record('installed'), '{}')
    console.log(open().get('installed'))`,
    "{ kubelet: 'a', sinceMs: 1 }\nnot the expected JSON\nundefined",
  ],
  'A command of both programs': [
    `import { COMMANDS } from './src/command/agent/command-list.ts'
    import { agentProgram, prepareAgent } from './src/command/agent/program.ts'
    import { PLUGIN_PROGRAM, preparePlugin } from './src/command/plugin/program.ts'
    import { runProgram } from './src/command/run-program.ts'
    const build = { terminal: { out: (text) => console.log(text.split('\\n')[0].replace(/[.0-9]+/g, 'V')), width: 80 } }
    const agent = { ...build, prepare: (command, line) => prepareAgent(build, command, line) }
    const plugin = { ...build, prepare: (command, line) => preparePlugin(undefined, build, command, line) }
    for (const args of [['covers'], ['covers', '--help']]) {
      await runProgram(args, agentProgram(COMMANDS), agent)
      await runProgram(args, PLUGIN_PROGRAM, plugin)
    }`,
    'kubelet V to V\nkubelet V to V\nUsage: kubelet-cfg-agent covers [flags]\nUsage: kubectl kubelet-config covers [flags]',
  ],
  'A rule of a trial': [
    `import { failureError } from './src/decision/status-texts.ts'
    import { nextStep } from './src/decision/rules.ts'
    import { B, health, HOUR_US, inTrial, NOW_US } from '${join(ROOT, 'test/decision/snapshots.ts')}'
    const after = (hours) => nextStep(inTrial({ health: health(B, { subjectSinceUs: NOW_US - hours * HOUR_US }) }))
    const { kind, verdict } = after(25)
    console.log(after(23).kind, kind, verdict.reason, verdict.state)
    console.log(failureError(verdict, 'previous').split(';')[0])`,
    'wait condemn endless provisional\nfailed to run config: its trial did not come to an end',
  ],
  'A status channel': [
    `import { CHANNELS } from './src/report/channels.ts'
    import { DEFAULT_PUBLICATIONS } from './src/report/publications.ts'
    import { SETTINGS } from './src/settings/settings.ts'
    const { kind, help } = SETTINGS.publish
    console.log(kind.parse('active').ok, help.includes('active (kubelet-cfg-agent.io/active)'), DEFAULT_PUBLICATIONS.includes('active'))
    const annotations = { 'kubelet-cfg-agent.io/active': 'local' }
    console.log(CHANNELS.active.isShown({ metadata: { annotations } }), CHANNELS.active.isShown({}), CHANNELS.active.remove('n').byHand)`,
    'true true false\ntrue false kubectl annotate node n kubelet-cfg-agent.io/active-',
  ],
  'A kind of evidence': [
    `import { failureError } from './src/decision/status-texts.ts'
    import { askRuntime } from './src/evidence/ask-runtime.ts'
    import { CONTRACTS } from './src/evidence/kinds.ts'
    import { SETTINGS } from './src/settings/settings.ts'
    const pods = { sandboxes: [], containers: [{ state: 'running' }, { state: 'exited' }] }
    const { containers } = askRuntime({ listPods: async () => ({ ok: true, value: pods }) }, {})
    const { fold, judge } = CONTRACTS.containers
    const taken = fold(await containers({ runtimeSocket: '/s' }))
    console.log(taken.containers, judge({ process: { containers: 0 }, baseline: taken, isAtEnd: true }).answer)
    console.log(SETTINGS.evidence.kind.parse('containers=off').ok, failureError({ reason: 'evidence', evidence: 'containers' }, 'previous'))`,
    '1 no\ntrue failed to run config: no container ran (evidence containers); rolled back to previous, the last-known-good before the current one, see kubelet-cfg-agent log for details',
  ],
}

const examples = listExamples(readFileSync(join(ROOT, PAGE), 'utf8'))
/** Outside of any repository: there, Git applies no patch below the root of the work tree. */
const copy = mkdtempSync(join(tmpdir(), 'worked-examples-'))
t.teardown(() => rmSync(copy, { recursive: true }))
for (const path of ['src', 'deploy', 'package.json']) cpSync(join(ROOT, path), join(copy, path), { recursive: true })
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
writeFileSync(
  join(copy, 'tsconfig.json'),
  // Files that the example before has not touched are not checked again.
  JSON.stringify({
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: { incremental: true, tsBuildInfoFile: 'checked' },
    include: ['src'],
  }),
)

/** @returns what it printed, and that it failed */
function run(program: string, args: readonly string[], input?: string): string {
  const env = { PATH: process.env.PATH ?? '', NO_COLOR: '1', GIT_CEILING_DIRECTORIES: dirname(copy), GIT_CONFIG_GLOBAL: '/dev/null' }
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: copy, env, input, encoding: 'utf8', timeout: 120_000 })
  return `${stdout}${stderr}${status === 0 ? '' : `${program} exits with ${status}`}`.trim()
}

t.test('there is one of each', async (t) => {
  t.same(examples.map(({ title }) => title).sort(), Object.keys(PROOFS).sort())
})

for (const { title, files, patch, line } of examples) {
  t.test(title, async (t) => {
    const hint = { example: `${PAGE}:${line}`, renew: RENEW }
    const paths = patch.split('\n').flatMap((text) => /^(?:---|\+\+\+) [ab]\/(.+)$/.exec(text)?.[1] ?? [])
    t.equal(new Set(paths).size, files, 'as many files as its heading says', hint)
    if (!t.equal(run('git', ['apply', '-'], patch), '', 'applies', hint)) return
    t.equal(run(process.execPath, [COMPILER, '--singleThreaded', '-p', '.']), '', 'compiles', hint)
    const [program = '', prints] = PROOFS[title] ?? []
    t.equal(run(process.execPath, ['--import', LOADER, '--input-type=module', '--eval', program]), prints, 'does what it shows', hint)
    t.equal(run('git', ['apply', '--reverse', '-'], patch), '', 'is taken back')
  })
}
