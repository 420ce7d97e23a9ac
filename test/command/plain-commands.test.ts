// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { COMMANDS } from '../../src/command/agent/command-list.ts'
import { Failure } from '../../src/command/command.ts'
import { PLAIN_COMMANDS } from '../../src/command/plain-commands.ts'
import { PLUGIN_PROGRAM, preparePlugin } from '../../src/command/plugin/program.ts'
import { runProgram } from '../../src/command/run-program.ts'

/** Runs the plugin where no cluster can be had. */
async function run(...args: readonly string[]) {
  const written = { out: '', err: '' }
  const terminal = {
    out: (text: string) => {
      written.out += text
    },
    err: (text: string) => {
      written.err += text
    },
    color: false,
    width: 80,
  }
  const build = { terminal, version: '1.2.3', platform: 'node 24.0.0, linux/x64' }
  const open = () => {
    throw new Failure('there is no kubeconfig')
  }
  const code = await runProgram(args, PLUGIN_PROGRAM, { ...build, prepare: (command, line) => preparePlugin(open, build, command, line) })
  return { code, ...written }
}

t.test('both programs have them', async (t) => {
  t.ok(PLAIN_COMMANDS.length > 0)
  for (const command of PLAIN_COMMANDS)
    for (const { commands } of [{ commands: COMMANDS }, PLUGIN_PROGRAM]) t.ok(commands.includes(command))
})

t.test('the plugin runs them without a cluster, and they take none of its flags', async (t) => {
  t.same(await run('version'), { code: 0, out: 'kubectl kubelet-config 1.2.3 (node 24.0.0, linux/x64)\n', err: '' })
  t.match(await run('get'), { code: 1, err: 'kubectl kubelet-config get: there is no kubeconfig\n' })
  t.match(await run('version', '--context', 'prod'), { code: 2, err: /--context: only the commands get, .* take this flag/ })
})
