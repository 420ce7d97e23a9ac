// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { AgentPresence, CommandContext } from '../../../../src/command/agent/command.ts'
import { checkCommand } from '../../../../src/command/agent/commands/check.ts'
import type { AgentService } from '../../../../src/systemd/agent-service.ts'
import { snapshot, source } from '../../../report/build.ts'
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

t.test('an agent that does not run fails where systemd is to run it, and only there', async (t) => {
  const check = async (service: AgentService, agent: AgentPresence = { kind: 'absent' }) => {
    const node = fakeNode({ agent, context: { ...ANSWERS, service: async () => service } })
    const code = await execute(checkCommand, node)
    return { code, line: node.out().split('\n')[0] }
  }
  const state = (enabled: string, summary: string, phase: 'active' | 'starting' | 'down' = 'down'): AgentService => ({
    kind: 'known',
    enabled,
    phase,
    summary,
  })
  const stopped = await check(state('enabled', 'inactive (dead)'))
  t.match(stopped, {
    code: 1,
    line: /^fail +agent +is not running: kubelet-cfg-agent.service is enabled and inactive \(dead\); .*systemctl start/,
  })
  t.match(await check(state('enabled-runtime', 'failed (exit-code)')), { code: 1, line: /enabled-runtime and failed \(exit-code\)/ })
  const unlocked: AgentPresence = { kind: 'unknown', detail: 'EACCES' }
  t.match(await check(state('enabled', 'inactive (dead)'), unlocked), { code: 1, line: /^fail +agent +is not running/ })

  t.match(await check(state('disabled', 'inactive (dead)')), { code: 0, line: /^warn +agent +is not running: systemctl enable --now/ })
  t.match(await check(state('masked', 'inactive (dead)')), { code: 0, line: /^warn +agent +.*is masked/ })
  t.match(await check(state('enabled', 'activating (start)', 'starting')), { code: 0, line: /^warn +agent +is starting/ })
  const lost: AgentPresence = { kind: 'running', pid: 5, isWithoutDirectory: true }
  t.match(await check({ kind: 'absent' }, lost), { code: 1, line: /^fail +agent +is running, and its directory was removed/ })
  t.match(await check({ kind: 'absent' }), { code: 0, line: /^warn +agent +is not running: systemd does not know/ })
  t.match(await check({ kind: 'unknown', detail: 'no bus' }), { code: 0, line: /^warn +agent +is not running; .*no bus/ })
  const elsewhere = await check(state('enabled', 'active (running)', 'active'))
  t.match(elsewhere, { code: 0, line: /^warn +agent +does not use \/var\/lib\/kubelet-cfg-agent, .*active \(running\)/ })
  t.match(await check(state('enabled', 'active (running)', 'active'), unlocked), {
    code: 0,
    line: /^warn +agent +cannot tell whether it is running: EACCES/,
  })
  t.match(await check({ kind: 'unknown', detail: 'no bus' }, unlocked), { code: 0, line: /^warn +agent +cannot tell .*EACCES/ })
})

t.test('systemd is not asked about an agent that runs', async (t) => {
  const service = () => Promise.reject(new Error('systemd was asked'))
  t.equal(await execute(checkCommand, fakeNode({ context: { ...ANSWERS, service } })), 0)
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
