// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { COMMAND_ROWS } from '../../scripts/command-line-table.ts'
import { bashCompletion, fishCompletion, zshCompletion } from '../../scripts/package/completion.ts'

const exists = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0
const skipWithout = (shell: string) => ({ skip: exists(shell) ? (false as const) : `${shell} is not installed` })

const FILES = { bash: bashCompletion(), zsh: zshCompletion(), fish: fishCompletion() }

t.test('each has every command and every flag', async (t) => {
  for (const [shell, text] of Object.entries(FILES)) {
    for (const { name, flags } of COMMAND_ROWS) {
      t.match(text, new RegExp(`\\b${name}\\b`), `${shell}: ${name}`)
      for (const { flag } of flags) t.ok(text.includes(shell === 'fish' ? ` -l ${flag.slice(2)} ` : flag), `${shell}: ${flag} of ${name}`)
    }
  }
})

for (const shell of Object.keys(FILES) as (keyof typeof FILES)[]) {
  t.test(`${shell} accepts its file`, skipWithout(shell), async (t) => {
    const directory = t.testdir({ completion: FILES[shell] })
    const { status, stderr } = spawnSync(shell, ['-n', join(directory, 'completion')], { encoding: 'utf8' })
    t.same({ status, stderr }, { status: 0, stderr: '' })
  })
}

t.test('completes in bash', skipWithout('bash'), async (t) => {
  const directory = t.testdir({ completion: FILES.bash, here: { 'kubelet.conf': '', manifests: {} } })
  const complete = (...words: readonly string[]) => {
    const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kubelet_cfg_agent; printf "%s\\n" "\${COMPREPLY[@]}"`
    const args = ['--norc', '-c', script, 'bash', join(directory, 'completion'), 'kubelet-cfg-agent', ...words]
    const { stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8', cwd: join(directory, 'here') })
    t.equal(stderr, '')
    return stdout.split('\n').filter((line) => line !== '')
  }
  t.same(complete('st'), ['status'])
  t.same(complete(''), [...COMMAND_ROWS.map(({ name }) => name), 'help', '-h', '--help', '--version'])
  t.same(complete('run', '--trial'), ['--trial-duration'])
  t.same(complete('status', '--trial'), [], 'a flag of another command')
  t.same(complete('status', '-o', ''), ['table', 'json'])
  t.same(complete('status', '--output', 'j'), ['json'])
  t.same(complete('validate', '-o', ''), ['table', 'json', 'sarif'], 'the same flag, with more values')
  t.same(complete('validate', 'kube'), ['kubelet.conf'])
  t.same(complete('validate', '--str'), ['--strict'])
  t.same(complete('run', '--log-level', '=', 'w'), ['warn'], 'bash splits --log-level=w into three words')
  t.same(complete('run', '--log-level', '='), ['debug', 'info', 'warn', 'error'])
  t.same(complete('run', '--trial-duration', ''), [], 'a duration is not completed')
  t.same(complete('run', '--kubeconfig', 'kube'), ['kubelet.conf'])
  t.same(complete('run', '--manifest-dir', ''), ['manifests'])
  t.same(complete('help', 'ro'), ['rollout', 'rollback'])
})

t.test('completes in fish', skipWithout('fish'), async (t) => {
  const directory = t.testdir({ completion: FILES.fish })
  const complete = (line: string) => {
    const args = ['--no-config', '-c', `source ${join(directory, 'completion')}; complete -C ${JSON.stringify(line)}`]
    const { stdout } = spawnSync('fish', args, { encoding: 'utf8', env: { ...process.env, HOME: directory } })
    return stdout.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0]]))
  }
  t.same(complete('kubelet-cfg-agent st'), ['status'])
  t.same(complete('kubelet-cfg-agent status -o '), ['table', 'json'].sort())
  t.same(complete('kubelet-cfg-agent run --trial-d'), ['--trial-duration'])
})
