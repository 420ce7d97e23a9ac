import t from 'tap'
import { shorten, tellLog, tellStatus } from '../../demo/narrate.ts'

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
