// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { type Base, type Desired, type FoundConfigMap, resolveDesired } from '../../src/decision/desired.ts'
import { parseLocated } from '../../src/kubelet/yaml.ts'
import { applyOverlay } from '../../src/overlay/apply.ts'
import { OverlaidSource } from '../../src/overlay/part-source.ts'
import { INSTANCE_CONFIG } from '../../src/overlay/patch-set.ts'
import { type OverlayView, readOverlay } from '../../src/overlay/read-overlay.ts'
import type { ConfigMapRef } from '../../src/subject/config-source.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { NO_LOCAL } from './local-configs.ts'

const HEARD = { channel: 'label', paused: undefined, problem: undefined } as const
const REF = { namespace: 'kube-system', name: 'x', kubeletConfigKey: 'kubelet' }
const found = (text: string): Desired => ({
  kind: 'config-map',
  ref: REF,
  object: { kind: 'found', uid: 'u', resourceVersion: '7', data: { kubelet: text } },
  channelState: HEARD,
})
const FOUND = found('maxPods: 1\n')
const PRESENT = await readOverlay(new Map([['a.yaml', Buffer.from('maxPods: 2\n')]]), IN_PLACE, parseLocated)
const FAULTY: OverlayView = { kind: 'faulty', detail: '/o/a.yaml: it is empty' }
const PENDING: OverlayView = { kind: 'pending' }
/** The config is being parsed. */
const WAITS: OverlayView = { kind: 'present', files: [], patches: [], render: () => undefined }
const NONE: OverlayView = { kind: 'none' }

t.test('without an overlay, the assignment stays as it is', async (t) => {
  t.equal(applyOverlay(FOUND, NONE), FOUND)
})

t.test('with an overlay, the rendering is a version of its own with its own content', async (t) => {
  const desired = applyOverlay(FOUND, PRESENT)
  t.match(desired, {
    kind: 'config-map',
    channelState: HEARD,
    object: { data: { kubelet: 'maxPods: 1\n' }, rendered: { data: { kubelet: /"maxPods": 2/ } } },
  })
  t.match(resolveDesired(desired), { uid: 'u', resourceVersion: '7', overlay: /^[0-9a-f]{16}$/ })
  t.notOk('overlay' in Object(resolveDesired(FOUND)))
})

t.test('a faulty overlay is an error and a pending one means unknown: never local, never without overlay', async (t) => {
  t.match(applyOverlay(FOUND, FAULTY), {
    kind: 'invalid',
    detail: /overlay cannot be used, see kubelet-cfg-agent log/,
    cause: '/o/a.yaml: it is empty',
    channelState: { channel: 'label', problem: /overlay/ },
  })
  t.match(applyOverlay(FOUND, PENDING), { kind: 'unknown', channelState: HEARD })
  const faults: string[] = []
  t.match(applyOverlay(found('num: 9007199254740993\n'), PRESENT, { onFault: (detail) => faults.push(detail) }), { kind: 'invalid' })
  t.match(faults, [/beyond 2\^53/])
})

t.test('the overlay does not apply to local, and unknown stays unknown', async (t) => {
  const others: Desired[] = [
    { kind: 'local', channelState: HEARD },
    { kind: 'unknown', detail: 'x' },
    { kind: 'invalid', detail: 'y' },
  ]
  for (const desired of others) for (const view of [NONE, PENDING, FAULTY, PRESENT]) t.equal(applyOverlay(desired, view), desired)
  const pending: Desired = { kind: 'config-map', ref: REF, object: { kind: 'pending' } }
  t.equal(applyOverlay(pending, PRESENT), pending)
})

t.test('kubeadm’s instance config is for kubeadm’s ConfigMap, and for a part that is merged over it', async (t) => {
  const instance = await readOverlay(
    new Map([['instance-config.yaml', Buffer.from('containerRuntimeEndpoint: unix:///crio.sock\n')]]),
    IN_PLACE,
    parseLocated,
  )
  const apply = (ref: ConfigMapRef, facts: Partial<FoundConfigMap> = {}, view: OverlayView = instance) => {
    const object: FoundConfigMap = { kind: 'found', uid: 'u', resourceVersion: '7', data: { kubelet: 'maxPods: 1\n' }, ...facts }
    return applyOverlay({ kind: 'config-map', ref, object, channelState: HEARD }, view, {}, INSTANCE_CONFIG)
  }
  const kubeadms = { namespace: 'kube-system', name: 'kubelet-config', kubeletConfigKey: 'kubelet' }
  const under = (base?: Base): Partial<FoundConfigMap> => ({
    base: { kind: 'config-map', text: 'kube-system/kubelet-config', ref: kubeadms },
    bases: {
      problem: undefined,
      views: [{ ref: kubeadms, object: { kind: 'found', uid: 'b', resourceVersion: '1', data: { kubelet: '' }, ...(base && { base }) } }],
    },
    mergedFrom: ['ConfigMap kube-system/kubelet-config:kubelet', 'ConfigMap kube-system/x:kubelet'],
  })
  const path = '/var/lib/kubelet/instance-config.yaml'
  t.match(apply(kubeadms), {
    object: {
      rendered: { data: { kubelet: /"containerRuntimeEndpoint": "unix:\/\/\/crio.sock"/ } },
      mergedFrom: ['ConfigMap kube-system/kubelet-config:kubelet', path],
    },
  })
  t.match(apply(REF, { ...under(), fields: [{ path: ['containerRuntimeEndpoint'], layer: 'x' }] }), {
    object: {
      fields: [{ path: ['containerRuntimeEndpoint'], layer: path }],
      rendered: {},
      mergedFrom: ['ConfigMap kube-system/kubelet-config:kubelet', 'ConfigMap kube-system/x:kubelet', path],
    },
  })
  const notRendered = (desired: Desired) => t.notOk(desired.kind === 'config-map' && 'rendered' in desired.object)
  notRendered(apply(REF))
  notRendered(apply({ ...kubeadms, namespace: 'default' }))
  notRendered(apply(kubeadms, { base: { kind: 'local', text: 'local' } }))
  notRendered(apply(REF, under({ kind: 'local', text: 'local' })))
  t.equal(apply(REF, {}, FAULTY).kind, 'config-map', 'a faulty one is no problem of others')
  t.match(apply(kubeadms, {}, FAULTY), { kind: 'invalid', detail: /kubeadm's instance config of this node cannot be used/ })
})

t.test('a source with an overlay follows both, and logs a fault once', async (t) => {
  const log = silentLog()
  const did: string[] = []
  const part = (name: string) => ({
    start: (onChange: () => void) => {
      did.push(`start ${name}`)
      onChange()
    },
    stop: async () => void did.push(`stop ${name}`),
  })
  const inner = { ...part('inner'), desired: () => found('num: 9007199254740993\n') }
  const source = new OverlaidSource(inner, { ...part('overlay'), view: () => PRESENT }, log)
  let changes = 0
  source.start(() => (changes += 1))
  t.equal(changes, 2)
  for (let look = 0; look < 3; look += 1) t.match(source.desired(NO_LOCAL), { kind: 'invalid' })
  t.equal(log.said.length, 1)
  await source.stop()
  t.same(did, ['start overlay', 'start inner', 'stop overlay', 'stop inner'])
})

t.test('an unavailable ConfigMap is reported whatever the overlay', async (t) => {
  for (const reason of ['not-found', 'forbidden'] as const) {
    const gone: Desired = { kind: 'config-map', ref: REF, object: { kind: 'unavailable', reason, detail: '' }, channelState: HEARD }
    for (const view of [FAULTY, PENDING, PRESENT]) t.equal(applyOverlay(gone, view), gone)
  }
})

t.test('a fault that comes back is logged again', async (t) => {
  const log = silentLog()
  let text = 'num: 9007199254740993\n'
  const part = { start: () => {}, stop: async () => {} }
  const source = new OverlaidSource({ ...part, desired: () => found(text) }, { ...part, view: () => PRESENT }, log)
  source.desired(NO_LOCAL)
  text = 'n: 1\n'
  source.desired(NO_LOCAL)
  t.equal(log.said.length, 1)
  text = 'num: 9007199254740993\n'
  source.desired(NO_LOCAL)
  t.equal(log.said.length, 2)
})

/** The config is being parsed from the second look on, until `finish`. */
function openWaiting(before: Desired) {
  const world = { inner: before, view: PRESENT }
  const part = { start: () => {}, stop: async () => {} }
  const source = new OverlaidSource({ ...part, desired: () => world.inner }, { ...part, view: () => world.view }, silentLog())
  const first = source.desired(NO_LOCAL)
  t.match(first, { object: { rendered: {} } })
  world.view = WAITS
  const look = (inner: Desired) => {
    world.inner = inner
    return source.desired(NO_LOCAL)
  }
  const finish = () => {
    world.view = PRESENT
    return source.desired(NO_LOCAL)
  }
  return { first, look, finish }
}

const paused = { on: 'Node', by: 'annotation' } as const
const PAUSED = { ...HEARD, paused } as const

t.test('a pause of the cluster counts at once, while the overlay is being applied', async (t) => {
  const { first, look } = openWaiting(FOUND)
  t.same(look({ ...found('maxPods: 3\n'), channelState: PAUSED }), { ...first, channelState: PAUSED })
})

t.test('its end counts with the edit that came with it, and does not let an earlier edit pass', async (t) => {
  const corrected = openWaiting({ ...FOUND, channelState: PAUSED })
  t.same(corrected.look(found('maxPods: 3\n')), corrected.first)
  t.match(corrected.finish(), { object: { data: { kubelet: 'maxPods: 3\n' } }, channelState: { paused: undefined } })

  const brief = openWaiting(FOUND)
  brief.look({ ...found('maxPods: 3\n'), channelState: PAUSED })
  t.match(brief.look(found('maxPods: 4\n')), { object: { data: { kubelet: 'maxPods: 1\n' } }, channelState: { paused } })
  t.match(brief.finish(), { object: { data: { kubelet: 'maxPods: 4\n' } }, channelState: { paused: undefined } })
})

t.test('what was not known before says nothing about why an overlay is not applied now', async (t) => {
  let inner: Desired = { kind: 'unknown', detail: 'the API server does not answer', silence: 'unreachable' }
  const part = { start: () => {}, stop: async () => {} }
  const source = new OverlaidSource({ ...part, desired: () => inner }, { ...part, view: () => WAITS }, silentLog())
  t.equal(source.desired(NO_LOCAL), inner)
  inner = FOUND
  t.match(source.desired(NO_LOCAL), { kind: 'unknown', detail: /is being applied/ })
})

t.test('kubeadm’s ConfigMap gets the resolvConf of systemd-resolved where nothing sets it', async (t) => {
  const read = (...files: [string, string][]) =>
    readOverlay(new Map(files.map(([name, text]) => [name, Buffer.from(text)])), IN_PLACE, parseLocated)
  const resolved = await read(['systemd-resolved', ''])
  const both = await read(['systemd-resolved', ''], ['instance-config.yaml', 'containerRuntimeEndpoint: unix:///crio.sock\n'])
  const apply = (text: string, view: OverlayView, name = 'kubelet-config') => {
    const object: FoundConfigMap = { kind: 'found', uid: 'u', resourceVersion: '7', data: { kubelet: text } }
    const ref = { namespace: 'kube-system', name, kubeletConfigKey: 'kubelet' }
    const desired: Desired = { kind: 'config-map', ref, object }
    const applied = applyOverlay(desired, view, {}, INSTANCE_CONFIG)
    if (applied === desired) return 'as it is'
    if (applied.kind !== 'config-map' || applied.object.kind !== 'found') return applied
    const { rendered, mergedFrom, fields } = applied.object
    return { config: JSON.parse(rendered?.data.kubelet ?? ''), mergedFrom, fields }
  }
  const own = 'ConfigMap kube-system/kubelet-config:kubelet'
  const layer = 'systemd-resolved of this node'
  const resolvConf = '/run/systemd/resolve/resolv.conf'
  const set = { config: { maxPods: 1, resolvConf }, mergedFrom: [own, layer], fields: [{ path: ['resolvConf'], layer }] }
  t.same(apply('maxPods: 1\n', resolved), set)
  t.same(apply('{"maxPods": 1}', resolved), set, 'in JSON')
  t.same(apply('maxPods: 1\nresolvConf: null\n', resolved), set, 'as for kubeadm, null is not set')
  t.equal(apply('maxPods: 1\nresolvConf: /x\n', resolved), 'as it is', 'it is another version only where it differs')
  t.equal(apply('maxPods: 1\nresolvConf: ""\n', resolved), 'as it is')
  t.equal(apply('maxPods: 1\n', resolved, 'other'), 'as it is')
  for (const text of ['{', '[1]', 'a: b: c\n']) t.equal(apply(text, resolved), 'as it is', 'it is no config: nothing is merged')
  const instance = '/var/lib/kubelet/instance-config.yaml'
  t.match(apply('maxPods: 1\n', both), { config: { resolvConf, containerRuntimeEndpoint: /crio/ }, mergedFrom: [own, layer, instance] })
  t.match(apply('resolvConf: /x\n', both), { config: { resolvConf: '/x' }, mergedFrom: [own, instance] })
})
