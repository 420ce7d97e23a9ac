// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { AgentCommand, CommandContext } from '../../../../src/command/agent/command.ts'
import {
  pauseCommand,
  promoteCommand,
  resetCommand,
  resumeCommand,
  retryCommand,
  rollbackCommand,
} from '../../../../src/command/agent/commands/requests.ts'
import type { Consent } from '../../../../src/command/consent.ts'
import type { Hold } from '../../../../src/decision/records.ts'
import type { Snapshot } from '../../../../src/decision/snapshot.ts'
import { recordFacts } from '../../../../src/evidence/record.ts'
import { LOCAL } from '../../../../src/subject/config-source.ts'
import { serving } from '../../../evidence/samples.ts'
import { following, held, snapshot, source, verdictOn } from '../../../report/build.ts'
import { execute, type FakeNodeFields, fakeNode } from '../fake-node.ts'

async function request(command: AgentCommand, fields: FakeNodeFields = {}) {
  const node = fakeNode(fields)
  const code = await execute(command, node)
  return { code, actions: node.actions, out: node.out(), err: node.err() }
}

t.test('pause, reset and resume', async (t) => {
  const cases: [AgentCommand, Hold, string[]][] = [
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
  for (const [command, hold, actions] of cases) {
    const result = await request(command, { hold })
    t.same(result.actions, actions, `${command.name} while the hold is ${hold}`)
    t.equal(result.code, 0)
    t.matchSnapshot(result.out, `${command.name} while the hold is ${hold}`)
  }
})

t.test('reset asks for --force where kubelet refuses its local config', async (t) => {
  const path = '/var/lib/kubelet/config.yaml'
  const found = (text: string) => ({ readLocalConfig: async () => ({ kind: 'found', path, text }) as const })
  const bad = found('apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: many\n')
  const of = following(source())
  const reset = async (context: Partial<CommandContext>, given: Record<string, string> = {}, fields: FakeNodeFields = {}) => {
    const node = fakeNode({ snapshot: of, ...fields, context })
    const code = await execute(resetCommand, node, given)
    return { code, actions: node.actions, err: node.err() }
  }
  t.match(await reset(bad), { code: 1, actions: [], err: /refuses its local config.*maxPods.*.*reset --force/ })
  t.match(await reset(bad, { force: 'true' }), { code: 0, actions: ['hold local by force'] })
  t.match(await reset(bad, { force: 'true' }, { hold: 'local' }), { code: 0, actions: ['hold local by force'] }, 'a reset that is refused')
  const missing = { readLocalConfig: async () => ({ kind: 'unusable', detail: `${path} does not exist`, why: 'missing' }) as const }
  t.match(await reset(missing), { code: 1, actions: [], err: /does not exist/ })
  const none = { readLocalConfig: async () => ({ kind: 'unusable', detail: 'no --config', why: 'none' }) as const }
  t.match(await reset(none), { code: 0, actions: ['hold local'] }, 'kubelet takes its defaults')
  const unread = { readLocalConfig: async () => ({ kind: 'unusable', detail: 'EIO' }) as const }
  t.match(await reset(unread), { code: 0, actions: ['hold local'] }, 'the agent asks again')
  t.match(await reset(bad, {}, { snapshot: snapshot() }), { code: 0, actions: ['hold local'] }, 'it runs already')
})

t.test('every request reports when it takes effect', async (t) => {
  const of = following(source())
  for (const command of [pauseCommand, resetCommand, rollbackCommand, retryCommand]) {
    t.match((await request(command, { snapshot: of })).out, 'The running agent (pid 812) applies this at once.', command.name)
    t.match((await request(command, { snapshot: of, agent: { kind: 'absent' } })).out, 'applies when the agent starts', command.name)
    const unknown = { kind: 'unknown', detail: 'the lock cannot be read' } as const
    t.match(
      (await request(command, { snapshot: of, agent: unknown })).out,
      'Cannot tell whether an agent is running (the lock cannot be read)',
      command.name,
    )
  }
})

t.test('rollback names the content that kubelet starts with next', async (t) => {
  const result = await request(rollbackCommand, { snapshot: following(source('7')) })
  t.same(result, { code: 0, actions: ['roll back content-7'], out: result.out, err: '' })
  t.match(result.out, 'kube-system/my-node-config:kubelet@7')
  t.match((await request(rollbackCommand, { snapshot: following(source()), hold: 'paused' })).out, 'This node is paused')
})

t.test('rollback says what kubelet returns to', async (t) => {
  const of = (lastKnownGood: Snapshot['lastKnownGood']) => request(rollbackCommand, { snapshot: following(source('7'), { lastKnownGood }) })
  t.match((await of(held(source('6')))).out, 'kubelet returns to kube-system/my-node-config:kubelet@6.')
  t.match((await of(LOCAL)).out, 'kubelet returns to local.')
})

t.test('rollback asks where it halts the rollout of the fleet', async (t) => {
  const config = 'kube-system/my-node-config'
  const [hash, content] = ['a'.repeat(64), 'content-7']
  const stagings: Snapshot['stagings'] = [{ config, record: 'r', arrival: 'there', contents: [{ hash, content }] }]
  const progress = {
    ...{ generation: 1, stage: 1, lastStage: 5, openPercent: 0, proofs: 1, needed: 5, claimed: [], silent: [], vetoes: [] },
    halted: false,
  }
  const turn = { kind: 'go', detail: '' } as const
  const knowing = (finished: boolean): Snapshot['rollout'] => ({
    config,
    hash,
    turn,
    confirmedAtUs: undefined,
    progress: { ...progress, finished },
  })
  const roll = async (rollout: Snapshot['rollout'], answer: Consent, options: Readonly<Record<string, string>> = {}) => {
    const asked: string[] = []
    const ask = async (question: string) => {
      asked.push(question)
      return answer
    }
    const node = fakeNode({ snapshot: following(source('7'), { stagings, rollout, lastKnownGood: held(source('6')) }), context: { ask } })
    const code = await execute(rollbackCommand, node, options)
    return { code, asked: asked.length, actions: node.actions, err: node.err() }
  }
  const actions = ['roll back content-7']
  const effect = /@7 is in a rollout .* halts the rollout for all nodes.* kubelet returns to kube-system\/my-node-config:kubelet@6\./
  t.match(await roll(knowing(false), 'yes'), { code: 0, asked: 1, actions, err: effect })
  t.match(await roll(knowing(false), 'no'), { code: 1, asked: 1, actions: [], err: /nothing was changed\n$/ })
  t.match(await roll(knowing(false), 'nobody'), { code: 1, actions: [], err: /give --yes/ })
  t.match(await roll(knowing(false), 'no', { yes: 'true' }), { code: 0, asked: 0, actions, err: effect })
  t.match(await roll(undefined, 'no'), { code: 1, asked: 1, actions: [] }, 'not known to be finished')
  t.match(await roll(knowing(true), 'no'), { code: 0, asked: 0, actions, err: '' }, 'nobody else is affected')
})

t.test('rollback asks where kubelet refuses the local config that is left', async (t) => {
  const path = '/var/lib/kubelet/config.yaml'
  const roll = async (
    maxPods: string,
    options: Readonly<Record<string, string>> = {},
    lastKnownGood: Snapshot['lastKnownGood'] = LOCAL,
  ) => {
    const text = `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${maxPods}\n`
    const context = { readLocalConfig: async () => ({ kind: 'found', path, text }) as const, ask: async () => 'no' as const }
    const node = fakeNode({ snapshot: following(source('7'), { lastKnownGood }), context })
    const code = await execute(rollbackCommand, node, options)
    return { code, actions: node.actions, err: node.err() }
  }
  const actions = ['roll back content-7']
  t.match(await roll('many'), { code: 1, actions: [], err: /refuses its local config.*stay down: .*maxPods.*\n.*nothing was changed/ })
  t.match(await roll('many', { yes: 'true' }), { code: 0, actions, err: /refuses its local config/ })
  t.match(await roll('many', {}, held(source('6'))), { code: 0, actions, err: '' }, 'last-known-good is left')
  t.match(await roll('110'), { code: 0, actions, err: '' }, 'kubelet takes it')
})

t.test('rollback refuses a config that it cannot identify', async (t) => {
  const refusals = {
    'nothing to roll back': snapshot(),
    'cannot tell what kubelet starts with next: kubelet.env is not ours': snapshot({
      nextStart: { kind: 'unknown', detail: 'kubelet.env\nis not ours' },
    }),
    'missing or incomplete': following(source(), { nextStart: { kind: 'known', held: { ...held(source()), content: undefined } } }),
  }
  for (const [why, of] of Object.entries(refusals)) {
    const result = await request(rollbackCommand, { snapshot: of })
    t.match(result, { code: 1, actions: [], out: '', err: why }, why)
  }
})

t.test('promote names what is held, and nothing else can be promoted', async (t) => {
  const of = following(source('7'))
  const { running, now } = of
  if (running.kind !== 'known') throw new Error('it runs')
  const evidence = recordFacts(undefined, {
    ...of,
    candidate: undefined,
    startDeadlineUs: of.policy.startDeadlineUs,
    healthySinceUs: undefined,
    facts: [{ about: running.invocationId, atUs: now.monotonicUs, seen: serving(401) }],
    writtenAtUs: undefined,
  })
  const onTrial = { ...of, proven: undefined, lastKnownGood: LOCAL, evidence }
  const result = await request(promoteCommand, { snapshot: onTrial })
  t.match(result, { code: 0, actions: ['promote content-7'], err: '' })
  t.match(result.out, /^Requested to promote kube-system\/my-node-config:kubelet@7.*: serving\.\n/)
  t.match((await request(promoteCommand, { snapshot: onTrial, hold: 'paused' })).out, 'This node is paused')
  const refusals = {
    'nothing holds the trial of kube-system/my-node-config:kubelet@7': { ...onTrial, evidence: undefined },
    'has passed its trial': { ...onTrial, proven: running.key },
    'there is nothing to promote': snapshot(),
    'kubelet does not run': { ...onTrial, running: { kind: 'none' } } as const,
    'nothing is on trial': { ...onTrial, nextStart: { kind: 'known', held: held(source('8')) } } as const,
  }
  for (const [why, each] of Object.entries(refusals))
    t.match(await request(promoteCommand, { snapshot: each }), { code: 1, actions: [], out: '', err: why }, why)
})

t.test('retry names the verdicts that it drops', async (t) => {
  const verdicts = verdictOn('content-212', { detail: 'exit \u001b[31m255' })
  const result = await request(retryCommand, { snapshot: following(source(), { verdicts }) })
  t.match(result, { code: 0, actions: ['retry'], out: 'confirmed verdict on kube-system/my-node-config:kubelet@212 (crash-loop' })
  t.notMatch(result.out, '\u001b', 'kubelet cannot colour the output')
  t.match(await request(retryCommand), { actions: ['retry'], out: 'No verdict is recorded' }, 'the agent may have some in memory')
  t.match((await request(retryCommand, { hold: 'local' })).out, 'held on its local config: no config is tried until')
})

t.test('a pause of the cluster is named, with what ends it', async (t) => {
  const by = 'annotation kubelet-cfg-agent.io/paused of ConfigMap kube-system/c'
  const recordedChannelState = { channel: 'label', paused: { on: 'ConfigMap', by }, problem: undefined, nodeHash: '' } as const
  const of = following(source(), { recordedChannelState })
  const line = new RegExp(`This node is paused by ${by.replaceAll('.', '\\.')}: .* until you remove the annotation\\.\n`)
  for (const command of [resumeCommand, rollbackCommand, retryCommand]) {
    t.match((await request(command, { snapshot: of })).out, line, command.name)
    t.notMatch((await request(command, { snapshot: following(source()) })).out, /paused by/, command.name)
  }
  t.match(await request(resumeCommand, { snapshot: of, hold: 'paused' }), { actions: ['no hold'], out: line })
  t.match((await request(retryCommand, { snapshot: of, hold: 'local' })).out, 'held on its local config', 'a reset comes first')
})

t.test('resume has ended the pause, whatever can be read of the rest', async (t) => {
  const node = fakeNode({ hold: 'paused' })
  const context = { ...node.context, observe: () => Promise.reject(new Error('cannot read /state/meta/assigned')) }
  t.equal(await resumeCommand.execute(context, { options: {}, args: [], shared: {} }), 0)
  t.same(node.actions, ['no hold'])
  t.match(node.out(), /^Resumed from pause\. Whether the cluster pauses it is not known: cannot read \/state\/meta\/assigned\n/)
})
