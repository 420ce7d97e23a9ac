// SPDX-License-Identifier: Apache-2.0
/** The command line of the tests on real components, and the lanes that it makes. */
import t from 'tap'
import { readInvocation } from '../real/invocation.ts'
import { MINORS, modernKubeletMinor, suiteFor } from '../real/lab/node-choice.ts'
import { isMeant } from '../real/lab/runner.ts'
import { chooseLanes, needNoSharedCluster } from '../real/lane-plan.ts'

function forgetChoice(): void {
  for (const name of ['KCA_LAB_KUBELET', 'KCA_LAB_ROOT', 'KUBEBUILDER_ASSETS']) delete process.env[name]
}

t.beforeEach(forgetChoice)

t.test('without options each scenario has the kubelet and the Debian that it needs', async (t) => {
  t.match(readInvocation(['node:', 'reboot']), { words: ['node:', 'reboot'], help: false })
  t.equal(modernKubeletMinor(), Math.max(...MINORS))
  t.strictSame([suiteFor(20), suiteFor(28)], ['bookworm', 'trixie'])
})

t.test('a kubelet and a Debian are chosen for this process and those that it starts', async (t) => {
  t.match(readInvocation(['--kubelet', '1.28', '--root', 'bullseye', 'workflow']), {
    words: ['workflow'],
    kubeletMinor: 28,
    suite: 'bullseye',
  })
  t.strictSame([modernKubeletMinor(), suiteFor(28)], [28, 'bullseye'])
  t.match(process.env, { KCA_LAB_KUBELET: '1.28', KCA_LAB_ROOT: 'bullseye' })
})

t.test('a choice that does not exist is an error that lists those that do', async (t) => {
  t.throws(() => readInvocation(['--kubelet', '1.19']), /no kubelet 1\.19 is known here, only 1\.20, 1\.23, /)
  forgetChoice()
  t.throws(() => readInvocation(['--root', 'sid']), /no root sid is known here, only bullseye, bookworm, trixie/)
  forgetChoice()
  t.throws(() => readInvocation(['--kublet', '1.28']), /--kublet/)
  process.env.KUBEBUILDER_ASSETS = '/somewhere'
  t.throws(() => readInvocation(['--kubelet', '1.28']), /KUBEBUILDER_ASSETS gives the kubelet/)
})

t.test('a run without words has lanes, one with words has none', async (t) => {
  const namesOf = (...args: Parameters<typeof chooseLanes>) => chooseLanes(...args)?.map(({ name }) => name)
  t.strictSame(namesOf(['reboot'], true, undefined), undefined)
  t.strictSame(namesOf(['reboot'], true, 28), undefined)
  const whole = namesOf([], true, undefined) ?? []
  for (const lane of [
    'api',
    'rights',
    'modern',
    'node',
    'killed',
    'node-2',
    'node-3',
    'node-4',
    'install',
    'rollout',
    'corpus',
    'fault kubelet of today',
    'outage kubelet of today',
    'trouble kubelet of today',
    'proof kubelet 1.20',
  ])
    t.ok(whole.includes(lane), lane)
  const newest = `1.${Math.max(...MINORS)}`
  t.match(
    chooseLanes([], true, undefined)?.filter(({ kubelet }) => kubelet !== undefined),
    [
      { name: `node ${newest}`, kubelet: newest },
      { name: `corpus ${newest}`, kubelet: newest },
    ],
    'lanes for the nodes and the corpus of the newest kubelet',
  )
  t.strictSame(
    chooseLanes([], true, undefined, false)?.filter(({ kubelet }) => kubelet !== undefined),
    [],
    'none where KUBEBUILDER_ASSETS gives the kubelet',
  )
  for (const [minor, kubelet] of [
    [28, 'kubelet of today'],
    [20, 'kubelet 1.20'],
  ] as const) {
    const proofs = ['harm', 'trouble', 'outage', 'fault', 'proof'].map((what) => `${what} ${kubelet}`)
    t.strictSame(namesOf([], true, minor), [...proofs, 'node', 'killed', 'node-2', 'node-3', 'node-4', 'install', 'corpus'])
  }
})

t.test('the lanes whose scenarios share no cluster start none for them', async (t) => {
  const lanes = chooseLanes([], true, undefined) ?? []
  const newest = `1.${Math.max(...MINORS)}`
  t.strictSame(
    lanes.filter(({ words }) => needNoSharedCluster(words)).map(({ name }) => name),
    ['modern', 'rollout', 'rights', `corpus ${newest}`, 'corpus'],
  )
  t.ok(needNoSharedCluster([...(lanes.find(({ name }) => name === 'rights')?.words ?? []), 'rights: operator.yaml']), 'played again, too')
  for (const words of [[], ['node:'], ['rights:'], ['transition']]) t.notOk(needNoSharedCluster(words), words.join(' '))
})

t.test('a scenario is in one lane, whatever it is about', async (t) => {
  const lanes = chooseLanes([], true, undefined, false) ?? []
  for (const [name, lane] of [
    ['transition: local, assign a good ConfigMap', 'api'],
    ['edits: rights that come late', 'api'],
    ['outage: etcd is restored from a backup', 'api'],
    ['modern channels: rights to one ConfigMap', 'modern'],
    ['plugin: from the first config to a rollout', 'modern'],
    ['release: dnf installs it', 'rights'],
    ['rights: a rollout with the files as they are, by a node', 'rights'],
    ['rollout: twenty nodes, on an API server without policies', 'rollout'],
    ['preflight corpus: loading', 'corpus'],
    ['node: the transition table', 'node'],
    ['node: a config that crashes kubelet is rolled back', 'node'],
    ['node: interrupted: the agent is killed at random moments through 50 changes', 'killed'],
    ['node: interrupted: the power fails 10 times', 'node-2'],
    ['node: modern: a rollout over two nodes', 'node-2'],
    ['node: preflight: nothing that would break kubelet reaches it', 'node-3'],
    ['node: release: apt installs it', 'node-3'],
    ['node: an exit of kubelet is found by a signal, and without a bus by a look', 'node-4'],
    ['node: the disk under the state directory is full', 'node-4'],
    ['node: install: cloud-init installs the deb before the node joins', 'install'],
    ['node: proof: kubelet of today: a crash loop heals', 'trouble kubelet of today'],
    ['node: proof: kubelet of today: a config without static pods', 'harm kubelet of today'],
    ['node: proof: kubelet of today: fault: the API server stops for 5 minutes of a trial', 'outage kubelet of today'],
    ['node: proof: kubelet of today: fault: kubelet is stopped for half a minute', 'fault kubelet of today'],
    ['node: proof: kubelet of today: kubeadm upgrades the node', 'proof kubelet of today'],
    ['node: proof: kubelet 1.20: a crash loop heals', 'proof kubelet 1.20'],
  ] as const) {
    t.strictSame(
      lanes.filter(({ words }) => isMeant(name, words)).map((one) => one.name),
      [lane],
      name,
    )
  }
})
