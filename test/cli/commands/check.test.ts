import t from 'tap'
import { checkCommand } from '../../../src/cli/commands/check.ts'
import { snapshot } from '../../report/build.ts'
import { execute, fakeNode } from '../fake-node.ts'

t.test('prints findings, and fails if a check fails', async (t) => {
  const fine = fakeNode()
  t.equal(await execute(checkCommand, fine), 0)
  t.match(fine.out(), /^ok +unit +kubelet.service is running/)
  const bad = fakeNode({ snapshot: snapshot({ unit: { kind: 'unknown', detail: 'x' } }) })
  t.equal(await execute(checkCommand, bad, { output: 'json' }), 1, 'a check failed')
  t.match(JSON.parse(bad.out()), { kind: 'SelfCheck', findings: [{ topic: 'unit', level: 'fail' }] })
})

t.test('checks the settings alone, as the unit does before a reload', async (t) => {
  const unread = fakeNode({ context: { observe: () => Promise.reject(new Error('the node was asked')) } })
  t.equal(await execute(checkCommand, unread, { settings: 'true' }), 0)
  t.equal(unread.out(), 'ok  settings  valid\n')
})
