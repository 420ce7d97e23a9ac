// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { type EvidencePorts, observeEvidence } from '../../src/agent/observe-answers.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { ConfigFileFacts } from '../../src/kubelet/config-file.ts'
import type { EvidenceSubject } from '../../src/ports/evidence.ts'
import type { KnownUnit } from '../../src/subject/unit-state.ts'
import { fileWiring, readyPath } from '../../src/systemd/wiring-kinds.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
import { B, hold, runs, startsWith, unit } from '../decision/snapshots.ts'
import { type Story, snapshotOf } from '../evidence/samples.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const FILE = '/checkpoint'
const LOCAL_FALLBACKS = { lastKnownGood: hold('local'), previous: hold('local') } as const

/** Where a kubelet is asked that was started with this config and these flags. */
async function findSubject(
  config: string,
  words: readonly string[] = [],
  story: Story = {},
  file = FILE,
): Promise<EvidenceSubject | undefined> {
  const disk = new FakeDisk(() => 1)
  disk.plant(file, `${HEAD}${config}`)
  let subject: EvidenceSubject | undefined
  const evidence: EvidencePorts['evidence'] = {
    ask: (_questions, about) => {
      subject = about
    },
    asksSinceUs: () => 0,
    answered: async () => {},
    take: () => [],
    write: () => {},
    writtenAtUs: () => undefined,
  }
  const ports: EvidencePorts = {
    records: { get: () => undefined, put: () => {} },
    checkpoints: { path: () => FILE },
    configFacts: new ConfigFileFacts(new DurableFiles(disk), IN_PLACE),
    defaultRuntimeSocket: () => undefined,
    evidence,
  }
  const command: KnownUnit['command'] = { path: '/usr/bin/kubelet', words }
  const process = { kind: 'checkpoint', pid: 1, uid: 'u', resourceVersion: '1', key: 'kubelet' } as const
  await observeEvidence(ports, snapshotOf({ now: 60, ...story, snapshot: { unit: unit({ command, process }), ...story.snapshot } }))
  return subject
}

t.test("kubelet's TLS port, by its config and its flags", async (t) => {
  const cases: [config: string, words: readonly string[], serving: EvidenceSubject['serving']][] = [
    ['port: 10250\n', [], { host: '0.0.0.0', port: 10250, pid: 1 }],
    ['port: 10251\naddress: 10.0.0.5\n', [], { host: '10.0.0.5', port: 10251, pid: 1 }],
    ['port: 10251\n', ['--port=10252', '--address=::'], { host: '::', port: 10252, pid: 1 }],
    ['enableServer: true\n', [], { host: '0.0.0.0', port: 10250, pid: 1 }],
    ['enableServer: false\n', [], undefined],
    ['enableServer: false\n', ['--enable-server=true'], { host: '0.0.0.0', port: 10250, pid: 1 }],
    ['port: 10250\n', ['--enable-server=false'], undefined],
  ]
  for (const [config, words, serving] of cases) t.same((await findSubject(config, words))?.serving, serving, `${config}${words.join(' ')}`)
})

t.test('after the restart, each manifest is read from which a static pod may have come', async (t) => {
  const manifests = ['kube-apiserver.yaml', 'kube-apiserver.yaml.bak'].map((name) => ({
    path: `/etc/kubernetes/manifests/${name}`,
    digest: 'd1',
    modifiedAtMs: 1000,
    podName: 'kube-apiserver',
    names: ['kube-apiserver'],
  }))
  const pod = { hash: 'hash-1', name: 'kube-system/kube-apiserver-node-1', isRunning: true, startedAtMs: 2000 }
  const before: Story['before'] = [{ question: 'static-pods', answer: { kind: 'found', pods: [pod], manifests, live: [] } }]
  const subject = await findSubject('staticPodPath: /etc/kubernetes/manifests\n', [], { before })
  t.same(
    subject?.manifests,
    manifests.map(({ path }) => path),
  )
})

t.test('after a restart that did not wait for it any more, the manifests tell which static pods should run', async (t) => {
  const down = { question: 'static-pods', answer: { kind: 'not-asked', detail: 'the container runtime lists no pods' } } as const
  for (const before of [[], [down]]) {
    const subject = await findSubject('staticPodPath: /etc/kubernetes/manifests\n', [], { before })
    t.same(subject?.manifests, ['/etc/kubernetes/manifests'])
  }
})

t.test('where the config file is replaced, the local config is read where it is kept', async (t) => {
  const path = '/etc/kubelet.yaml'
  const local = runs('local')
  const process = { kind: 'other', pid: 1, configPath: path } as const
  const here = unit({ process, localConfigPath: path, wiring: fileWiring(path) })
  const snapshot = { ...local, ...startsWith(B), ...LOCAL_FALLBACKS, unit: here, proven: undefined }
  const subject = await findSubject('staticPodPath: /etc/kubernetes/manifests\n', [], { snapshot }, readyPath(path, 'local'))
  t.same(subject?.manifests, ['/etc/kubernetes/manifests'])
})
