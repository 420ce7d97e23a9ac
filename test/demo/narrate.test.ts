// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { shorten, tellLog, tellRecord, tellStatus } from '../../demo/narrate.ts'
import { DEFAULT_PLAN } from '../../src/rollout/plan.ts'
import { EMPTY_RECORD, parseRecord } from '../../src/rollout/record.ts'

const UID = '5274a9bd-00f5-49fe-a395-53c08b3087db'
const source = { namespace: 'kube-system', name: 'my-config', kubeletConfigKey: 'kubelet', uid: UID, resourceVersion: '212' }

t.test('shortens sources, paths and UIDs', async (t) => {
  const path = '/api/v1/namespaces/kube-system/configmaps/my-config'
  for (const [long, short] of [
    [`to ${path}, UID: ${UID}, ResourceVersion: 212`, 'to my-config@212'],
    [
      `from ${path}, UID: ${UID}, ResourceVersion: 212, KubeletConfigKey: kubelet to local config: it`,
      'from my-config@212 to local config: it',
    ],
    ['in-trial: trial of kube-system/my-config:kubelet@212', 'in-trial: trial of my-config@212'],
    [`--config=/tmp/x/state/checkpoints/${UID}/212/kubelet`, '--config=state/checkpoints/5274a9bd/212/kubelet'],
    [`${path} cannot be followed`, `${path} cannot be followed`],
  ] as const) {
    t.equal(shorten(long, '/tmp/x'), short)
  }
})

t.test('selects lines of the log: the important ones, and all warnings and errors', async (t) => {
  t.strictSame(tellLog({ level: 'info', msg: 'updating Node.Status.Config' }), undefined)
  t.strictSame(tellLog({ level: 'info', msg: 'activated local: kubelet uses it' }), {
    text: 'activated local: kubelet uses it',
    isTrouble: false,
  })
  t.strictSame(tellLog({ level: 'error', msg: 'config failed', detail: 'kubelet exited' }), {
    text: 'config failed: kubelet exited',
    isTrouble: true,
  })
})

t.test('shows the status, with an error on a separate line', async (t) => {
  t.strictSame(tellStatus('absent'), ['no status.config'])
  t.strictSame(tellStatus({ assigned: 'local', active: 'local', lastKnownGood: 'local', error: '' }), ['status.config is {}'])
  t.strictSame(tellStatus({ assigned: source, active: undefined, lastKnownGood: 'local', error: 'why' }), [
    'assigned my-config@212, active ?, last-known-good local',
    'error: why',
  ])
})

t.test('tells what nodes have written to the record of a rollout', async (t) => {
  const record = (stage: number, entries: Readonly<Record<string, string>>, generation = 1) => {
    const parsed = parseRecord({ state: `1 ${generation} ${stage} abc def 7 0`, ...entries })
    return parsed.ok ? parsed.record : EMPTY_RECORD
  }
  const claimed = record(0, { 'node.n1': '1 0 claim 60' })
  const proved = record(1, { 'node.n1': '1 0 proof' })
  t.strictSame(tellRecord(DEFAULT_PLAN, EMPTY_RECORD, claimed), ['rollout 1 begins', 'n1 starts it, and says so first'])
  t.strictSame(tellRecord(DEFAULT_PLAN, claimed, proved), [
    'n1 has proved it: its trial has passed',
    'stage 1 opens: one more node may start it',
  ])
  t.strictSame(tellRecord(DEFAULT_PLAN, proved, record(2, { 'node.n1': '1 0 proof' })), ['stage 2 opens: 1 % of the nodes may start it'])
  t.strictSame(tellRecord({ ...DEFAULT_PLAN, waves: [7, 100] }, record(1, {}), record(2, {})), [
    'stage 2 opens: 7 % of the nodes may start it',
  ])
  t.strictSame(tellRecord(DEFAULT_PLAN, record(4, {}), record(5, {})), ['stage 5 opens: all nodes may start it'])
  const failed = record(1, { 'node.n1': '1 0 proof', 'node.n2': '1 1 veto crash-loop' })
  t.strictSame(tellRecord(DEFAULT_PLAN, proved, failed), ['n2 says that it failed: crash-loop'])
  t.strictSame(tellRecord(DEFAULT_PLAN, failed, record(0, { 'node.n1': '1 0 proof', 'node.n3': '2 0 claim 60' }, 2)), [
    'rollout 2 begins',
    'n3 starts it, and says so first',
  ])
})
