import t from 'tap'
import type { CommandContext } from '../../../src/cli/command.ts'
import { checkCommand } from '../../../src/cli/commands/check.ts'
import { snapshot, source } from '../../report/build.ts'
import { execute, fakeNode } from '../fake-node.ts'

const ANSWERS: Partial<CommandContext> = {
  api: { request: async () => ({ kind: 'ok', object: { status: { allowed: true } } }) },
  fetchDesired: async () => ({ kind: 'local' }),
}

t.test('fails where the API server refuses, or the sandbox of the agent', async (t) => {
  const refused = { kind: 'refused', status: 401, reason: 'Unauthorized', detail: '401: Unauthorized', retryAfterMs: undefined } as const
  const stranger = fakeNode({ context: { api: { request: async () => refused } } })
  t.equal(await execute(checkCommand, stranger), 1)
  const forbidden = { kind: 'unavailable', reason: 'forbidden', detail: '403: no' } as const
  const fetchDesired = async () => ({ kind: 'config-map', ref: source(), object: forbidden }) as const
  t.equal(await execute(checkCommand, fakeNode({ context: { ...ANSWERS, fetchDesired } })), 1)
  const rights: CommandContext['rights'] = (needs) => needs.map((need) => ({ ...need, state: 'refused', detail: 'read-only file system' }))
  t.equal(await execute(checkCommand, fakeNode({ context: { ...ANSWERS, rights } })), 1)
})

t.test('says that no agent runs, which is no failure before its first start', async (t) => {
  const node = fakeNode({ agent: { kind: 'absent' }, context: ANSWERS })
  t.equal(await execute(checkCommand, node), 0)
  t.match(node.out(), /^warn +agent +is not running/)
})

t.test('prints findings, and fails if a check fails', async (t) => {
  const fine = fakeNode({ context: ANSWERS })
  t.equal(await execute(checkCommand, fine), 0)
  t.match(fine.out(), /^ok +agent +is running \(pid 812\)\nok +unit +kubelet.service is running/)
  t.match(fine.out(), /^ok +assignment +nothing is assigned$/m)
  const bad = fakeNode({ snapshot: snapshot({ unit: { kind: 'unknown', detail: 'x' } }) })
  t.equal(await execute(checkCommand, bad, { output: 'json' }), 1, 'a check failed')
  t.match(JSON.parse(bad.out()), { kind: 'SelfCheck', findings: [{ topic: 'agent' }, { topic: 'unit', level: 'fail' }] })
})

t.test('checks the settings alone, as the unit does before a reload', async (t) => {
  const unread = fakeNode({ context: { observe: () => Promise.reject(new Error('the node was asked')) } })
  t.equal(await execute(checkCommand, unread, { settings: 'true' }), 0)
  t.equal(unread.out(), 'ok  settings  valid\n')
})
