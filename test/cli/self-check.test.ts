import t from 'tap'
import { checkCommand, gatherFindings, renderFindings } from '../../src/cli/check.ts'
import { listFindings, type SelfCheckFacts, type SelfCheckResult } from '../../src/cli/self-check.ts'
import type { UnitActivity, WiringProblem } from '../../src/decision/unit-state.ts'
import { fileWiring } from '../../src/systemd/file-wiring.ts'
import { snapshot, source, unit } from '../report/build.ts'
import { defaults } from '../settings/settled-settings.ts'
import { execute, fakeNode, machine } from './fake-node.ts'

function findings(fields: Partial<SelfCheckFacts> = {}): readonly SelfCheckResult[] {
  return listFindings({
    unitName: 'kubelet.service',
    envFile: '/var/lib/kubelet-cfg-agent/kubelet.env',
    unit: unit(),
    activation: { kind: 'local', since: undefined },
    rights: [
      { path: '/var/lib/kubelet-cfg-agent', need: 'write', state: 'granted', detail: '' },
      { path: '/etc/kubernetes/kubelet.conf', need: 'read', state: 'granted', detail: '' },
    ],
    uid: 0,
    nodeFacts: machine,
    ...fields,
  })
}

function finding(topic: SelfCheckResult['topic'], fields: Partial<SelfCheckFacts>): SelfCheckResult | undefined {
  return findings(fields).find((one) => one.topic === topic)
}

t.test('a node in order, one line each', async (t) => {
  t.matchSnapshot(renderFindings(findings(), false))
})

t.test('the unit', async (t) => {
  const activities: UnitActivity[] = ['running', 'starting', 'auto-restart', 'stopped', 'failed', 'stopping']
  t.matchSnapshot(
    renderFindings(
      activities.flatMap((activity) => finding('unit', { unit: unit({ activity }) }) ?? []),
      false,
    ),
  )
  t.match(finding('unit', { unit: unit({ activity: 'not-found' }) }), { level: 'fail', text: 'systemd knows no kubelet.service' })
  t.match(finding('unit', { unit: { kind: 'unknown', detail: 'ENOENT' } }), { level: 'fail', text: /cannot ask systemd.*: ENOENT/ })
  t.equal(findings({ unit: { kind: 'unknown', detail: '' } }).length, 3, 'of an unknown unit nothing more is claimed')
})

t.test('the drop-in, and what to do about it', async (t) => {
  const problems: WiringProblem[] = [
    'drop-in-missing',
    'daemon-reload-needed',
    'overridden',
    'flag-wins',
    'no-config-argument',
    'dynamic-config-dir',
  ]
  const broken = problems.flatMap((reason) => {
    const wiring = { kind: 'broken', reason, detail: `(${reason})` } as const
    return finding('drop-in', { unit: unit({ wiring }), activation: undefined }) ?? []
  })
  t.ok(broken.every(({ level }) => level === 'fail'))
  t.matchSnapshot(renderFindings(broken, false))
  const file = unit({ wiring: fileWiring('/etc/kubelet.json') })
  t.match(finding('drop-in', { unit: file }), { level: 'ok', text: '/etc/kubelet.json is replaced' })
})

t.test('what kubelet runs and starts with next', async (t) => {
  const process = { kind: 'checkpoint', pid: 7, uid: 'u', resourceVersion: '3', key: 'kubelet' } as const
  const activation = { kind: 'checkpoint', source: source('3'), since: undefined } as const
  t.match(finding('kubelet', { unit: unit({ process }), activation }), {
    level: 'ok',
    text: 'u/3/kubelet; the next start uses kube-system',
  })
  t.match(finding('kubelet', { unit: unit({ process: { kind: 'none' } }) }), { level: 'warn', text: 'no kubelet process' })
  const unknown = { kind: 'unknown', detail: 'pre-exec' } as const
  t.match(finding('kubelet', { unit: unit({ process: unknown }), activation: unknown }), { level: 'warn', text: 'pre-exec; what the next' })
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
  t.match(finding('node', { nodeFacts: { ok: false, detail: 'no answer' } }), { level: 'warn', text: 'no answer' })
})

t.test('asks for what the settings name', async (t) => {
  const asked: string[] = []
  const rights = (needs: readonly { path: string; need: string }[]) => {
    asked.push(...needs.map(({ path, need }) => `${need} ${path}`))
    return []
  }
  await gatherFindings(fakeNode({ context: { rights } }).context)
  t.same(asked, [
    'write /var/lib/kubelet-cfg-agent',
    'write /run/kubelet-cfg-agent',
    'read /etc/kubernetes/kubelet.conf',
    'execute /usr/bin/systemctl',
  ])
  asked.length = 0
  const file = unit({ wiring: fileWiring('/etc/kubelet/config.json') })
  const settings = { ...defaults, manifestDir: '/m' }
  await gatherFindings(fakeNode({ snapshot: snapshot({ unit: file }), context: { rights, settings } }).context)
  t.match(asked, ['write /var/lib/kubelet-cfg-agent', 'write /run/kubelet-cfg-agent', 'write /etc/kubelet', 'read /m'])
})

t.test('the command', async (t) => {
  const fine = fakeNode()
  t.equal(await execute(checkCommand, fine), 0)
  t.match(fine.out(), /^ok +unit +kubelet.service is running/)
  const bad = fakeNode({ snapshot: snapshot({ unit: { kind: 'unknown', detail: 'x' } }) })
  t.equal(await execute(checkCommand, bad, { output: 'json' }), 1, 'something has to be corrected')
  t.match(JSON.parse(bad.out()), { kind: 'SelfCheck', findings: [{ topic: 'unit', level: 'fail' }] })
})
