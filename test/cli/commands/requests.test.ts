import t from 'tap'
import type { Command } from '../../../src/cli/command.ts'
import { pauseCommand } from '../../../src/cli/commands/pause.ts'
import { resetCommand } from '../../../src/cli/commands/reset.ts'
import { resumeCommand } from '../../../src/cli/commands/resume.ts'
import { retryCommand } from '../../../src/cli/commands/retry.ts'
import { rollbackCommand } from '../../../src/cli/commands/rollback.ts'
import type { Hold } from '../../../src/decision/records.ts'
import { following, held, snapshot, source, verdictOn } from '../../report/build.ts'
import { execute, type FakeNodeFields, fakeNode } from '../fake-node.ts'

async function ask(command: Command, fields: FakeNodeFields = {}) {
  const node = fakeNode(fields)
  const code = await execute(command, node)
  return { code, asked: node.asked, out: node.out(), err: node.err() }
}

t.test('holds', async (t) => {
  const cases: [Command, Hold, string[]][] = [
    [pauseCommand, 'none', ['hold paused']],
    [pauseCommand, 'paused', []],
    [pauseCommand, 'local', ['hold paused']],
    [resetCommand, 'none', ['hold local']],
    [resetCommand, 'local', []],
    [resetCommand, 'paused', ['hold local']],
    [resumeCommand, 'none', []],
    [resumeCommand, 'paused', ['no hold']],
    [resumeCommand, 'local', ['no hold']],
  ]
  for (const [command, hold, asked] of cases) {
    const result = await ask(command, { hold })
    t.same(result.asked, asked, `${command.name} while the hold is ${hold}`)
    t.equal(result.code, 0)
    t.matchSnapshot(result.out, `${command.name} while the hold is ${hold}`)
  }
})

t.test('every request says when it takes effect', async (t) => {
  const of = following(source())
  for (const command of [pauseCommand, resetCommand, rollbackCommand, retryCommand]) {
    t.match((await ask(command, { snapshot: of })).out, 'The running agent (pid 812) takes this up at once.', command.name)
    t.match((await ask(command, { snapshot: of, agent: { kind: 'absent' } })).out, 'applies when it starts next', command.name)
    const unknown = { kind: 'unknown', detail: 'the lock cannot be read' } as const
    t.match((await ask(command, { snapshot: of, agent: unknown })).out, 'cannot be told (the lock cannot be read)', command.name)
  }
})

t.test('rollback names the content that kubelet starts with next', async (t) => {
  const result = await ask(rollbackCommand, { snapshot: following(source('7')) })
  t.same(result, { code: 0, asked: ['roll back content-7'], out: result.out, err: '' })
  t.match(result.out, 'kube-system/my-node-config:kubelet@7')
  t.match((await ask(rollbackCommand, { snapshot: following(source()), hold: 'paused' })).out, 'This node is paused')
})

t.test('rollback refuses what it cannot name', async (t) => {
  const refusals = {
    'nothing to roll back': snapshot(),
    'cannot be told: kubelet.env is not ours': snapshot({ nextStart: { kind: 'unknown', detail: 'kubelet.env\nis not ours' } }),
    'missing or incomplete': following(source(), { nextStart: { kind: 'known', held: { ...held(source()), content: undefined } } }),
  }
  for (const [why, of] of Object.entries(refusals)) {
    const result = await ask(rollbackCommand, { snapshot: of })
    t.match(result, { code: 1, asked: [], out: '', err: why }, why)
  }
})

t.test('retry says which verdicts go', async (t) => {
  const verdicts = verdictOn('content-212', { detail: 'exit \u001b[31m255' })
  const result = await ask(retryCommand, { snapshot: following(source(), { verdicts }) })
  t.match(result, { code: 0, asked: ['retry'], out: 'confirmed verdict on kube-system/my-node-config:kubelet@212 (crash-loop' })
  t.notMatch(result.out, '\u001b', 'kubelet cannot colour our output')
  t.match(await ask(retryCommand), { asked: ['retry'], out: 'No verdict is recorded' }, 'the agent may hold some in memory')
  t.match((await ask(retryCommand, { hold: 'local' })).out, 'held on its local config: nothing is tried before')
})
