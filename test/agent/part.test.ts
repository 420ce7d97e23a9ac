// SPDX-License-Identifier: Apache-2.0
/**
 * A part over the local config in the core: the result goes the way that a whole config goes, and
 * an edit of the local config goes the way that an edit of the ConfigMap goes.
 */
import t from 'tap'
import type { Base, ConfigMapView, Desired } from '../../src/decision/desired.ts'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import { mergePart } from '../../src/overlay/merge-part.ts'
import { PartSource } from '../../src/overlay/part-source.ts'
import { A, MINUTE_US, SECOND_US } from '../decision/snapshots.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { localConfig } from '../overlay/local-configs.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

const LOCAL: Base = { kind: 'local', text: 'local' }
const REF = { namespace: A.namespace, name: A.name, kubeletConfigKey: A.kubeletConfigKey }
const PART = 'maxPods: 200\n'
const TRIAL_US = 15 * MINUTE_US

const assigned = (text: string, resourceVersion: string, base: Base | 'none' = LOCAL, extra: object = {}): Desired => ({
  kind: 'config-map',
  ref: REF,
  object: { kind: 'found', uid: A.uid, resourceVersion, data: { kubelet: text }, ...(base !== 'none' && { base }), ...extra },
})

/** A node with the real merging, whose assignment the test sets in `desired`. */
function open(local: string): SmallWorld {
  const world = new SmallWorld()
  world.editLocal(local)
  startAgent(world)
  return world
}

function startAgent(world: SmallWorld): void {
  const inner = { desired: () => world.desired, start: () => {}, stop: async () => {} }
  const pace = { nowMs: () => world.nowUs / 1000, sleep: () => new Promise<void>(() => {}) }
  world.assignment = new PartSource(inner, { merge: (bases, data, key) => mergePart(bases, data, key, IN_PLACE), pace, log: world.log })
  world.restartAgent()
}

async function want(world: SmallWorld, desired: Desired, us = TRIAL_US): Promise<void> {
  world.desired = desired
  await world.run(us)
}

async function fieldsOf(world: SmallWorld): Promise<Record<string, unknown>> {
  return JSON.parse((await world.running()) ?? '')
}

function lastKnownGood(world: SmallWorld) {
  const source = world.record('last-known-good')
  if (source === undefined || source === 'local') throw new Error('nothing is promoted')
  return source
}

t.test('the result is tried and promoted, and the checkpoint has the part byte for byte', async (t) => {
  const world = open(localConfig('maxPods: 110\nclusterDomain: a.example\n'))
  await want(world, assigned(PART, '1'))
  t.match(await fieldsOf(world), { kind: 'KubeletConfiguration', maxPods: 200, clusterDomain: 'a.example' })
  t.match(lastKnownGood(world), { ...REF, resourceVersion: '1', overlay: /^[0-9a-f]{16}$/ })
  t.same(world.checkpoints.data(A.uid, '1'), { kubelet: PART })
  t.equal(world.restartsAskedAtUs.length, 1)
})

t.test('what a part is merged from is written down for status, which asks nobody', async (t) => {
  const world = open(localConfig('clusterDomain: a.example\n'))
  const heard = (desired: Desired): Desired => ({ ...desired, channelState: { channel: 'label', paused: undefined, problem: undefined } })
  await want(world, heard(assigned(PART, '1')), MINUTE_US)
  const layers = ['/var/lib/kubelet/config.yaml', `ConfigMap ${A.namespace}/${A.name}:${A.kubeletConfigKey}`]
  const fields = [{ path: ['maxPods'], layer: layers[1] }]
  t.match(world.records.get('channel-state'), { layers, fields })
  world.editLocal('[')
  await world.run(MINUTE_US)
  t.match(world.records.get('channel-state'), { layers, fields }, 'while it cannot be merged')
  await want(world, heard(assigned(localConfig('maxPods: 1\n'), '2', 'none')), MINUTE_US)
  t.match(world.records.get('channel-state'), { layers: undefined, fields: undefined })
})

t.test('a local config that changes is merged and tried again; what was promoted stays what it was', async (t) => {
  const world = open(localConfig('clusterDomain: a.example\n'))
  await want(world, assigned(PART, '1'))
  const before = lastKnownGood(world)
  const kept = world.checkpoints.data(A.uid, '1', before.overlay)
  world.editLocal(localConfig('clusterDomain: b.example\n'))
  await world.run(TRIAL_US)
  t.match(await fieldsOf(world), { maxPods: 200, clusterDomain: 'b.example' })
  t.match(world.steps.filter(({ kind }) => kind === 'assign').at(-1), { shared: true })
  t.match(world.history.filter(({ kind }) => kind === 'assigned').at(-1), {
    why: "a base or a layer of it, or this node's overlay, was updated: this node makes something else of it",
  })
  t.strictSame(world.record('previous'), before)
  t.strictSame(world.checkpoints.data(A.uid, '1', before.overlay), kept)
})

t.test('a change of the local config with which kubelet crashes falls back to the result before it', async (t) => {
  const world = open(localConfig('clusterDomain: a.example\n'))
  await want(world, assigned(PART, '1'))
  const before = lastKnownGood(world)
  const bad = localConfig('clusterDomain: bad.example\n')
  const result = await mergePart({ root: { kind: 'local', name: '', text: bad }, parts: [] }, { kubelet: PART }, 'kubelet', IN_PLACE)
  world.behaveWith(result.ok ? (result.rendered.data.kubelet ?? '') : '', CRASHES)
  world.editLocal(bad)
  await world.run(5 * MINUTE_US)
  t.match(await fieldsOf(world), { clusterDomain: 'a.example' })
  t.strictSame(world.record('last-known-good'), before)
  t.match(
    world.history.find(({ kind }) => kind === 'rolled-back'),
    { to: before },
  )
  world.editLocal(localConfig('clusterDomain: c.example\n'))
  await world.run(TRIAL_US)
  t.match(await fieldsOf(world), { clusterDomain: 'c.example' }, 'kubeadm corrects it')
  t.equal(lastKnownGood(world).resourceVersion, '1')
})

t.test('a local config that changes during the trial is what is tried from then on, and back', async (t) => {
  const world = open(localConfig('clusterDomain: a.example\n'))
  await want(world, assigned(PART, '1'))
  const before = lastKnownGood(world)
  world.editLocal(localConfig('clusterDomain: b.example\n'))
  await world.run(2 * MINUTE_US)
  t.match(await fieldsOf(world), { clusterDomain: 'b.example' })
  world.editLocal(localConfig('clusterDomain: c.example\n'))
  await world.run(2 * MINUTE_US)
  t.match(await fieldsOf(world), { clusterDomain: 'c.example' })
  t.strictSame(world.record('last-known-good'), before, 'nothing is promoted before its own trial')
  world.editLocal(localConfig('clusterDomain: a.example\n'))
  await world.run(TRIAL_US)
  t.match(await fieldsOf(world), { clusterDomain: 'a.example' })
  t.strictSame(world.record('last-known-good'), before)
})

t.test('a base that cannot be used during the trial neither ends nor prolongs it', async (t) => {
  const world = open(localConfig('clusterDomain: a.example\n'))
  await want(world, assigned(PART, '1'), 2 * MINUTE_US)
  world.editLocal('clusterDomain: [\n')
  await world.run(TRIAL_US)
  t.equal(world.snapshots.at(-1)?.desired.kind, 'invalid')
  t.match(lastKnownGood(world), { resourceVersion: '1' })
  t.equal(world.restartsAskedAtUs.length, 1)
})

t.test('a local config written anew with the same meaning restarts nothing', async (t) => {
  const world = open(localConfig('clusterDomain: a.example\npodPidsLimit: 9\n'))
  await want(world, assigned(PART, '1'))
  world.editLocal(`# kubeadm\n${localConfig('podPidsLimit: 9\nclusterDomain: "a.example"\n')}`)
  await world.run(TRIAL_US)
  t.equal(world.restartsAskedAtUs.length, 1)
})

t.test('a local config, a part or an annotation that cannot be used restarts nothing, also for an agent that starts anew', async (t) => {
  const good = localConfig('clusterDomain: a.example\n')
  const world = open(good)
  await want(world, assigned(PART, '1'))
  const before = lastKnownGood(world)
  const invalid: Base = { kind: 'invalid', text: 'lokal', detail: 'x' }
  const spoilt: readonly (readonly [local: string | undefined, desired: Desired])[] = [
    ['clusterDomain: [\n', assigned(PART, '1')],
    ['', assigned(PART, '1')],
    [undefined, assigned(PART, '1')],
    [good, assigned('maxPods: [\n', '2')],
    [good, assigned(localConfig('maxPods: 3\n'), '3', invalid)],
  ]
  for (const [local, desired] of spoilt) {
    if (local === undefined) world.disk.removeTree('/var/lib/kubelet/config.yaml')
    else world.editLocal(local)
    await want(world, desired, 2 * MINUTE_US)
    t.equal(world.snapshots.at(-1)?.desired.kind, 'invalid')
    startAgent(world)
    await world.run(2 * MINUTE_US)
    t.equal(world.snapshots.at(-1)?.desired.kind, 'invalid')
  }
  t.equal(world.restartsAskedAtUs.length, 1)
  t.strictSame(world.record('assigned'), before)
  t.strictSame(world.record('last-known-good'), before)
  world.editLocal(good)
  await want(world, assigned(PART, '1'))
  t.equal(world.restartsAskedAtUs.length, 1)
  t.strictSame(world.record('last-known-good'), before)
})

t.test('a rollback needs neither the local config nor the API server', async (t) => {
  const world = open(localConfig('clusterDomain: a.example\n'))
  await want(world, assigned(PART, '1'))
  const before = lastKnownGood(world)
  await want(world, assigned('maxPods: 300\n', '2'), 30 * SECOND_US)
  t.match(await fieldsOf(world), { maxPods: 300 })
  world.disk.removeTree('/var/lib/kubelet/config.yaml')
  world.desired = { kind: 'unknown', detail: 'the API server does not answer' }
  startAgent(world)
  world.behaveWith((await world.running()) ?? '', CRASHES)
  await world.unit.restart('other')
  await world.run(5 * MINUTE_US)
  t.match(await fieldsOf(world), { maxPods: 200, clusterDomain: 'a.example' })
  t.strictSame(world.record('last-known-good'), before)
})

t.test('a node that had the whole config of a ConfigMap takes it as a part, and back', async (t) => {
  const world = open(localConfig('clusterDomain: a.example\n'))
  const whole = localConfig('maxPods: 200\n')
  await want(world, assigned(whole, '1', 'none'))
  t.equal(await world.running(), whole)
  await want(world, assigned(whole, '2'))
  t.match(await fieldsOf(world), { maxPods: 200, clusterDomain: 'a.example' })
  await want(world, assigned(whole, '3', 'none'))
  t.equal(await world.running(), whole)
  t.notOk('overlay' in lastKnownGood(world))
})

t.test(
  'an edit of a ConfigMap under the part is tried; one with which kubelet crashes falls back, and a base that is gone changes nothing',
  async (t) => {
    const ref = { namespace: 'ns', name: 'pool', kubeletConfigKey: 'kubelet' }
    const over = (base: ConfigMapView): Desired =>
      assigned(PART, '1', { kind: 'config-map', text: 'ns/pool', ref }, { bases: { views: [{ ref, object: base }], problem: undefined } })
    const pool = (text: string, resourceVersion: string): ConfigMapView => ({
      kind: 'found',
      uid: 'p',
      resourceVersion,
      data: { kubelet: text },
    })
    const world = open('the local config is not read')
    await want(world, over(pool(localConfig('clusterDomain: a.example\n'), '1')))
    t.match(await fieldsOf(world), { maxPods: 200, clusterDomain: 'a.example' })
    await want(world, over(pool(localConfig('clusterDomain: b.example\n'), '2')))
    t.match(await fieldsOf(world), { maxPods: 200, clusterDomain: 'b.example' })
    t.match(world.history.filter(({ kind }) => kind === 'assigned').at(-1), {
      why: "a base or a layer of it, or this node's overlay, was updated: this node makes something else of it",
    })
    const before = lastKnownGood(world)
    const bad = localConfig('clusterDomain: bad.example\n')
    const root = { kind: 'config-map', name: '', text: bad } as const
    const result = await mergePart({ root, parts: [] }, { kubelet: PART }, 'kubelet', IN_PLACE)
    world.behaveWith(result.ok ? (result.rendered.data.kubelet ?? '') : '', CRASHES)
    await want(world, over(pool(bad, '3')), 5 * MINUTE_US)
    t.match(await fieldsOf(world), { clusterDomain: 'b.example' })
    const restarts = world.restartsAskedAtUs.length
    for (const reason of ['not-found', 'forbidden', 'unreachable'] as const) {
      await want(world, over({ kind: 'unavailable', reason, detail: 'x' }), 2 * MINUTE_US)
      t.match(world.snapshots.at(-1)?.desired, {
        kind: 'invalid',
        detail: /^ConfigMap ns\/pool:kubelet under the assigned part cannot be read: /,
      })
    }
    await want(world, over({ kind: 'pending' }), 2 * MINUTE_US)
    t.equal(world.restartsAskedAtUs.length, restarts)
    t.strictSame(world.record('last-known-good'), before)
  },
)

t.test('a rollout knows a part by its text and its annotation, and not by what a node makes of it', async (t) => {
  const data = { kubelet: PART }
  const world = open(localConfig('clusterDomain: a.example\n'))
  await want(world, assigned(PART, '1', LOCAL, { rollout: { record: 'r', plan: undefined } }), 10 * SECOND_US)
  t.match(world.snapshots.at(-1)?.stagings, [{ contents: [{ hash: hashConfig(data, 'kubelet', { base: 'local', under: [] }) }] }])
})

t.test('an edit of a layer is tried; one with which kubelet crashes falls back, and a layer that is gone is, too', async (t) => {
  const ref = { namespace: 'ns', name: 'gpu', kubeletConfigKey: 'kubelet' }
  const whole = localConfig('maxPods: 100\n')
  const under = (text: string | undefined): Desired => {
    const object: ConfigMapView = { kind: 'found', uid: 'l', resourceVersion: '1', data: { kubelet: text ?? '' } }
    return assigned(whole, '1', 'none', text === undefined ? {} : { layers: [{ ref, object }] })
  }
  const world = open('the local config is not read')
  await want(world, under(undefined))
  t.equal(await world.running(), whole)
  await want(world, under('maxPods: 50\n'))
  t.match(await fieldsOf(world), { maxPods: 50 })
  t.match(world.history.filter(({ kind }) => kind === 'assigned').at(-1), {
    why: /^a base or a layer of it, or this node's overlay, was updated/,
  })
  const before = lastKnownGood(world)
  const layers = [{ name: '', text: 'maxPods: 9\n' }]
  const result = await mergePart({ root: undefined, parts: [], layers }, { kubelet: whole }, 'kubelet', IN_PLACE)
  world.behaveWith(result.ok ? (result.rendered.data.kubelet ?? '') : '', CRASHES)
  await want(world, under('maxPods: 9\n'), 5 * MINUTE_US)
  t.match(await fieldsOf(world), { maxPods: 50 })
  t.strictSame(world.record('last-known-good'), before)
  await want(world, under('maxPods: [\n'), 2 * MINUTE_US)
  t.equal(world.snapshots.at(-1)?.desired.kind, 'invalid')
  t.match(await fieldsOf(world), { maxPods: 50 })
  await want(world, under(undefined))
  t.equal(await world.running(), whole)
  t.notOk('overlay' in lastKnownGood(world))
})
