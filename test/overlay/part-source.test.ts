// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { Evaluator } from '../../src/cel/evaluator.ts'
import { type Base, type BaseView, type Desired, resolveDesired } from '../../src/decision/desired.ts'
import { parseLocated } from '../../src/kubelet/yaml.ts'
import { mergePart } from '../../src/overlay/merge-part.ts'
import { OverlaidSource, PartSource } from '../../src/overlay/part-source.ts'
import { type OverlayView, readOverlay } from '../../src/overlay/read-overlay.ts'
import type { LocalConfigView, NodeView } from '../../src/ports/assignment-source.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { found, localConfig, NO_LOCAL } from './local-configs.ts'

const HEARD = { channel: 'label', paused: undefined, problem: undefined } as const
const LOCAL: Base = { kind: 'local', text: 'local' }
const assigned = (text: string, base?: Base, resourceVersion = '7'): Desired => ({
  kind: 'config-map',
  ref: { namespace: 'kube-system', name: 'x', kubeletConfigKey: 'kubelet' },
  object: { kind: 'found', uid: 'u', resourceVersion, data: { kubelet: text }, ...(base && { base }) },
  channelState: HEARD,
})

/** An assignment, a local config and a clock that the test controls. */
function open(overlay: OverlayView = { kind: 'none' }) {
  const log = silentLog()
  const world = {
    desired: assigned('maxPods: 200\n', LOCAL),
    local: found('maxPods: 110\n') as LocalConfigView,
    nowMs: 0,
    parserFails: false,
    merges: 0,
    signals: [] as AbortSignal[],
    heldUp: undefined as Promise<void> | undefined,
    changes: 0,
    reads: 0,
    view: { kind: 'pending', detail: 'the Node has not been read yet' } as NodeView,
    wanted: [] as boolean[],
  }
  const sleepers: (() => void)[] = []
  const pace = {
    nowMs: () => world.nowMs,
    sleep: (_ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        sleepers.push(resolve)
        signal.addEventListener('abort', () => resolve())
      }),
  }
  const ends = { start: () => {}, stop: async () => {} }
  const part = new PartSource(
    {
      ...ends,
      desired: () => world.desired,
      node: (isWanted) => {
        world.wanted.push(isWanted)
        return world.view
      },
    },
    {
      merge: async (bases, data, key, node, signal) => {
        world.merges += 1
        world.signals.push(signal)
        await world.heldUp
        signal.throwIfAborted()
        if (world.parserFails) throw new Error('no such program')
        const evaluate = async (expressions: readonly string[]) => new Evaluator().evaluate({ expressions, node })
        return mergePart(bases, data, key, IN_PLACE, node && evaluate)
      },
      pace,
      log,
    },
  )
  const source = new OverlaidSource(part, { ...ends, view: () => overlay }, log)
  source.start(() => (world.changes += 1))
  const look = () =>
    source.desired(() => {
      world.reads += 1
      return world.local
    })
  const pass = async (ms: number) => {
    world.nowMs += ms
    for (const wake of sleepers.splice(0)) wake()
    look()
    for (let turn = 0; turn < 40; turn += 1) await Promise.resolve()
    return look()
  }
  const settle = async () => {
    await pass(0)
    return pass(1020)
  }
  return { world, source, log, look, pass, settle }
}

const renderedOf = (desired: Desired) =>
  desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object.rendered : undefined
const textOf = (desired: Desired) => JSON.parse(renderedOf(desired)?.data.kubelet ?? 'null')

t.test('a part is merged over the local config: the result is a version of its own, and the part stays what it was', async (t) => {
  const { settle, look, world } = open()
  t.match(look(), { kind: 'unknown', channelState: HEARD }, 'never local, and never the part alone')
  const desired = await settle()
  t.match(textOf(desired), { kind: 'KubeletConfiguration', maxPods: 200 })
  t.match(desired, { object: { data: { kubelet: 'maxPods: 200\n' }, base: LOCAL }, channelState: HEARD })
  t.match(resolveDesired(desired), { uid: 'u', resourceVersion: '7', overlay: /^[0-9a-f]{16}$/ })
  t.equal(renderedOf(look()), renderedOf(look()), 'it is merged once')
  t.ok(world.changes > 0, 'the loop is woken')
})

t.test('the overlay of the node is merged over that', async (t) => {
  const { settle } = open(await readOverlay(new Map([['a.yaml', Buffer.from('maxPods: 62\npodPidsLimit: 9\n')]]), IN_PLACE, parseLocated))
  t.match(textOf(await settle()), { kind: 'KubeletConfiguration', maxPods: 62, podPidsLimit: 9 })
})

t.test('without the annotation the ConfigMap is the whole config, and the local config is not read', async (t) => {
  const { world, source } = open()
  for (const desired of [assigned('maxPods: 200\n'), { kind: 'local' }, { kind: 'unknown', detail: 'x' }] as const) {
    world.desired = desired
    t.equal(source.desired(NO_LOCAL), desired)
  }
})

t.test('a local config that changes counts once it has stayed the same for a second', async (t) => {
  const { settle, pass, world } = open()
  const before = await settle()
  world.local = found('maxPods: 110\npodPidsLimit: 1\n')
  t.same(await pass(0), before)
  t.same(await pass(900), before)
  world.local = found('maxPods: 110\npodPidsLimit: 12\n')
  t.same(await pass(900), before, 'it is being written')
  t.match(textOf(await pass(1020)), { maxPods: 200, podPidsLimit: 12 })
  t.not(Object(resolveDesired(await pass(0))).overlay, Object(resolveDesired(before)).overlay)
})

t.test('a file that is being replaced is not missed, and a unit that is not known changes nothing', async (t) => {
  const { settle, pass, world, log } = open()
  const before = await settle()
  const local = world.local
  world.local = { kind: 'unusable', detail: 'config.yaml does not exist' }
  t.same(await pass(500), before)
  world.local = local
  t.same(await pass(2000), before)
  world.local = { kind: 'unknown', detail: 'systemd does not answer' }
  t.same(await pass(60_000), before)
  t.same(log.said, [])
})

t.test('a local config that cannot be the base is an error, logged once, and ends when it is corrected', async (t) => {
  const { settle, pass, world, log } = open()
  const unusable = async (local: LocalConfigView, detail: RegExp) => {
    const already = log.said.length
    world.local = local
    await pass(0)
    t.match(await pass(1020), {
      kind: 'invalid',
      detail: "this node's local config cannot be the base of the assigned part, see kubelet-cfg-agent log for details",
      channelState: { channel: 'label', problem: /local config/ },
      isSeen: true,
    })
    await pass(1020)
    t.match(log.said.slice(already), [detail])
  }
  await unusable({ kind: 'unusable', detail: 'config.yaml does not exist' }, /nothing is changed: config.yaml does not exist/)
  await unusable(found('maxPods: [\n'), /config.yaml: .* at line/)
  world.local = found('maxPods: 1\n')
  t.match(textOf(await settle()), { maxPods: 200 })
  t.equal(log.said.length, 2)
})

t.test('a part or an annotation that cannot be used is an error, whatever the local config', async (t) => {
  const { settle, world, log, source } = open()
  world.desired = assigned('maxPods: [\n', LOCAL)
  t.match(await settle(), { kind: 'invalid', detail: /^the assigned part cannot be merged, see/ })
  t.match(log.said, [/nothing is changed: kubelet: .* at line/])
  world.desired = assigned('maxPods: 1\n', { kind: 'invalid', text: 'lokal', detail: 'annotation x: "lokal" is not local' })
  t.match(source.desired(NO_LOCAL), { kind: 'invalid', detail: 'annotation x: "lokal" is not local' })
})

t.test('an edit of the part counts once it is merged; until then the one before', async (t) => {
  const { settle, pass, look, world } = open()
  const before = await settle()
  world.desired = assigned('maxPods: 201\n', LOCAL, '8')
  t.same(look(), before)
  t.match(textOf(await pass(0)), { maxPods: 201 })
  t.match(resolveDesired(look()), { resourceVersion: '8' })
})

t.test('a pause of the cluster counts at once, while the part is being merged', async (t) => {
  const { settle, look, world } = open()
  await settle()
  const paused = { on: 'Node', by: 'annotation' } as const
  world.desired = { ...assigned('maxPods: 201\n', LOCAL, '8'), channelState: { ...HEARD, paused } }
  t.match(look(), { object: { resourceVersion: '7' }, channelState: { paused } })
})

t.test('its end counts with the edit that came with it, and does not let an earlier edit pass', async (t) => {
  const { settle, look, pass, world } = open()
  await settle()
  const paused = { on: 'Node', by: 'annotation' } as const
  world.desired = { ...assigned('maxPods: 201\n', LOCAL, '8'), channelState: { ...HEARD, paused } }
  look()
  world.desired = assigned('maxPods: 202\n', LOCAL, '9')
  t.match(look(), { object: { resourceVersion: '7' }, channelState: { paused } })
  t.match(await pass(0), { object: { resourceVersion: '9' }, channelState: { paused: undefined } })
})

t.test('what was not known before says nothing about why it is not known now', async (t) => {
  const { look, world } = open()
  world.desired = { kind: 'unknown', detail: 'the API server does not answer', silence: 'unreachable' }
  t.equal(look(), world.desired)
  world.desired = assigned('maxPods: 201\n', LOCAL, '8')
  t.same(look(), { kind: 'unknown', detail: 'the local config has not settled yet', channelState: HEARD })
})

t.test('a ConfigMap under a part may not have a rollout of its own: an edit of it would not go in those stages', async (t) => {
  const { settle, world } = open()
  const ref = { namespace: 'ns', name: 'pool', kubeletConfigKey: 'kubelet' }
  const over = (record: string | undefined): Desired => {
    const object = { kind: 'found', uid: 'p', resourceVersion: '1', data: { kubelet: 'maxPods: 1\n' }, base: LOCAL } as const
    const views = [{ ref, object: { ...object, rollout: { record, plan: undefined } } }]
    const part = assigned('podPidsLimit: 9\n', { kind: 'config-map', text: 'ns/pool', ref })
    return part.kind === 'config-map' && part.object.kind === 'found'
      ? { ...part, object: { ...part.object, bases: { views, problem: undefined } } }
      : part
  }
  for (const harmless of [undefined, 'off']) {
    world.desired = over(harmless)
    t.match(textOf(await settle()), { maxPods: 1, podPidsLimit: 9 })
  }
  world.desired = over('rollouts')
  t.match(await settle(), {
    kind: 'invalid',
    detail:
      'ConfigMap ns/pool:kubelet under the assigned part has a rollout of its own: remove its annotation kubelet-cfg-agent.io/rollout, ' +
      'or use a copy of it',
  })
})

t.test('a parser that cannot run now is tried again at a later look', async (t) => {
  const { settle, pass, world, log } = open()
  world.parserFails = true
  t.match(await settle(), { kind: 'unknown' })
  t.match(log.said[0], /^cannot merge or compute the assigned config now/)
  world.parserFails = false
  t.match(textOf(await pass(0)), { maxPods: 200 })
})

t.test('it stops while the local config settles', async (t) => {
  const { source, look, world } = open()
  look()
  await source.stop()
  t.equal(world.changes, 0)
})

t.test('a base that the API server has not answered for is not known yet: nothing says that it is wrong', async (t) => {
  const { settle, world } = open()
  const part = assigned(localConfig('maxPods: 1\n'))
  if (part.kind !== 'config-map' || part.object.kind !== 'found') throw new Error('no ConfigMap')
  const ref = { namespace: 'kube-system', name: 'base', kubeletConfigKey: 'kubelet' }
  const whole = part.object
  const under = (reason: 'unreachable' | 'unauthenticated'): Desired => {
    const views: BaseView[] = [{ ref, object: { kind: 'unavailable', reason, detail: '10.0.0.1 refused' } }]
    return { ...part, object: { ...whole, base: { kind: 'config-map', text: 'base', ref }, bases: { views, problem: undefined } } }
  }
  world.desired = under('unreachable')
  t.match(await settle(), { kind: 'unknown', detail: /ConfigMap kube-system\/base:kubelet .* cannot be read: 10.0.0.1 refused/ })
  world.desired = under('unauthenticated')
  t.match(await settle(), { kind: 'invalid' })
})

t.test('layers over a whole config: merged and named; with a rollout, with a base or unread, they are refused', async (t) => {
  const { settle, look, world } = open()
  const ref = { namespace: 'kube-system', name: 'layer', kubeletConfigKey: 'kubelet' }
  const layered = (text: string, extra: object = {}, own: object = {}): Desired => {
    const whole = assigned(localConfig('maxPods: 1\n'))
    const object = { kind: 'found', uid: 'l', resourceVersion: '1', data: { kubelet: text }, ...extra } as const
    return whole.kind === 'config-map' && whole.object.kind === 'found'
      ? { ...whole, object: { ...whole.object, ...own, layers: [{ ref, object }] } }
      : whole
  }
  world.desired = layered('podPidsLimit: 9\n')
  t.match(textOf(await settle()), { maxPods: 1, podPidsLimit: 9 })
  t.match(look(), { object: { mergedFrom: ['ConfigMap kube-system/x:kubelet', 'ConfigMap kube-system/layer:kubelet'] } })
  t.equal(world.reads, 0, 'the local config is not under it')
  const before = Object(resolveDesired(look())).overlay
  world.desired = layered('podPidsLimit: 10\n')
  t.not(Object(resolveDesired(await settle())).overlay, before, 'an edit of a layer is another version')
  const rollout = { record: 'rollouts', plan: undefined }
  const refused: readonly (readonly [Desired, RegExp])[] = [
    [layered('podPidsLimit: 9\n', { rollout }), /layer:kubelet laid over the assigned one has a rollout of its own/],
    [layered('podPidsLimit: 9\n', {}, { rollout }), /^the assigned ConfigMap has a rollout, and layers match this node/],
    [layered('podPidsLimit: 9\n', { base: LOCAL }), /layer:kubelet is a layer, and a layer has no annotation kubelet-cfg-agent.io\/base$/],
    [layered('podPidsLimit: [\n'), /^a ConfigMap that is laid over the assigned one cannot be merged/],
    [layered('', { data: {} }), /^a ConfigMap that is laid over the assigned one cannot be merged/],
    [
      layered('', { kind: 'unavailable', reason: 'forbidden', detail: 'x' }),
      /laid over the assigned one cannot be read: the API server forbids/,
    ],
  ]
  for (const [desired, detail] of refused) {
    world.desired = desired
    t.match(await settle(), { kind: 'invalid', detail, isSeen: true })
  }
  world.desired = layered('', { kind: 'pending' })
  t.equal((await settle()).kind, 'invalid', 'as if it had not arrived yet')
})

const COMPUTED = 'apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: ComputedKubeletConfiguration\n'
const shows = (cpu: string, labels: Record<string, string> = {}): NodeView => ({
  kind: 'found',
  node: { name: 'n1', labels, capacity: { cpu }, podCIDRs: [] },
})

t.test('a config that computes values waits for the Node, and follows what that shows; the same result is the same version', async (t) => {
  const { pass, world, log } = open()
  t.equal((await pass(0)).kind, 'unknown')
  t.notOk(world.wanted.includes(true), 'a part that computes nothing needs no facts')
  world.desired = assigned(`${COMPUTED}computed: {maxPods: "[250, node.cpus * 20].min()"}\n`)
  t.match(await pass(0), { kind: 'unknown' })
  t.ok(world.wanted.at(-1))
  world.view = shows('4')
  const four = await pass(0)
  t.match(textOf(four), { kind: 'KubeletConfiguration', maxPods: 80 })
  const layer = 'ConfigMap kube-system/x:kubelet'
  t.match(four, { object: { mergedFrom: [layer], computed: [{ field: 'maxPods', value: '80', layer }] } })
  world.view = shows('4', { zone: 'b' })
  t.same(resolveDesired(await pass(0)), resolveDesired(four))
  world.view = shows('8')
  const eight = await pass(0)
  t.match(textOf(eight), { maxPods: 160 })
  t.not(Object(resolveDesired(eight)).overlay, Object(resolveDesired(four)).overlay)
  world.view = { kind: 'pending', detail: 'being read' }
  t.same(await pass(0), eight, 'what is known stays')
  t.same(log.said, [])
})

t.test('it says since when the facts have made this of the text', async (t) => {
  const { pass, look, world } = open()
  world.desired = assigned(`${COMPUTED}computed: {maxPods: "'size' in node.labels ? int(node.labels.size) : node.cpus * 20"}\n`)
  world.view = shows('4')
  const since = (desired: Desired) =>
    desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object.factsSinceUs : undefined
  t.equal(since(await pass(1000)), 1_000_000, 'since they were seen first')
  world.view = shows('4', { zone: 'b' })
  t.equal(since(await pass(1000)), 1_000_000, 'a label on which nothing depends')
  world.view = shows('4', { zone: 'b', size: '50' })
  const sized = await pass(1000)
  t.match(textOf(sized), { maxPods: 50 })
  t.equal(since(sized), 3_000_000)
  world.desired = assigned(`${COMPUTED}computed: {maxPods: "7"}\n`, undefined, '8')
  t.equal(since(await pass(1000)), 3_000_000, 'an edit rests on the same facts')
  world.desired = assigned(localConfig('maxPods: 1\n'), undefined, '9')
  await pass(1000)
  t.equal(since(look()), undefined, 'nothing is computed')
})

t.test('a value that cannot be computed leaves the node as it is, and is tried again when a fact changes', async (t) => {
  const { pass, world, log } = open()
  world.view = shows('4')
  world.desired = assigned(`${COMPUTED}computed: {maxPods: "int(node.labels['pods'])"}\n`)
  t.match(await pass(0), { kind: 'invalid', detail: /a value of the assigned config cannot be computed/, cause: /field not found: pods/ })
  t.match(log.said, [/^the assigned config cannot be merged or computed; nothing is changed: kubelet: computed maxPods at line 3/])
  world.view = shows('4', { pods: '50' })
  t.match(textOf(await pass(0)), { maxPods: 50 })
  world.view = { kind: 'none', detail: 'there is no Node' }
  t.match(await pass(0), { kind: 'invalid', cause: 'there is no Node' })
})

t.test('a helper that fails each time it computes the same is not asked at every look', async (t) => {
  const { pass, world, log } = open()
  world.view = shows('4')
  world.desired = assigned(`${COMPUTED}computed: {maxPods: "node.cpus"}\n`)
  world.parserFails = true
  for (let look = 0; look < 10; look += 1) await pass(1000)
  t.equal(world.merges, 3)
  t.match(await pass(0), { kind: 'invalid', cause: /3 times in a row.*no such program/ })
  t.equal(log.said.filter((line) => line.startsWith('cannot merge')).length, 2)
  world.parserFails = false
  await pass(50_000)
  t.equal(world.merges, 3)
  t.match(textOf(await pass(10_000)), { maxPods: 4 })
})

t.test('a merge that a later one supersedes is ended, without a word, and so is one when the agent stops', async (t) => {
  const { pass, world, log, source } = open()
  let release = (): void => {}
  world.heldUp = new Promise((resolve) => {
    release = resolve
  })
  world.view = shows('4')
  world.desired = assigned(`${COMPUTED}computed: {maxPods: "node.cpus"}\n`)
  await pass(0)
  world.view = shows('8')
  await pass(0)
  t.same(
    world.signals.map(({ aborted }) => aborted),
    [true, false],
  )
  release()
  t.match(textOf(await pass(0)), { maxPods: 8 })
  world.view = shows('9')
  await pass(0)
  await source.stop()
  t.ok(world.signals.at(-1)?.aborted)
  t.same(log.said, [])
})

t.test(
  'a value that cannot be computed is tried again in 1 minute, and then every 10: the limit of time may have met a slow start',
  async (t) => {
    const { pass, world } = open()
    world.view = shows('4')
    world.desired = assigned(`${COMPUTED}computed: {maxPods: "node.nothing"}\n`)
    const merges = async (ms: number) => {
      await pass(ms)
      return world.merges
    }
    t.equal(await merges(0), 1)
    t.equal(await merges(50_000), 1)
    t.equal(await merges(10_000), 2)
    t.match(await pass(0), { kind: 'invalid', cause: /field not found/ })
    t.equal(await merges(9 * 60_000), 2)
    t.equal(await merges(60_000), 3)
    world.view = shows('5')
    t.equal(await merges(0), 4)
    t.equal(await merges(60_000), 5, 'with other facts it is the first time again')
  },
)
