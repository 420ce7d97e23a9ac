// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DropInActivation } from '../../src/systemd/drop-in-activation.ts'
import { dropInWiring } from '../../src/systemd/wiring-kinds.ts'
import { bytesOf, CONFIG, DIRECTORY, ORIGINAL, pathOf, sourceOf, worldWith } from './disk.ts'

const A = sourceOf('101')
const B = sourceOf('102')
const DROP_INS = '/etc/kubernetes/kubelet/config.json.d'
const WIRING = dropInWiring(DROP_INS)
const fresh = () => {
  const world = worldWith(A, B)
  world.disk.plant(`${DROP_INS}/40-nodeadm.conf`, 'theirs')
  const start = () => new DropInActivation({ ...world, dynamicConfigDir: DIRECTORY, runtimeDir: '/run/kubelet-cfg-agent' })
  return { ...world, start, activation: start(), text: () => world.files.read(WIRING.path)?.toString() }
}
const names = ({ files }: ReturnType<typeof fresh>) => files.list(DROP_INS)

t.test('adds one file, and changes no other', async (t) => {
  const world = fresh()
  const { activation, text, files } = world
  t.strictSame(activation.read(WIRING), { kind: 'local', since: undefined }, 'before any activation')
  activation.stage('local', WIRING)
  t.strictSame(names(world), ['40-nodeadm.conf'], 'the absence of the file needs nothing staged')
  activation.activate(A, WIRING)
  t.equal(text(), bytesOf(A))
  t.strictSame(names(world), ['.90-kubelet-cfg-agent.conf.record', '40-nodeadm.conf', '90-kubelet-cfg-agent.conf'])
  t.match(activation.read(WIRING), { kind: 'checkpoint', source: A, since: { bootId: 'boot-1', monotonicUs: 50e6 } })
  activation.stage(A, WIRING)
  activation.activate(B, WIRING)
  t.equal(text(), bytesOf(B))
  world.time.monotonicUs = 70e6
  activation.activate('local', WIRING)
  t.strictSame(activation.read(WIRING), { kind: 'local', since: { bootId: 'boot-1', monotonicUs: 70e6 } })
  t.strictSame(names(world), ['40-nodeadm.conf'])
  t.equal(files.read(`${DROP_INS}/40-nodeadm.conf`)?.toString(), 'theirs')
  t.equal(files.read(CONFIG)?.toString(), ORIGINAL)
})

t.test('at no step is there another file that kubelet would read', async (t) => {
  const world = fresh()
  const seen = new Set<string>()
  world.disk.onStep = () => {
    for (const name of world.disk.list(DROP_INS) ?? []) if (name.endsWith('.conf')) seen.add(name)
  }
  for (const source of [A, B, 'local', A] as const) {
    world.activation.stage(A, WIRING)
    world.activation.activate(source, WIRING)
  }
  world.disk.onStep = undefined
  t.strictSame([...seen].sort(), ['40-nodeadm.conf', '90-kubelet-cfg-agent.conf'])
})

t.test('kubelet reads it as root alone', async (t) => {
  const world = fresh()
  world.activation.activate(A, WIRING)
  t.equal((world.files.stat(WIRING.path)?.mode ?? 0) & 0o777, 0o600)
})

t.test('a file that the agent did not write is unknown, and a new activation replaces it', async (t) => {
  const world = fresh()
  world.disk.plant(WIRING.path, 'not ours')
  t.match(world.activation.read(WIRING), { kind: 'unknown', detail: /record .* is lost$/, unrecorded: true })
  world.activation.activate(A, WIRING)
  world.disk.plant(WIRING.path, 'not ours')
  const state = world.activation.read(WIRING)
  t.match(state, { kind: 'unknown', detail: /not written by the agent: remove it$/ })
  t.notMatch(state, { unrecorded: true })
  world.activation.activate(A, WIRING)
  t.match(world.activation.read(WIRING), { kind: 'checkpoint', source: A })
})

t.test('two damaged records make the content unknown, and withdraw nothing that is not known', async (t) => {
  const world = fresh()
  world.activation.activate(A, WIRING)
  const [name = ''] = world.files.list(`${DIRECTORY}/drop-ins`) ?? []
  for (const path of [`${DIRECTORY}/drop-ins/${name}`, `${DROP_INS}/.90-kubelet-cfg-agent.conf.record`]) world.disk.plant(path, '{')
  t.match(world.start().read(WIRING), { kind: 'unknown', detail: /record is damaged$|json is damaged$/, unrecorded: true })
  world.start().withdraw('everything', { kind: 'unknown', detail: 'no answer' }, (path) => t.fail(path))
  t.equal(world.text(), bytesOf(A))
  world.start().activate('local', WIRING)
  t.equal(world.text(), undefined, 'with the wiring, local is always reached')
})

t.test('distinguishes versions with the same content, and does not replace the file for them', async (t) => {
  const world = fresh()
  const again = sourceOf('103')
  world.disk.plant(pathOf(again), bytesOf(A))
  world.activation.activate(A, WIRING)
  world.time.monotonicUs = 60e6
  world.activation.stage(A, WIRING)
  world.activation.activate(again, WIRING)
  t.match(world.activation.read(WIRING), { source: again, since: { monotonicUs: 50e6 } })
})

t.test('a checkpoint that got other content is not in place before it is activated again', async (t) => {
  const world = fresh()
  world.activation.activate(A, WIRING)
  world.disk.plant(pathOf(A), 'other bytes')
  t.match(world.activation.read(WIRING), { kind: 'unknown', detail: /holds what .* was before/ })
})

t.test('a missing directory is not created: kubelet would not start without it, whatever the agent does', async (t) => {
  const world = fresh()
  t.throws(() => world.activation.activate(A, dropInWiring('/etc/nowhere')), { code: 'ENOENT' })
})
