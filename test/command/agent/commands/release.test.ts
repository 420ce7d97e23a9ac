// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { CommandContext, TakeOver } from '../../../../src/command/agent/command.ts'
import { releaseCommand } from '../../../../src/command/agent/commands/release.ts'
import { LOCAL } from '../../../../src/subject/config-source.ts'
import { UnitActivation } from '../../../../src/systemd/activation.ts'
import { dropInWiring, envWiring, fileWiring } from '../../../../src/systemd/wiring-kinds.ts'
import { silentLog } from '../../../checkpoint/silent-log.ts'
import { following, held, snapshot, source, unit, verdictOn } from '../../../report/build.ts'
import { CONFIG, DIRECTORY, ORIGINAL, sourceOf, worldWith } from '../../../systemd/disk.ts'
import { execute, type FakeNodeFields, fakeNode } from '../fake-node.ts'

const NO_NODE: CommandContext['api'] = {
  request: async () => ({ kind: 'refused', status: 404, reason: 'NotFound', detail: '404', retryAfterMs: undefined }),
}

async function release(fields: FakeNodeFields = {}) {
  const node = fakeNode({ ...fields, context: { api: NO_NODE, ...fields.context } })
  const code = await execute(releaseCommand, node)
  return { code, actions: node.actions, out: node.out(), err: node.err() }
}

t.test('replaces a config on trial with last-known-good, and releases the lock', async (t) => {
  const result = await release({ snapshot: following(source('2'), { lastKnownGood: held(source('1')) }) })
  t.same(result, {
    code: 0,
    actions: ['activate kube-system/my-node-config:kubelet@1', 'end'],
    out:
      "Kubelet's next start uses kube-system/my-node-config:kubelet@1: kube-system/my-node-config:kubelet@2 is not proven.\n" +
      'Kubelet was not restarted.\n',
    err: '',
  })
})

t.test('withdraws everything where the unit does not take its config from the agent', async (t) => {
  const wiring = { kind: 'broken', reason: 'overridden', detail: 'a later drop-in' } as const
  const nextStart = { kind: 'unknown', detail: wiring.detail } as const
  const result = await release({ snapshot: following(source('2'), { unit: unit({ wiring }), nextStart }) })
  t.same(result.actions, ['withdraw everything', 'end'])
  t.match(result, { code: 0, err: '', out: /^Kubelet's next start uses local: .*a later drop-in/ })
})

t.test('reports that there is nothing to do', async (t) => {
  t.same(await release(), {
    code: 0,
    actions: ['end'],
    out: 'Nothing to release: kubelet starts with its local config next.\nKubelet was not restarted.\n',
    err: '',
  })
  const untouched = await release({ context: { takeOver: async () => ({ kind: 'untouched' }) } })
  t.same(untouched, { code: 0, actions: [], out: 'Nothing to release: no agent has worked on this node.\n', err: '' })
})

t.test('warns of a local config that kubelet refuses, and keeps what runs in its place', async (t) => {
  const text = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: many\n'
  const context = { readLocalConfig: async () => ({ kind: 'found', path: '/var/lib/kubelet/config.yaml', text }) as const }
  t.match(await release({ context }), { code: 0, out: /Warning: this kubelet refuses its local config, .*maxPods/ })
  const readLocalConfig = async () => {
    throw new Error('EIO')
  }
  t.match(await release({ context: { readLocalConfig } }), { code: 0, out: /^Nothing to release/ }, 'a removal goes on')
  const left = held(source('2'))
  const returning = following(source('2'), {
    assigned: { kind: 'source', source: 'local' },
    assignedContent: 'local',
    lastKnownGood: LOCAL,
    left: [left],
    verdicts: verdictOn('local', { state: 'refused', source: 'local' }),
  })
  t.match(await release({ snapshot: returning }), { actions: ['end'], out: /what it runs, since its local config is not usable/ })
})

t.test('does nothing while an agent is running', async (t) => {
  const detail = 'cannot lock /d/lock: another agent (process 812) uses this directory: stop it first'
  const takeOver = async (): Promise<TakeOver> => ({ kind: 'refused', detail })
  const result = await release({ snapshot: following(source('2')), context: { takeOver, observe: async () => t.fail('looked') as never } })
  t.same(result, { code: 1, actions: [], out: '', err: `kubelet-cfg-agent release: ${detail}\n` })
})

t.test('changes nothing if the state is unknown', async (t) => {
  const result = await release({ snapshot: snapshot({ unit: { kind: 'unknown', detail: 'systemctl show: no answer' } }) })
  t.match(result, {
    code: 1,
    actions: ['end'],
    out: '',
    err: /cannot tell what kubelet starts with next, and left it as it is: systemctl show: no answer/,
  })
})

t.test('looks again after it has withdrawn what hid the next start', async (t) => {
  const did: string[] = []
  const takeOver = async (): Promise<TakeOver> => ({
    kind: 'taken',
    activation: { activate: () => void did.push('activate'), withdraw: (extent) => void did.push(`withdraw ${extent}`) },
    end: () => void did.push('end'),
  })
  const wiring = fileWiring('/etc/kubelet.json')
  const nextStart = { kind: 'unknown', detail: 'a former config may be in place' } as const
  const snapshots = [snapshot({ unit: unit({ wiring }), nextStart }), snapshot({ unit: unit({ wiring }) })]
  const observe = async () => {
    did.push('observe')
    return snapshots.shift() ?? (t.fail('looked again') as never)
  }
  const result = await release({ context: { observe, takeOver } })
  t.match(result, { code: 0, out: /^Nothing to release: kubelet starts with its local config next/, err: '' })
  t.same(did, ['observe', 'withdraw everything', 'observe', 'withdraw replaced-files', 'end'])
})

t.test('removes the environment file of a former kind of activation, and returns to local', async (t) => {
  const former = sourceOf('101')
  const envFile = `${DIRECTORY}/kubelet.env`
  for (const wiring of [dropInWiring('/etc/kubelet.d'), fileWiring(CONFIG)]) {
    const { files, disk, clock } = worldWith(former)
    disk.plant('/etc/kubelet.d/README', '')
    const parts = { files, clock, dynamicConfigDir: DIRECTORY, envFile, runtimeDir: '/run/kubelet-cfg-agent', log: silentLog() }
    const activation = new UnitActivation({ ...parts, ownership: { give: () => {} } })
    activation.activate(former, envWiring(envFile, `--config=${CONFIG}`))
    const observe = async () => {
      const state = activation.read(wiring)
      const nextStart =
        state.kind === 'unknown' ? state : ({ kind: 'known', held: state.kind === 'local' ? LOCAL : held(state.source) } as const)
      return snapshot({ unit: unit({ wiring }), nextStart })
    }
    t.equal((await observe()).nextStart.kind, 'unknown')
    const takeOver = async (): Promise<TakeOver> => ({ kind: 'taken', activation, end: () => {} })
    const result = await release({ context: { observe, takeOver } })
    t.match(result, { code: 0, err: '', out: /starts with its local config next/ })
    t.equal(files.stat(envFile), undefined)
    t.equal(files.read(CONFIG)?.toString(), ORIGINAL)
  }
})

t.test('a failure releases the lock', async (t) => {
  const actions: string[] = []
  const takeOver = async (): Promise<TakeOver> => ({
    kind: 'taken',
    activation: {
      activate: () => {
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      },
      withdraw: () => {},
    },
    end: () => void actions.push('end'),
  })
  const wiring = fileWiring('/etc/kubelet.json')
  const of = following(source('2'), { unit: unit({ wiring }) })
  t.match(await release({ snapshot: of, context: { takeOver } }), { code: 1, err: /no space left/ })
  t.same(actions, ['end'])
})

t.test('clears the Node, and goes on where it cannot', async (t) => {
  const object = { metadata: {}, status: { conditions: [{ type: 'KubeletConfigReady' }] } }
  const cleared = await release({ context: { api: { request: async () => ({ kind: 'ok', object }) } } })
  t.match(cleared, { code: 0, err: '', out: /^Removed the agent's report from Node node-1\.\n/ })
  const away = await release({ context: { api: { request: async () => ({ kind: 'unreachable', detail: 'no \u001b route' }) } } })
  t.match(away, {
    code: 0,
    actions: ['end'],
    err: /from Node node-1, which may still show it: no \? route\nAn administrator can remove it:\n {2}kubectl patch/,
  })
})
