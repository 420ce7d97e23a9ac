// SPDX-License-Identifier: Apache-2.0
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { type Act, actsOf, listActs, readCast } from '../../scripts/pictures/cast.ts'
import { CAST } from '../../scripts/pictures/pictures.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Not a fixture directory: the agent requires a plain path, and that of this repository may not be
 * one.
 */
function makeDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'demo-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const built = makeDirectory(t)
const program = join(built, 'kubelet-cfg-agent.mjs')
const build = spawnSync(process.execPath, ['scripts/build.mjs', 'src/main.ts', built], { cwd: ROOT, env: {}, encoding: 'utf8' })
t.equal(build.status, 0, build.stderr)

/**
 * Plays the demo in an environment of its own, with patience for a busy machine, and interrupts it
 * when its output says so.
 */
function play(t: Test, args: readonly string[], isTimeToStop: (text: string) => boolean = () => false) {
  const directory = makeDirectory(t)
  const env = { PATH: process.env.PATH, TMPDIR: directory }
  const child = spawn(process.execPath, ['--import', 'tsx', 'demo/main.ts', '--patient', ...args], { cwd: ROOT, env })
  let text = ''
  let isStopped = false
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (!isStopped && isTimeToStop(text)) isStopped = child.kill('SIGINT')
    })
  }
  return new Promise<{ code: number | null; text: string; left: string[] }>((resolve) => {
    child.once('close', (code) => resolve({ code, text, left: readdirSync(directory).filter((name) => name.startsWith('kubelet-demo-')) }))
  })
}

t.test('all acts succeed', async (t) => {
  const { code, text, left } = await play(t, ['--agent', program])
  t.equal(code, 0, text)
  t.strictSame(left, [], 'nothing is left behind')
  const story = [
    /agent +settled: local/,
    /^1\. /m,
    /you +kubectl patch node worker-1/,
    /agent +activated node-config@\d+/,
    /kubelet +Starting kubelet with --config=state\/checkpoints\/\w+\/\d+\/kubelet/,
    /agent +updated last-known-good config to node-config@/,
    /^2\. /m,
    /agent +updated last-known-good config to node-config@/,
    /^3\. /m,
    /error: failed to load config, see Kubelet log for details/,
    /kubelet +is still process \d+, with maxPods 50/,
    /\d+\/kubelet +{0xdeadbeef}/,
    /^4\. /m,
    /agent +failed to validate config: .*cgroupRoot names a cgroup that does not exist/,
    /error: failed to validate config, see Kubelet log for details/,
    /kubelet +is still process \d+, with maxPods 50/,
    /^5\. /m,
    /kubelet +failed to run Kubelet: context deadline exceeded/,
    /agent +config failed, rolling back from risky-config@\d+ to node-config@\d+: kubelet exited 3 times/,
    /error: failed to run config: kubelet crash-looped; rolled back to last-known-good/,
    /agent +verdict confirmed/,
    /^6\. /m,
    /api +stops/,
    /kubelet +is still process \d+, with maxPods 50/,
    /agent +updated last-known-good config to risky-config@/,
    /^7\. /m,
    /status +status.config is {}/,
    /^8\. /m,
    /kubelet +runs fleet-config, with maxPods 60, on each of the five nodes/,
    /^9\. /m,
    /record +rollout 1 begins/,
    /record +node-\d starts it, and says so first/,
    /kubelet +node-\d: failed to run Kubelet/,
    /record +node-\d says that it failed: crash-loop/,
    /event +RolloutHalted: rollout 1 is halted: it failed on node-\d/,
    /on node-\d is back to maxPods 60; on the other four it was not even restarted/,
    /Stage +0 of 3, halted/,
    /This node +halted: it failed on node-\d/,
    /^10\. /m,
    /record +rollout 2 begins/,
    /record +stage 1 opens: one more node may start it/,
    /record +stage 2 opens: 50 % of the nodes may start it/,
    /kubelet +runs fleet-config, with maxPods 70, on each of the five nodes/,
    /^All acts succeeded in \d+ s/m,
  ]
  let rest = text
  for (const beat of story) {
    const found = beat.exec(rest)
    t.ok(found, `the story has ${beat}`)
    rest = rest.slice((found?.index ?? 0) + (found?.[0].length ?? 0))
  }
  const titlesOf = (acts: readonly Act[]) => acts.map(({ title }) => title)
  const kept = actsOf(readCast(readFileSync(join(ROOT, CAST), 'utf8')))
  t.strictSame(
    titlesOf(kept),
    titlesOf(listActs(text.split('\n'))),
    'the recording in the documentation has these acts: npm run pictures -- --record',
  )
  // The status and the event of one rejection are two requests: either may come first.
  t.match(text, /KubeletConfigRejected: .*starts with { but is not valid JSON/)
  t.match(text, 'KubeletConfigRolledBack')
  t.notMatch(
    text,
    /cannot (be )?(read|tell|told|serve|served|determine|inspect|notify|create)\b|not a function|undefined/,
    'the self-check of the agent finds no problem',
  )
  t.notMatch(text, '\u001b', 'no colours if stdout is not a terminal')
})

t.test('an interrupted demo leaves nothing behind', async (t) => {
  const { code, text, left } = await play(t, ['--keep', '--agent', program], (said) => said.includes('settled: local'))
  t.equal(code, 130, text)
  t.match(text, 'its processes and its directory are removed')
  t.strictSame(left, [])
})

t.test('the commands that it prints find the agent and the plugin', async (t) => {
  const ran: Record<string, string> = {}
  const { code, text } = await play(t, ['--keep', '--agent', program], (said) => {
    if (!/^ {2}find .*$/m.test(said)) return false
    const [, assignments = ''] = said.match(/^ {2}export (KUBECONFIG=.*)$/m) ?? []
    for (const command of ['kubectl-kubelet_config get', 'kubelet-cfg-agent status', "kubectl_complete-kubelet_config why ''"]) {
      const { stdout, stderr } = spawnSync('sh', ['-c', `export ${assignments}; ${command}`], { encoding: 'utf8' })
      ran[command] = stdout + stderr
    }
    return true
  })
  t.equal(code, 0, text)
  t.match(ran, {
    'kubectl-kubelet_config get': /^worker-1 +node-config +\d+ +Promoted /m,
    'kubelet-cfg-agent status': /^State +settled: /m,
    "kubectl_complete-kubelet_config why ''": /^worker-1$/m,
  })
})

t.test('a failed act says why', async (t) => {
  const broken = join(makeDirectory(t), 'agent.mjs')
  writeFileSync(broken, "console.error('no such thing as an agent')\nprocess.exit(3)\n")
  const { code, text, left } = await play(t, ['--agent', broken])
  t.equal(code, 1)
  t.match(text, 'The demo failed: the agent ended (exit code 3) while the demo waited until the agent has checked itself')
  const [line = '', path = ''] = /^The demo failed: .*; the logs of its agents are in (.*)$/m.exec(text) ?? []
  t.ok(text.trimEnd().endsWith(line), 'one line, which is the last')
  t.match(readFileSync(path, 'utf8'), 'no such thing as an agent', 'they have the words of the agent')
  t.strictSame(left, [])
})
