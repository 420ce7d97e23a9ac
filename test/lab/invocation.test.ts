/** The command line of the tests on real components, and the lanes that it makes. */
import t from 'tap'
import { readInvocation } from '../real/invocation.ts'
import { MINORS, modernKubeletMinor, suiteFor } from '../real/lab/node-choice.ts'
import { chooseLanes } from '../real/lane-plan.ts'

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
  t.throws(() => readInvocation(['--kubelet', '1.19']), /no kubelet 1\.19 is known here, only 1\.20, 1\.24, /)
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
  for (const lane of ['api', 'node', 'node-2', 'install', 'rollout', 'corpus', 'fault kubelet of today', 'proof kubelet 1.20'])
    t.ok(whole.includes(lane), lane)
  const newest = `1.${Math.max(...MINORS)}`
  t.match(
    chooseLanes([], true, undefined)?.filter(({ kubelet }) => kubelet !== undefined),
    [{ name: `node ${newest}`, kubelet: newest }],
    'a lane for the nodes of the newest kubelet',
  )
  t.strictSame(
    chooseLanes([], true, undefined, false)?.filter(({ kubelet }) => kubelet !== undefined),
    [],
    'none where KUBEBUILDER_ASSETS gives the kubelet',
  )
  t.strictSame(namesOf([], true, 28), ['fault kubelet of today', 'proof kubelet of today', 'node', 'node-2', 'install', 'corpus'])
  t.strictSame(namesOf([], true, 20), ['fault kubelet 1.20', 'proof kubelet 1.20', 'node', 'node-2', 'install', 'corpus'])
})
