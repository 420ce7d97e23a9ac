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
  t.same(await run({ findUnfitStates: async () => ({ states: [CPU, MEMORY], kubeletPid: 0 }) }), {
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
  const { exit, out, err } = await run({ findUnfitStates: async () => ({ states: [CPU, MEMORY], kubeletPid: 0 }), setStateAside })
  t.equal(exit, 1)
  t.match(err, 'the CPU policy differs, and it cannot be set aside: EROFS')
  t.match(out, 'It is /there now')
})

t.test('a file that a running kubelet works with stays', async (t) => {
  const findUnfitStates = async () => ({ states: [CPU], kubeletPid: 77 })
  const setStateAside = () => {
    throw new Error('kubelet would write it anew, or give its CPUs out a second time')
  }
  t.same(await run({ findUnfitStates, setStateAside }), {
    exit: 1,
    out: '',
    err:
      'kubelet-cfg-agent set-aside: the CPU policy differs: kubelet would not start with it. It stays, since kubelet runs with it ' +
      '(process 77): drain the node, stop kubelet.service, and delete the file or run this again\n',
  })
  t.same(await run({ findUnfitStates: async () => ({ states: [], kubeletPid: 77 }) }), { exit: 0, out: '', err: '' })
})
