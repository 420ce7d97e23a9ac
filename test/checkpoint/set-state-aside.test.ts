// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { setStateAside } from '../../src/checkpoint/set-state-aside.ts'
import { FakeDisk } from './fake/fake-disk.ts'

t.test('the last three are kept', async (t) => {
  const files = new DurableFiles(new FakeDisk(() => 0))
  files.makeDirectory('/root')
  for (let count = 1; count <= 5; count++) {
    files.replace('/root/cpu_manager_state', `${count}`)
    t.equal(setStateAside(files, '/root/cpu_manager_state'), `/root/cpu_manager_state.set-aside-${count}`)
  }
  t.same(
    files.list('/root'),
    [3, 4, 5].map((number) => `cpu_manager_state.set-aside-${number}`),
  )
  t.equal(files.read('/root/cpu_manager_state.set-aside-5')?.toString(), '5')
})
