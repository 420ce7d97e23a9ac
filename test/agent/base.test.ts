import t from 'tap'
import { findBasePath, runningConfigPath } from '../../src/agent/base.ts'
import { following, held, snapshot, source, unit } from '../report/build.ts'

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

t.test('where nothing runs, from last-known-good', async (t) => {
  const good = source('50')
  t.equal(findBasePath(checkpoints, runsNothing, following(good, { lastKnownGood: held(good) })), '/checkpoints/uid-1/50/kubelet')
  t.equal(findBasePath(checkpoints, runsNothing, snapshot()), '/local.yaml')
})

t.test('a kubelet that runs without a file is a change from none', async (t) => {
  const bare = unit({ process: { kind: 'other', pid: 7, configPath: undefined }, localConfigPath: '/local.yaml' })
  t.equal(findBasePath(checkpoints, bare, snapshot()), undefined)
})
