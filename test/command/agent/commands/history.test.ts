// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { historyCommand } from '../../../../src/command/agent/commands/history.ts'
import { source, transition } from '../../../report/build.ts'
import { execute, fakeNode } from '../fake-node.ts'

const transitions = [
  transition({ atNs: '1700000000000000001', kind: 'assigned', why: 'the Node names it' }),
  transition({ atNs: '1700000001000000000', kind: 'restarting', why: 'kubelet runs another config' }),
  transition({ atNs: '1700000061500000000', kind: 'rolled-back', from: source(), to: 'local', why: 'exited 3 times:\n\u001b[31mpanic' }),
  transition({ atNs: '1700000062000000000', kind: 'set-aside', from: undefined, to: undefined, why: 'meta/previous is not YAML' }),
]

async function history(options: Readonly<Record<string, string>>, skipped = 0) {
  const node = fakeNode({ history: { transitions, skipped } })
  const code = await execute(historyCommand, node, options)
  return { code, out: node.out(), err: node.err() }
}

t.test('prints a table for people', async (t) => {
  const { code, out, err } = await history({})
  t.equal(code, 0)
  t.equal(err, '')
  t.matchSnapshot(out)
})

t.test('prints JSON for programs', async (t) => {
  t.matchSnapshot((await history({ output: 'json', limit: '2' })).out)
})

t.test('the limit keeps the latest', async (t) => {
  const { out } = await history({ limit: '1' })
  t.equal(out.trim().split('\n').length, 2, 'a header and one line')
  t.match(out, 'set-aside')
})

t.test('reports lines that cannot be read', async (t) => {
  t.match((await history({}, 3)).err, '3 lines of the history cannot be read and are left out')
  t.match((await history({}, 1)).err, '1 line of the history cannot be read and is left out')
})

t.test('an empty history', async (t) => {
  const node = fakeNode()
  await execute(historyCommand, node)
  t.equal(node.out(), 'No transitions yet.\n')
})
