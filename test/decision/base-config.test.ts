// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findBasePath, runningConfigPath } from '../../src/decision/base-config.ts'
import { fileWiring } from '../../src/systemd/wiring-kinds.ts'
import { following, held, snapshot, source, unit } from '../report/build.ts'
import { health } from './snapshots.ts'

const checkpoints = {
  path: ({ uid, resourceVersion, kubeletConfigKey }: { uid: string; resourceVersion: string; kubeletConfigKey: string }) =>
    `/checkpoints/${uid}/${resourceVersion}/${kubeletConfigKey}`,
}
const runsCheckpoint = unit({ process: { kind: 'checkpoint', pid: 7, uid: 'uid-1', resourceVersion: '100', key: 'kubelet' } })
const runsOther = unit({ process: { kind: 'other', pid: 7, configPath: '/etc/kubelet.yaml' }, localConfigPath: '/local.yaml' })
const runsNothing = unit({ process: { kind: 'none' }, localConfigPath: '/local.yaml' })

t.test('the file that kubelet was started with', async (t) => {
  t.equal(runningConfigPath(checkpoints, runsCheckpoint), '/checkpoints/uid-1/100/kubelet')
  t.equal(runningConfigPath(checkpoints, runsOther), '/etc/kubelet.yaml')
  t.equal(runningConfigPath(checkpoints, unit({ process: { kind: 'other', pid: 7, configPath: undefined } })), undefined)
  t.equal(runningConfigPath(checkpoints, runsNothing), undefined)
})

t.test('a config is a change from what runs, whatever is last-known-good', async (t) => {
  const good = source('50')
  const of = following(good, { lastKnownGood: held(good) })
  t.equal(findBasePath(checkpoints, runsCheckpoint, of), '/checkpoints/uid-1/100/kubelet')
  t.equal(findBasePath(checkpoints, runsOther, of), '/etc/kubelet.yaml')
})

t.test('where the checkpoint that kubelet was started from is lost, it does not hold what runs', async (t) => {
  const good = source('50')
  const running = { kind: 'known', content: 'content-50', key: 'content-50@k', startedAtUs: 0, invocationId: 'i', lost: true } as const
  const of = following(good, { lastKnownGood: held(good), running })
  t.equal(findBasePath(checkpoints, runsCheckpoint, of), '/checkpoints/uid-1/50/kubelet', 'another version holds the same content')
  const unknown = { ...of, running: { ...running, content: 'content-100' } }
  t.equal(findBasePath(checkpoints, runsCheckpoint, unknown), undefined, 'a restore of etcd gave the version another content')
})

t.test('where nothing runs, from last-known-good', async (t) => {
  const good = source('50')
  t.equal(findBasePath(checkpoints, runsNothing, following(good, { lastKnownGood: held(good) })), '/checkpoints/uid-1/50/kubelet')
  t.equal(findBasePath(checkpoints, runsNothing, snapshot()), '/local.yaml')
})

t.test('a kubelet that runs without a file is a change from none', async (t) => {
  const bare = unit({ process: { kind: 'other', pid: 7, configPath: undefined }, localConfigPath: '/local.yaml' })
  t.equal(findBasePath(checkpoints, bare, snapshot()), undefined)
})

t.test('where the file itself is replaced, it holds what is activated: what runs is in its checkpoint', async (t) => {
  const wiring = fileWiring('/etc/kubelet.yaml')
  const replaced = { ...runsOther, wiring }
  const [good, next] = [source('50'), source('60')]
  const running = (content: string) => ({ kind: 'known', content, key: `${content}@k`, startedAtUs: 0, invocationId: 'i' }) as const
  const activated = { nextStart: { kind: 'known', held: held(next) } } as const
  const of = following(next, { lastKnownGood: held(good), ...activated, running: running(held(good).content ?? '') })
  t.equal(findBasePath(checkpoints, replaced, of), '/checkpoints/uid-1/50/kubelet')
  t.equal(findBasePath(checkpoints, replaced, { ...of, running: running(held(next).content ?? '') }), '/etc/kubelet.yaml')
  t.equal(
    findBasePath(checkpoints, replaced, { ...of, running: running('local') }),
    '/etc/.kubelet.yaml.kubelet-cfg-agent-local',
    'the original',
  )
  const unknown = { ...of, running: running('local'), nextStart: { kind: 'unknown', detail: '' } } as const
  t.equal(findBasePath(checkpoints, replaced, unknown), undefined, 'nobody knows what the file holds')
})

t.test(
  'where --config never changes and the local file is not replaced, both a checkpoint and local are where they always are',
  async (t) => {
    const wiring = { ...fileWiring('/etc/kubelet.d/90.conf'), replacesLocalFile: false }
    const unchanged = { ...runsOther, wiring }
    const next = source('60')
    const running = (content: string) => ({ kind: 'known', content, key: `${content}@k`, startedAtUs: 0, invocationId: 'i' }) as const
    const of = following(next, { nextStart: { kind: 'known', held: held(next) }, running: running(held(next).content ?? '') })
    t.equal(findBasePath(checkpoints, unchanged, of), '/checkpoints/uid-1/60/kubelet')
    t.equal(findBasePath(checkpoints, unchanged, { ...of, running: running('local') }), '/local.yaml')
    t.equal(findBasePath(checkpoints, unchanged, { ...of, running: running('before:i') }), undefined)
  },
)

t.test('where a reset took what runs out of the records, the checkpoint that it was started from holds it', async (t) => {
  const replaced = { ...runsOther, wiring: fileWiring('/etc/kubelet.yaml') }
  const old = source('50')
  const content = held(old).content ?? ''
  const running = { kind: 'known', content, key: `${content}@k`, startedAtUs: 0, invocationId: 'i' } as const
  const recorded = health('local', { lastProcess: { invocationId: 'i', content, kubeletIdentity: 'k', source: old } })
  const of = snapshot({ running, health: recorded, checkpoints: [{ uid: old.uid, resourceVersion: '50', savedAtMs: 0 }] })
  t.equal(findBasePath(checkpoints, replaced, of), '/checkpoints/uid-1/50/kubelet')
  t.equal(findBasePath(checkpoints, replaced, { ...of, checkpoints: [] }), undefined)
  t.equal(findBasePath(checkpoints, replaced, { ...of, running: { ...running, lost: true } }), undefined)
})
