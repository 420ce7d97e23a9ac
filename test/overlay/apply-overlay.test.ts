import t from 'tap'
import type { Desired } from '../../src/decision/desired.ts'
import { resolveDesired } from '../../src/decision/desired.ts'
import * as yaml from '../../src/kubelet/yaml.ts'
import { layOver } from '../../src/overlay/lay-over.ts'
import { OverlaidSource } from '../../src/overlay/overlaid-source.ts'
import { readOverlay } from '../../src/overlay/read-overlay.ts'
import type { OverlayView } from '../../src/overlay/view.ts'
import { silentLog } from '../checkpoint/silent-log.ts'

const HEARD = { channel: 'label', paused: undefined, problem: undefined } as const
const REF = { namespace: 'kube-system', name: 'x', kubeletConfigKey: 'kubelet' }
const found = (text: string): Desired => ({
  kind: 'config-map',
  ref: REF,
  object: { kind: 'found', uid: 'u', resourceVersion: '7', data: { kubelet: text } },
  channelState: HEARD,
})
const FOUND = found('maxPods: 1\n')
const PRESENT = readOverlay(new Map([['a.yaml', Buffer.from('maxPods: 2\n')]]), yaml)
const FAULTY: OverlayView = { kind: 'faulty', detail: '/o/a.yaml: it is empty' }
const PENDING: OverlayView = { kind: 'pending' }
const NONE: OverlayView = { kind: 'none' }

t.test('without an overlay nothing is different', async (t) => {
  t.equal(layOver(FOUND, NONE), FOUND)
})

t.test('with one, it is a version of its own with a content of its own', async (t) => {
  const desired = layOver(FOUND, PRESENT)
  t.match(desired, {
    kind: 'config-map',
    channelState: HEARD,
    object: { data: { kubelet: 'maxPods: 1\n' }, rendered: { data: { kubelet: /"maxPods": 2/ } } },
  })
  t.match(resolveDesired(desired), { uid: 'u', resourceVersion: '7', overlay: /^[0-9a-f]{16}$/ })
  t.notOk('overlay' in Object(resolveDesired(FOUND)))
})

t.test('one that cannot be used is an error, one that is not known yet is unknown: neither is ever local or without overlay', async (t) => {
  t.match(layOver(FOUND, FAULTY), {
    kind: 'invalid',
    detail: /overlay cannot be used, see kubelet-cfg-agent log/,
    channelState: { channel: 'label', problem: /overlay/ },
  })
  t.match(layOver(FOUND, PENDING), { kind: 'unknown', channelState: HEARD })
  const said: string[] = []
  t.match(
    layOver(found('n: 9007199254740993\n'), PRESENT, (detail) => said.push(detail)),
    { kind: 'invalid' },
  )
  t.match(said, [/too large/])
})

t.test('nothing is laid over local, and what is not known stays so', async (t) => {
  const others: Desired[] = [
    { kind: 'local', channelState: HEARD },
    { kind: 'unknown', detail: 'x' },
    { kind: 'invalid', detail: 'y' },
  ]
  for (const desired of others) for (const view of [NONE, PENDING, FAULTY, PRESENT]) t.equal(layOver(desired, view), desired)
  const pending: Desired = { kind: 'config-map', ref: REF, object: { kind: 'pending' } }
  t.equal(layOver(pending, PRESENT), pending)
})

t.test('a source with an overlay: both are followed, and a fault is said once', async (t) => {
  const log = silentLog()
  const did: string[] = []
  const part = (name: string) => ({
    start: (onChange: () => void) => {
      did.push(`start ${name}`)
      onChange()
    },
    stop: async () => void did.push(`stop ${name}`),
  })
  const inner = { ...part('inner'), desired: () => found('n: 9007199254740993\n') }
  const source = new OverlaidSource(inner, { ...part('overlay'), view: () => PRESENT }, log)
  let changes = 0
  source.start(() => (changes += 1))
  t.equal(changes, 2)
  for (let look = 0; look < 3; look += 1) t.match(source.desired(), { kind: 'invalid' })
  t.equal(log.said.length, 1)
  await source.stop()
  t.same(did, ['start overlay', 'start inner', 'stop overlay', 'stop inner'])
})

t.test('a ConfigMap that cannot be had is what is said, whatever the overlay', async (t) => {
  for (const reason of ['not-found', 'forbidden'] as const) {
    const gone: Desired = { kind: 'config-map', ref: REF, object: { kind: 'unavailable', reason, detail: '' }, channelState: HEARD }
    for (const view of [FAULTY, PENDING, PRESENT]) t.equal(layOver(gone, view), gone)
  }
})

t.test('a fault that comes back is said again', async (t) => {
  const log = silentLog()
  let text = 'n: 9007199254740993\n'
  const part = { start: () => {}, stop: async () => {} }
  const source = new OverlaidSource({ ...part, desired: () => found(text) }, { ...part, view: () => PRESENT }, log)
  source.desired()
  text = 'n: 1\n'
  source.desired()
  t.equal(log.said.length, 1)
  text = 'n: 9007199254740993\n'
  source.desired()
  t.equal(log.said.length, 2)
})
