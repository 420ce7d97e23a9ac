// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { renderSelfCheck } from '../../../src/command/agent/commands/check.ts'
import type { PathNeed, PathRight } from '../../../src/command/agent/rights.ts'
import { gatherFindings, listFindings, type SelfCheckFacts, type SelfCheckResult } from '../../../src/command/agent/self-check.ts'
import type { Settings } from '../../../src/settings/settings.ts'
import type { UnitActivity, WiringProblem } from '../../../src/subject/unit-state.ts'
import { dropInWiring, fileWiring } from '../../../src/systemd/wiring-kinds.ts'
import { snapshot, source, unit } from '../../report/build.ts'
import { defaults } from '../../settings/settled-settings.ts'
import { fakeNode, machine } from './fake-node.ts'

function findings(fields: Partial<SelfCheckFacts> = {}): readonly SelfCheckResult[] {
  return listFindings({
    unitName: 'kubelet.service',
    envFile: '/var/lib/kubelet-cfg-agent/kubelet.env',
    kubeconfig: '/etc/kubernetes/kubelet.conf',
    unit: unit(),
    activation: { kind: 'local', since: undefined },
    rights: [
      { path: '/var/lib/kubelet-cfg-agent', need: 'write', state: 'granted', detail: '' },
      { path: '/etc/kubernetes/kubelet.conf', need: 'read', state: 'granted', detail: '' },
    ],
    vantage: { kind: 'own' },
    uid: 0,
    nodeFacts: machine,
    ...fields,
  })
}

function finding(topic: SelfCheckResult['topic'], fields: Partial<SelfCheckFacts>): SelfCheckResult | undefined {
  return findings(fields).find((result) => result.topic === topic)
}

t.test('a node without problems', async (t) => {
  t.matchSnapshot(renderSelfCheck(findings(), false))
})

t.test('who besides root could be the container runtime', async (t) => {
  const text = 'group 998 may write to /run/x: its members can act as root through the container runtime, or in its place'
  const { context } = fakeNode({ context: { runtimeDoubt: async () => text } })
  t.match(
    (await gatherFindings(context)).filter(({ topic }) => topic === 'runtime'),
    [{ topic: 'runtime', level: 'warn', text }],
  )
  t.equal(finding('runtime', {}), undefined, 'nobody')
})

t.test('the unit', async (t) => {
  const activities: UnitActivity[] = ['running', 'starting', 'auto-restart', 'stopped', 'exited', 'left-down', 'failed', 'stopping']
  t.matchSnapshot(
    renderSelfCheck(
      activities.flatMap((activity) => finding('unit', { unit: unit({ activity }) }) ?? []),
      false,
    ),
  )
  t.match(finding('unit', { unit: unit({ activity: 'not-found' }) }), { level: 'fail', text: 'systemd does not know kubelet.service' })
  t.match(finding('unit', { unit: { kind: 'unknown', detail: 'ENOENT' } }), {
    level: 'fail',
    text: /cannot get the state of kubelet.service from systemd: ENOENT/,
  })
  t.equal(findings({ unit: { kind: 'unknown', detail: '' } }).length, 3, 'an unknown unit has no findings about wiring and kubelet')
})

t.test('the drop-in, and how to correct it', async (t) => {
  const problems: WiringProblem[] = [
    'masked',
    'drop-in-missing',
    'daemon-reload-needed',
    'overridden',
    'flag-wins',
    'no-config-argument',
    'dynamic-config-dir',
    'owned-by-operator',
  ]
  const broken = problems.flatMap((reason) => {
    const wiring = { kind: 'broken', reason, detail: `(${reason})` } as const
    return finding('drop-in', { unit: unit({ wiring }), activation: undefined }) ?? []
  })
  t.ok(broken.every(({ level }) => level === 'fail'))
  t.matchSnapshot(renderSelfCheck(broken, false))
  const file = unit({ wiring: fileWiring('/etc/kubelet.json') })
  t.match(finding('drop-in', { unit: file }), { level: 'ok', text: 'the agent replaces /etc/kubelet.json' })
  const dropIn = unit({ wiring: dropInWiring('/etc/kubelet.d') })
  t.match(finding('drop-in', { unit: dropIn }), { level: 'ok', text: 'the agent adds /etc/kubelet.d/90-kubelet-cfg-agent.conf' })
})

t.test('what in the unit can leave kubelet down', async (t) => {
  const about = (hazards: NonNullable<Parameters<typeof unit>[0]>['hazards']) =>
    findings({ unit: unit({ hazards }) })
      .filter(({ topic, level }) => topic === 'unit' && level === 'warn')
      .map(({ text }) => text)
  t.same(about({ requires: [], bindsTo: [], restart: 'always' }), [])
  t.matchSnapshot(about({ requires: ['sandbox-image.service'], bindsTo: ['containerd.service'], restart: 'on-failure' }).join('\n'))
  t.match(about({ requires: [], bindsTo: [], restart: '' }), [/Restart=no/])
})

t.test('the distribution, and the activation that fits', async (t) => {
  const distribution = { name: 'kubeadm', fits: 'env', owner: undefined, remark: undefined } as const
  const about = (fields: Parameters<typeof unit>[0]) => finding('distribution', { unit: unit(fields) })
  t.equal(about({}), undefined, 'a unit that looks like none')
  t.same(about({ distribution }), { topic: 'distribution', level: 'ok', text: 'looks like kubeadm: activation env fits' })
  t.match(about({ distribution, wiring: fileWiring('/c') }), { level: 'warn', text: /env fits, and file is used$/ })
  t.match(about({ distribution, wiring: dropInWiring('/d') }), { level: 'ok' }, 'a drop-in was asked for')
  t.match(about({ distribution: { ...distribution, fits: undefined, remark: 'why' } }), {
    level: 'warn',
    text: /no activation fits.*; why$/,
  })
  const owned = { ...distribution, fits: undefined, owner: 'its operator', remark: 'ask it' }
  const wiring = { kind: 'broken', reason: 'owned-by-operator', detail: '' } as const
  t.match(about({ distribution: owned, wiring }), { level: 'warn', text: "looks like kubeadm: its operator owns kubelet's config; ask it" })
})

t.test('the config that kubelet runs, and that of its next start', async (t) => {
  const process = { kind: 'checkpoint', pid: 7, uid: 'u', resourceVersion: '3', key: 'kubelet' } as const
  const activation = { kind: 'checkpoint', source: source('3'), since: undefined } as const
  t.match(finding('kubelet', { unit: unit({ process }), activation }), {
    level: 'ok',
    text: 'u/3/kubelet; the next start uses kube-system',
  })
  t.match(finding('kubelet', { unit: unit({ process: { kind: 'none' } }) }), { level: 'warn', text: 'no kubelet process' })
  const unknown = { kind: 'unknown', detail: 'pre-exec' } as const
  t.match(finding('kubelet', { unit: unit({ process: unknown }), activation: unknown }), {
    level: 'warn',
    text: 'pre-exec; cannot tell what the next start uses',
  })
  const bare = { kind: 'other', pid: 7, configPath: undefined } as const
  t.match(finding('kubelet', { unit: unit({ process: bare }) }), { level: 'ok', text: 'without a config file' })
})

t.test('rights', async (t) => {
  const right = { path: '/d', need: 'write', state: 'granted', detail: '' } as const
  t.match(finding('rights', { rights: [right] }), { level: 'ok', text: 'root; may write /d' })
  const refused = { ...right, state: 'refused', detail: 'read-only file system' } as const
  t.match(finding('rights', { rights: [refused] }), { level: 'fail', text: /cannot write \/d \(read-only file system\)/ })
  t.match(finding('rights', { rights: [{ ...right, state: 'missing' }] }), { level: 'ok' }, 'a directory that can be created')
  const kubeconfig = { ...right, need: 'read', state: 'missing' } as const
  t.match(finding('rights', { rights: [kubeconfig] }), { level: 'warn', text: 'the agent waits for it' })
  t.match(finding('rights', { rights: [{ ...right, need: 'execute', state: 'missing' }] }), { level: 'fail', text: 'cannot execute' })
  t.match(finding('rights', { uid: 1000 }), { level: 'warn', text: 'uid 1000, not root' })
})

t.test('the machine', async (t) => {
  const os = 'Debian GNU/Linux 12 (bookworm)'
  const memory = { memoryBytes: 2 ** 34, memoryAvailableBytes: 2 ** 33, swapBytes: 2 ** 31 }
  const facts = { os, kernel: '6.1.0', cpus: 1, architecture: 'arm64', ...memory }
  const text = (changed: Partial<typeof facts>) => finding('node', { nodeFacts: { ok: true, facts: { ...facts, ...changed } } })?.text
  t.equal(text({}), 'Debian GNU/Linux 12 (bookworm), kernel 6.1.0, 1 CPU (arm64), 16.0 GiB memory, 2.0 GiB swap')
  t.match(text({ swapBytes: 0, cpus: 2 }), '2 CPUs (arm64), 16.0 GiB memory, no swap')
  t.match(finding('node', { nodeFacts: { ok: false, detail: 'no answer' } }), { level: 'warn', text: 'no answer' })
})

t.test('whose view of the files it is', async (t) => {
  t.match(finding('rights', { vantage: { kind: 'agent', pid: 812 } }), {
    text: /; seen from the sandbox of the running agent \(pid 812\)$/,
  })
  t.match(finding('rights', { vantage: { kind: 'outside', why: 'no agent is running' } }), {
    text: /; seen from outside of the sandbox of the agent: no agent is running$/,
  })
})

t.test('checks the rights to the paths of the settings', async (t) => {
  const needed: string[] = []
  const rights = (needs: readonly { path: string; need: string }[]) => {
    needed.push(...needs.map(({ path, need }) => `${need} ${path}`))
    return []
  }
  const credentialFiles = () => [{ path: '/root/ca.crt', need: 'read' } as const, { path: '/home/plugin', need: 'execute' } as const]
  await gatherFindings(fakeNode({ context: { rights, credentialFiles } }).context)
  t.same(needed, [
    'write /var/lib/kubelet-cfg-agent',
    'write /run/kubelet-cfg-agent',
    'read /etc/kubernetes/kubelet.conf',
    'read /root/ca.crt',
    'execute /home/plugin',
    'execute /bin/systemctl',
  ])
  needed.length = 0
  const file = unit({ wiring: fileWiring('/etc/kubelet/config.json') })
  const settings = { ...defaults, manifestDir: '/m' }
  await gatherFindings(fakeNode({ snapshot: snapshot({ unit: file }), context: { rights, credentialFiles, settings } }).context)
  t.match(needed, ['write /var/lib/kubelet-cfg-agent', 'write /run/kubelet-cfg-agent', 'write /etc/kubelet', 'read /m'])
  t.notOk(needed.includes('read /root/ca.crt'), 'without an API server no kubeconfig is used')
})

t.test('a kubeconfig that is missing while kubelet has another one', async (t) => {
  const ours = '/etc/kubernetes/kubelet.conf'
  const theirs = '/var/lib/kubelet/kubeconfig'
  const about = async (flags: readonly string[], there: readonly string[], settings: Partial<Settings> = {}, path = '/usr/bin/kubelet') => {
    const rights = (needs: readonly PathNeed[]) =>
      needs.map((need): PathRight => {
        const isThere = need.need !== 'read' || there.includes(need.path)
        return { ...need, state: isThere ? 'granted' : 'missing', detail: isThere ? '' : 'no such file' }
      })
    const seen = snapshot({ unit: unit({ command: { path, words: flags } }) })
    const { context } = fakeNode({ snapshot: seen, context: { rights, settings: { ...defaults, ...settings } } })
    return (await gatherFindings(context)).find(({ topic }) => topic === 'rights')
  }
  t.match(await about([`--kubeconfig=${theirs}`], [theirs]), {
    level: 'fail',
    text: new RegExp(`^${ours} is not there, and kubelet uses ${theirs}: set kubeconfig to it`),
  })
  t.match(await about(['--kubeconfig', theirs], [theirs]), { level: 'fail' }, 'the flag in two words')
  t.match(await about([`--kubeconfig=${theirs}`], [theirs, ours]), { level: 'ok' }, 'an identity of its own')
  t.match(await about([`--kubeconfig=${theirs}`], []), { level: 'warn', text: /waits for it/ }, 'before the node has joined')
  t.match(await about([`--kubeconfig=${ours}`], []), { level: 'warn', text: /waits for it/ })
  t.match(await about([], [theirs]), { level: 'warn', text: /waits for it/ }, 'without the flag')
  t.match(await about(['--kubeconfig=kubeconfig'], ['kubeconfig']), { level: 'warn' }, 'a path that is relative to what is not known')
  t.match(await about([`--kubeconfig=${theirs}`], [theirs, '/m'], { manifestDir: '/m' }), { level: 'ok' }, 'without an API server')
  t.match(
    await about([`--kubeconfig=${theirs}`], [theirs], {}, '/usr/local/bin/k3s'),
    { level: 'warn' },
    'the flag of a program that kubelet is a part of',
  )
})

t.test('the directory of the metrics has to exist: the agent does not create it', async (t) => {
  const asked: PathNeed[] = []
  const rights = (needs: readonly PathNeed[]) => {
    asked.push(...needs)
    return []
  }
  const settings = { ...defaults, metricsTextfile: '/var/lib/node_exporter/kubelet-cfg-agent.prom' }
  await gatherFindings(fakeNode({ context: { rights, settings } }).context)
  t.same(
    asked.filter(({ path }) => path.includes('node_exporter')),
    [{ path: '/var/lib/node_exporter', need: 'write', mustExist: true }],
  )
})
