// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { CommandContext } from '../../../../src/command/agent/command.ts'
import { setAsideCommand } from '../../../../src/command/agent/commands/set-aside.ts'
import { fakeNode } from '../fake-node.ts'

const CPU = { name: 'cpu_manager_state', file: '/k/cpu_manager_state', why: 'the CPU policy differs' } as const
const MEMORY = { name: 'memory_manager_state', file: '/k/memory_manager_state', why: 'the memory policy differs' } as const

async function run(context: Partial<CommandContext>) {
  const node = fakeNode({ context })
  const exit = await setAsideCommand.execute(node.context, { args: [], options: {}, shared: {} })
  return { exit, out: node.out(), err: node.err() }
}

t.test('nothing is said of files that fit', async (t) => {
  t.same(await run({}), { exit: 0, out: '', err: '' })
})

t.test('the journal of kubelet says what was set aside, and why', async (t) => {
  t.same(await run({ findUnfitStates: async () => [CPU, MEMORY] }), {
    exit: 0,
    out: [CPU, MEMORY].map(({ file, why }) => `${why}: kubelet would not start with it. It is ${file}.set-aside-1 now\n`).join(''),
    err: '',
  })
})

t.test('one that cannot be renamed is no reason to leave the other', async (t) => {
  const setStateAside = ({ file }: { readonly file: string }) => {
    if (file === CPU.file) throw new Error('EROFS')
    return '/there'
  }
  const { exit, out, err } = await run({ findUnfitStates: async () => [CPU, MEMORY], setStateAside })
  t.equal(exit, 1)
  t.match(err, 'the CPU policy differs, and it cannot be set aside: EROFS')
  t.match(out, 'It is /there now')
})
