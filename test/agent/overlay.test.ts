// SPDX-License-Identifier: Apache-2.0
/**
 * An overlay of the node in the core: an edit of it goes the way that an edit of the ConfigMap
 * goes.
 */
import t from 'tap'
import { nextStep } from '../../src/decision/rules.ts'
import { parseLocated } from '../../src/kubelet/yaml.ts'
import { applyOverlay } from '../../src/overlay/apply.ts'
import { type OverlayView, readOverlay } from '../../src/overlay/read-overlay.ts'
import { A, configMap, dataOf, MINUTE_US, SECOND_US, snapshot, textOf, wants } from '../decision/snapshots.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

/** The config that the overlay of this number makes of A. */
const laid = (number: number) => configMap('a', `laid-${number}`)
const hash = (number: number) => String(number).repeat(16)
const view = (number: number): OverlayView => {
  const applied = [{ name: 'a.yaml', patch: {} }]
  const rendering = { ok: true, rendered: { overlay: hash(number), data: { kubelet: textOf(laid(number)) } }, applied } as const
  return { kind: 'present', files: ['a.yaml'], patches: [], render: () => rendering }
}
const overlaid = (number: number) => ({ ...A, overlay: hash(number) })
const NONE: OverlayView = { kind: 'none' }
const FAULTY: OverlayView = { kind: 'faulty', detail: 'a.yaml: it is empty' }

async function lay(world: SmallWorld, overlay: OverlayView, us = 15 * MINUTE_US): Promise<void> {
  world.desired = applyOverlay(
    { kind: 'config-map', ref: refOf(A), object: { kind: 'found', uid: A.uid, resourceVersion: '1', data: dataOf(A) } },
    overlay,
  )
  await world.run(us)
}

const refOf = ({ namespace, name, kubeletConfigKey }: typeof A) => ({ namespace, name, kubeletConfigKey })

t.test('it is assigned in place, promoted, and taken away again; the checkpoint stays what it was', async (t) => {
  const world = new SmallWorld()
  await lay(world, NONE)
  t.strictSame(world.record('last-known-good'), A)
  await lay(world, view(1))
  t.equal(await world.running(), textOf(laid(1)))
  t.strictSame(world.record('last-known-good'), overlaid(1))
  t.strictSame(world.record('previous'), A)
  t.same(world.checkpoints.data(A.uid, '1'), dataOf(A))
  t.match(world.steps.filter(({ kind }) => kind === 'assign').at(-1), { shared: true, source: overlaid(1) })
  await lay(world, NONE)
  t.equal(await world.running(), textOf(A))
  t.strictSame(world.record('last-known-good'), A)
  t.equal(world.restartsAskedAtUs.length, 3)
})

t.test('an edit that crashes kubelet falls back to the rendering before it', async (t) => {
  const world = new SmallWorld()
  await lay(world, view(1))
  world.behave(laid(2), CRASHES)
  await lay(world, view(2), 90 * SECOND_US)
  t.equal(await world.running(), textOf(laid(1)))
  t.match(world.history.at(-2), { kind: 'rolled-back', from: overlaid(2), to: overlaid(1) })
  await lay(world, view(1))
  t.strictSame(world.record('assigned'), overlaid(1))
  t.strictSame(world.record('last-known-good'), overlaid(1))
})

t.test('one that preflight refuses, and one that cannot be used, restart nothing', async (t) => {
  const world = new SmallWorld()
  await lay(world, view(1))
  world.preflight = ({ kubelet }) =>
    kubelet === textOf(laid(2)) ? { kind: 'refused', reason: 'validate', detail: 'x' } : { kind: 'accepted', remarks: [], drain: [] }
  await lay(world, view(2))
  await lay(world, FAULTY)
  t.equal(await world.running(), textOf(laid(1)))
  t.equal(world.restartsAskedAtUs.length, 1)
  t.strictSame(world.record('assigned'), overlaid(2), 'the refused one is what was wanted last')
})

t.test('files that are written anew with the same meaning change nothing at all', async (t) => {
  const read = (text: string) => readOverlay(new Map([['a.yaml', Buffer.from(text)]]), IN_PLACE, parseLocated)
  const data = { kubelet: 'maxPods: 1\n' }
  const world = new SmallWorld()
  const want = async (text: string) => {
    world.desired = applyOverlay(
      { kind: 'config-map', ref: refOf(A), object: { kind: 'found', uid: A.uid, resourceVersion: '1', data } },
      await read(text),
    )
    await world.run(15 * MINUTE_US)
  }
  await want('{a: 1, b: 2}')
  t.match(world.record('last-known-good'), { overlay: /./ })
  const settled = world.steps.length
  await want('a: 1 # one\nb: 2\n')
  t.ok(world.steps.slice(settled).every(({ kind }) => kind === 'wait'))
})

t.test('an agent that starts anew in the middle of it goes on', async (t) => {
  const world = new SmallWorld()
  await lay(world, view(1))
  world.behave(laid(2), CRASHES)
  await lay(world, view(2), 3 * SECOND_US)
  world.restartAgent()
  await lay(world, view(2), 120 * SECOND_US)
  t.equal(await world.running(), textOf(laid(1)))
  t.strictSame(world.record('last-known-good'), overlaid(1))
})

t.test(
  'the same version from a restored etcd: the rendering of other content is judged before it takes the place of what kubelet starts with',
  async (t) => {
    const named = { nextStart: { kind: 'known', held: { source: overlaid(1), content: 'before' } } } as const
    const desired = applyOverlay(wants(A).desired, view(1))
    const facts = { ...named, desired, desiredContent: 'after', storedContent: 'before', accepted: new Map() }
    t.match(nextStep(snapshot(facts)), { kind: 'preflight', source: overlaid(1), data: { kubelet: textOf(laid(1)) } })
  },
)

t.test('another key of the same ConfigMap is another rendering: the one that kubelet starts with stays what it was', async (t) => {
  const overlay = await readOverlay(new Map([['a.yaml', Buffer.from('maxPods: 62\n')]]), IN_PLACE, parseLocated)
  const data = { red: 'maxPods: 1\n', blue: 'maxPods: 2\n' }
  const choose = (key: keyof typeof data | 'gren') =>
    applyOverlay(
      {
        kind: 'config-map',
        ref: { ...refOf(A), kubeletConfigKey: key },
        object: { kind: 'found', uid: A.uid, resourceVersion: '1', data },
      },
      overlay,
    )
  const world = new SmallWorld()
  world.desired = choose('red')
  await world.run(15 * MINUTE_US)
  const red = world.record('last-known-good')
  if (red === undefined || red === 'local') return t.fail('it is promoted')
  const kept = world.checkpoints.data(red.uid, red.resourceVersion, red.overlay)
  world.requests = { ...world.requests, hold: 'paused' }
  world.desired = choose('blue')
  await world.run(15 * MINUTE_US)
  t.match(world.record('assigned'), { kubeletConfigKey: 'blue' })
  t.strictSame(world.record('last-known-good'), red)
  t.match(world.records.get('proven')?.key, /./)
  t.strictSame(world.checkpoints.data(red.uid, red.resourceVersion, red.overlay), kept)
  world.requests = { ...world.requests, hold: 'none' }
  await world.run(15 * MINUTE_US)
  t.match(world.record('last-known-good'), { kubeletConfigKey: 'blue' })
  t.strictSame(world.record('previous'), red)
  world.preflight = ({ gren }) =>
    gren === undefined ? { kind: 'refused', reason: 'load', detail: 'x' } : { kind: 'accepted', remarks: [], drain: [] }
  world.desired = choose('gren')
  await world.run(MINUTE_US)
  t.match(world.record('assigned'), { kubeletConfigKey: 'gren' }, 'a mistyped one is wanted, and refused')
  t.match(world.record('last-known-good'), { kubeletConfigKey: 'blue' })
})

t.test('a checkpoint that kubelet never starts with, and that cannot be read, stops no decision', async (t) => {
  const world = new SmallWorld()
  await lay(world, view(1))
  const directory = world.checkpoints.path(A).replace(/\/[^/]*$/, '')
  world.disk.readFaultOf = (path) => (path.startsWith(directory) ? 'EACCES' : undefined)
  world.behave(laid(2), CRASHES)
  await lay(world, view(2))
  t.strictSame(world.record('assigned'), overlaid(2))
  t.equal(await world.running(), textOf(laid(1)), 'a failing config is left all the same')
  t.match(world.log.said.join('\n'), /the checkpoint of .* cannot be read, and is left unchanged/)
})
