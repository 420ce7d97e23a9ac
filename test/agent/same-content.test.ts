// SPDX-License-Identifier: Apache-2.0
/** The same config in other bytes: a comment, quotes or the order of keys has changed. */
import t, { type Test } from 'tap'
import { ContentRecognizer, type RecognitionPorts, recognizeDesired } from '../../src/agent/recognize-content.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { A, A_EDITED, B, contentOf, hold, judged, keyOf, MINUTE_US, SECOND_US, unit, verdict, wants } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

const TEXT = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 50\nserializeImagePulls: false\n'
const COMMENTED = `# the same\n${TEXT.replace('maxPods: 50', '"maxPods": 50')}`
const OTHER = TEXT.replace('50', '51')
const NOTHING_KEPT = { list: () => [], content: () => undefined }

async function running(text: string, minutes: number): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.want(A, { kubelet: text })
  await world.run(minutes * MINUTE_US)
  return world
}

function restarts(t: Test, world: SmallWorld, count: number): void {
  t.equal(world.restartsAskedAtUs.length, count, `${count} restarts`)
}

t.test('other bytes move every record and restart nothing', async (t) => {
  const world = await running(TEXT, 15)
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(MINUTE_US)
  t.same(world.record('assigned'), A_EDITED)
  t.same(world.record('last-known-good'), A_EDITED)
  t.equal(world.checkpoints.data(A_EDITED.uid, A_EDITED.resourceVersion)?.kubelet, COMMENTED, 'the checkpoint keeps the bytes')
  restarts(t, world, 1)

  t.test('a new agent, a new process and a new boot know it as well', async (t) => {
    world.restartAgent()
    t.equal((await world.run(MINUTE_US)).phase, 'settled')
    world.unit.kill()
    await world.run(5 * MINUTE_US)
    t.equal(await world.running(), COMMENTED)
    t.equal((await world.run(MINUTE_US)).phase, 'settled', 'it is proven')
    world.forgetRun()
    world.restartAgent()
    t.equal((await world.run(MINUTE_US)).phase, 'settled')
    restarts(t, world, 1)
  })
})

t.test('an edit that comes while systemd does not answer restarts nothing', async (t) => {
  const world = await running(TEXT, 5)
  const observe = world.unit.observe.bind(world.unit)
  world.unit.observe = async () => ({ kind: 'unknown', detail: 'systemctl: connection timed out' })
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(2 * MINUTE_US)
  world.unit.observe = observe
  await world.run(MINUTE_US)
  t.same(world.record('assigned'), A_EDITED)
  restarts(t, world, 1)
})

t.test('an agent that sees the process for the first time names the version that it was started from', async (t) => {
  const world = await running(TEXT, 15)
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(MINUTE_US)
  world.forgetRun()
  world.restartAgent()
  await world.run(MINUTE_US)
  t.same(world.runtime.get('health')?.lastProcess?.source, A)
})

t.test('a trial goes on', async (t) => {
  const world = await running(TEXT, 8)
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(3 * MINUTE_US)
  t.same(world.record('last-known-good'), A_EDITED)
  restarts(t, world, 1)
})

t.test('a failure of the disk that passes makes no other content of it', async (t) => {
  const world = await running(TEXT, 15)
  const path = world.checkpoints.path(A)
  world.disk.readFaultOf = (each, kind) => (each === path && kind === 'read' ? 'EIO' : undefined)
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(20 * SECOND_US)
  world.disk.readFaultOf = undefined
  await world.run(MINUTE_US)
  t.same(world.record('assigned'), A_EDITED)
  restarts(t, world, 1)
})

t.test('another value restarts', async (t) => {
  const world = await running(TEXT, 15)
  world.want(A_EDITED, { kubelet: OTHER })
  await world.run(MINUTE_US)
  t.equal(await world.running(), OTHER)
  restarts(t, world, 2)
})

t.test('another file beside it restarts, whatever is in it', async (t) => {
  const world = await running(TEXT, 15)
  world.want(A_EDITED, { kubelet: COMMENTED, 'extra.conf': '# nothing' })
  await world.run(MINUTE_US)
  restarts(t, world, 2)
})

t.test('what failed is not tried again for a comment', async (t) => {
  const world = await running(TEXT, 15)
  world.behaveWith(OTHER, CRASHES)
  world.want(B, { kubelet: OTHER })
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), TEXT)
  const before = world.restartsAskedAtUs.length
  world.want({ ...B, resourceVersion: '2' }, { kubelet: `# now it works\n${OTHER}` })
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), TEXT)
  restarts(t, world, before)
})

t.test('what failed is not tried again for a comment, also when another config was assigned in between', async (t) => {
  const world = await running(TEXT, 15)
  world.behaveWith(OTHER, CRASHES)
  world.want(B, { kubelet: OTHER })
  await world.run(5 * MINUTE_US)
  world.want('local')
  await world.run(5 * MINUTE_US)
  const before = world.restartsAskedAtUs.length
  world.want({ ...B, resourceVersion: '2' }, { kubelet: `# now it works\n${OTHER}` })
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), 'local')
  restarts(t, world, before)
})

t.test('what kubelet runs is compared, though no record names it any more', async (t) => {
  const world = await running(TEXT, 15)
  const observe = world.unit.observe.bind(world.unit)
  world.unit.observe = async () => ({ kind: 'unknown', detail: 'systemctl: connection timed out' })
  world.want('local')
  await world.run(MINUTE_US)
  t.equal(world.record('assigned'), 'local')
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(MINUTE_US)
  world.unit.observe = observe
  await world.run(MINUTE_US)
  t.equal(await world.running(), TEXT)
  restarts(t, world, 1)
})

t.test('what kubelet may run is compared while systemd does not answer, though the records in /run are lost', async (t) => {
  const world = await running(TEXT, 15)
  world.runtimeUp = false
  world.want('local')
  await world.run(MINUTE_US)
  world.forgetRun()
  world.restartAgent()
  const observe = world.unit.observe.bind(world.unit)
  world.unit.observe = async () => ({ kind: 'unknown', detail: 'systemctl: connection timed out' })
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(MINUTE_US)
  world.unit.observe = observe
  world.runtimeUp = true
  await world.run(MINUTE_US)
  t.equal(await world.running(), TEXT)
  restarts(t, world, 1)
})

t.test('what kubelet runs stays on disk to be compared, though later wordings have replaced it', async (t) => {
  const world = new SmallWorld({ activation: 'drop-in' })
  world.policy = { ...world.policy, keepCheckpoints: 1 }
  world.want(A, { kubelet: TEXT })
  await world.run(15 * MINUTE_US)
  for (const resourceVersion of ['2', '3', '4']) {
    world.want({ ...A, resourceVersion }, { kubelet: `# ${resourceVersion}\n${TEXT}` })
    await world.run(MINUTE_US)
  }
  world.runtimeUp = false
  world.requests = { ...world.requests, hold: 'local' }
  await world.run(MINUTE_US)
  world.requests = { ...world.requests, hold: 'none' }
  world.want({ ...A, resourceVersion: '5' }, { kubelet: COMMENTED })
  await world.run(MINUTE_US)
  world.runtimeUp = true
  await world.run(MINUTE_US)
  t.match(world.record('assigned'), { resourceVersion: '5' })
  restarts(t, world, 1)
})

t.test('on a full disk', async (t) => {
  const world = await running(TEXT, 15)
  world.diskFails = () => true
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(MINUTE_US)
  world.diskFails = () => false
  await world.run(2 * MINUTE_US)
  t.same(world.record('assigned'), A_EDITED)
  restarts(t, world, 1)
  t.ok(world.disk.stat('/state/meta/same'), 'what could not be written was written later')
  restarts(t, world, 1)
})

t.test('a name that nothing has any more, as after the loss of the records, is no reason not to compare', async (t) => {
  const names = new Map([['reworded', 'lost']])
  const recognizer = new ContentRecognizer({
    alike: { of: (content) => names.get(content) ?? content, add: (content, same) => names.set(content, same), write: () => {} },
    checkpoints: { content: () => 'here', data: () => ({ kubelet: TEXT }) },
    hashOf: () => 'reworded',
    isSameConfig: async () => true,
  })
  await recognizer.recognize({ kubelet: COMMENTED }, 'kubelet', [A], ['lost'])
  t.equal(names.get('reworded'), 'lost', 'a verdict or a process still has it')
  await recognizer.recognize({ kubelet: COMMENTED }, 'kubelet', [A], ['here'])
  t.equal(names.get('reworded'), 'here')
})

t.test('the bytes that kubelet runs come back after another wording that could not be compared', async (t) => {
  const world = new SmallWorld({ activation: 'drop-in' })
  world.want(A, { kubelet: TEXT })
  await world.run(15 * MINUTE_US)
  new DurableFiles(world.disk).removeTree('/state')
  world.restartAgent()
  world.runtimeUp = false
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(MINUTE_US)
  world.want({ ...A, resourceVersion: '3' }, { kubelet: TEXT })
  await world.run(MINUTE_US)
  world.runtimeUp = true
  await world.run(MINUTE_US)
  t.match(world.record('assigned'), { resourceVersion: '3' })
  restarts(t, world, 1)
})

t.test('a wording that preflight once refused is compared all the same', async (t) => {
  const world = await running(TEXT, 15)
  world.preflight = () => ({ kind: 'refused', reason: 'load', detail: 'a file is missing' })
  world.want(B, { kubelet: OTHER })
  await world.run(3 * MINUTE_US)
  world.basis = 'the file is there'
  world.preflight = () => ({ kind: 'accepted', remarks: [], drain: [] })
  world.want({ ...B, resourceVersion: '2' }, { kubelet: `# the same\n${OTHER}` })
  await world.run(15 * MINUTE_US)
  restarts(t, world, 2)
  world.want({ ...B, resourceVersion: '3' }, { kubelet: OTHER })
  await world.run(MINUTE_US)
  restarts(t, world, 2)
  t.match(world.record('last-known-good'), { resourceVersion: '3' })
})

t.test('a wording is compared with a refused one that had failed before', async (t) => {
  const comparedFor = async (facts: Partial<Verdict>) => {
    const files: unknown[] = []
    const recognize: RecognitionPorts['recognize'] = async (_data, _key, others) => void files.push(...others)
    const { verdicts = new Map() } = judged(verdict(B, 'refused', facts))
    const ports = { recognize, contentOf: () => contentOf(A_EDITED), records: { verdicts: () => verdicts }, checkpoints: NOTHING_KEPT }
    const { desired } = wants(A_EDITED)
    await recognizeDesired(ports, { desired, unit: unit(), running: { kind: 'none' }, held: [hold(A)], lastProcess: undefined })
    return files
  }
  t.same(await comparedFor({}), [A])
  t.same(await comparedFor({ former: verdict(B, 'provisional', { reason: 'reboots', retrials: 1 }) }), [A, B], 'its tries count for both')
})

t.test('the records of an agent that compared bytes hold', async (t) => {
  const world = await running(TEXT, 15)
  const proven = world.records.get('proven')?.key
  world.records.writeVerdict(verdict(B, 'confirmed'))
  world.want(A_EDITED, { kubelet: COMMENTED })
  await world.run(MINUTE_US)
  t.equal(world.records.get('proven')?.key, proven)
  t.ok(world.records.verdicts().has(keyOf(B)))
})
