// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { checkNode, findNeeds } from '../../../src/preflight/node/check-node.ts'
import type { NodeOptions } from '../../../src/preflight/node/node-view.ts'
import type { FileSystem, Surroundings } from '../../../src/preflight/node/surroundings.ts'
import { GIBIBYTE, MACHINE, NOWHERE, optionsOf, verdicts } from './node-options.ts'

const ROOT = '/var/lib/kubelet'
const IMAGES = '/var/lib/containerd/snapshots'

const fileSystem = (availableGi: number, inodesFree = 900): FileSystem => ({
  bytes: { capacity: 20 * GIBIBYTE, available: availableGi * GIBIBYTE },
  inodes: { capacity: 1000, available: inodesFree },
})

const LOAD = new Map([['/proc/loadavg', '0.20 0.18 0.12 1/100 11206\n']])

/** With 15 of 20 GiB left for kubelet and 16 for images, 6 of 8 GiB of memory, 900 of 1000 PIDs. */
const NODE: Partial<Surroundings> = {
  fileSystems: new Map([
    [ROOT, fileSystem(15)],
    [IMAGES, fileSystem(16)],
  ]),
  runtime: { fault: undefined, cgroup: undefined, imageDirectory: IMAGES },
  cgroupUse: new Map([['.', { memoryBytes: 2 * GIBIBYTE, processes: undefined }]]),
  sysctls: new Map([
    ['kernel.pid_max', 4_194_304],
    ['kernel.threads-max', 1000],
  ]),
  texts: LOAD,
}
const RUNS = optionsOf(34, [], { running: {} })

const on = (config: object, found: Partial<Surroundings> = {}, options: NodeOptions = RUNS) =>
  verdicts(config, { ...NODE, ...found }, options)
const hard = (signal: string, value: string) => ({ evictionHard: { [signal]: value } })
const soft = (signal: string, value: string, more: object = {}) => ({
  evictionSoft: { [signal]: value },
  evictionSoftGracePeriod: { [signal]: '90s' },
  ...more,
})

t.test('thresholds that are crossed at this moment', async (t) => {
  for (const [signal, value, expected] of [
    ['nodefs.available', '75%', undefined],
    ['nodefs.available', '76%', 'warn node/eviction'],
    ['nodefs.available', '85%', 'warn node/eviction'],
    ['nodefs.available', '90%', 'refuse guard/eviction'],
    ['nodefs.available', '15Gi', undefined],
    ['nodefs.available', '16Gi', 'warn node/eviction'],
    ['nodefs.available', '18Gi', 'refuse guard/eviction'],
    ['nodefs.available', '100%', undefined],
    ['nodefs.available', 'x%', undefined],
    ['nodefs.available', 'x', undefined],
    ['nodefs.inodesFree', '95%', 'warn node/eviction'],
    ['nodefs.inodesFree', '900', undefined],
    ['imagefs.available', '75%', undefined],
    ['imagefs.available', '81%', 'warn node/eviction'],
    ['imagefs.inodesFree', '901', 'warn node/eviction'],
    ['containerfs.available', '99%', undefined],
    ['memory.available', '75%', undefined],
    ['memory.available', '6145Mi', 'warn node/eviction'],
    ['memory.available', '7Gi', 'refuse guard/eviction'],
    ['pid.available', '90%', undefined],
    ['pid.available', '91%', 'warn node/eviction'],
  ] as const) {
    const eviction = on(hard(signal, value)).filter((each) => !each.includes('reserved-memory'))
    t.same(eviction, expected === undefined ? [] : [`${expected} evictionHard.${signal}`], `${signal} ${value}`)
  }
  t.same(on({}), [], 'the defaults')
  const full = { fileSystems: new Map([[ROOT, fileSystem(1)]]) }
  t.same(on({}, full), ['warn node/eviction evictionHard.nodefs.available'], 'the default of 10%')
  t.same(on(soft('nodefs.available', '90%')), ['refuse guard/eviction evictionSoft.nodefs.available'])
})

t.test('what runs already is crossed, or not known', async (t) => {
  const high = hard('nodefs.available', '90%')
  const warned = ['warn node/eviction evictionHard.nodefs.available']
  t.same(on(high, {}, optionsOf(34, [], { running: high })), warned)
  t.same(on(high, {}, optionsOf(34, [], { running: hard('nodefs.available', '80%') })), warned)
  t.same(on(high, {}, optionsOf(34, [], { running: hard('nodefs.available', '70%') })), [
    'refuse guard/eviction evictionHard.nodefs.available',
  ])
  t.same(on(high, {}, optionsOf(34)), warned)
})

t.test('from unknown facts it concludes nothing', async (t) => {
  const all = {
    evictionHard: Object.fromEntries(
      ['memory', 'nodefs', 'imagefs', 'pid'].map((name) => [`${name}.available`, '85%']).concat([['nodefs.inodesFree', '99%']]),
    ),
  }
  const nothing = { fileSystems: new Map(), runtime: undefined, cgroupUse: new Map(), sysctls: new Map(), texts: new Map() }
  t.same(on(all, nothing), [])
  const eviction = (found: Partial<Surroundings>, options = RUNS) =>
    on(all, { ...nothing, ...found }, options).filter((each) => !each.includes('reserved-memory'))
  t.same(eviction({ fileSystems: new Map([[ROOT, { ...fileSystem(19), inodes: undefined }]]) }), [], 'btrfs')
  t.same(eviction({ texts: LOAD, sysctls: new Map([['kernel.pid_max', 1000]]) }), [], 'one of the two limits')
  t.same(
    eviction({ fileSystems: new Map([['/k', fileSystem(16)]]) }, optionsOf(34, ['--root-dir=/k/'], { running: {} })).slice(0, 1),
    ['warn node/eviction evictionHard.nodefs.available'],
    'in the directory of the flag',
  )
})

t.test('kubelet before 1.24 counts pid_max alone', async (t) => {
  const options = optionsOf(23, [], { running: {} })
  t.same(on(hard('pid.available', '95%'), {}, options), [])
  const few = { sysctls: new Map([['kernel.pid_max', 1000]]) }
  t.same(on(hard('pid.available', '95%'), few, options), ['warn node/eviction evictionHard.pid.available'])
})

t.test('a soft threshold that the hard one is above of, in another unit', async (t) => {
  const found = ['warn otherwise/eviction-soft evictionSoft.nodefs.available']
  const both = (value: string, other: string) => soft('nodefs.available', value, hard('nodefs.available', other))
  t.same(on(both('5%', '2Gi')), found)
  t.same(on(both('10%', '2Gi')), found, 'both are crossed at the same moment')
  t.same(on(both('11%', '2Gi')), [])
  t.same(on(both('1Gi', '10%')), found)
  t.same(on(both('3Gi', '10%')), [])
  t.same(on(both('5%', '10%')), [], 'another rule, which needs no node')
  t.same(on(both('5%', '0%')), [], 'no hard threshold')
  t.same(on(both('5%', '2Gi'), { fileSystems: new Map() }), [])
  const ofMemory = on(soft('memory.available', '5%', hard('memory.available', '1Gi')), { memoryBytes: 8 * GIBIBYTE })
  t.same(ofMemory, ['warn otherwise/eviction-soft evictionSoft.memory.available'], 'of memory it is said once')
})

t.test('images that kubelet would remove', async (t) => {
  const found = ['info node/image-gc imageGCHighThresholdPercent']
  t.same(on({ imageGCHighThresholdPercent: 20, imageGCLowThresholdPercent: 10 }), found)
  t.same(on({ imageGCHighThresholdPercent: 21, imageGCLowThresholdPercent: 10 }), [])
  const low = { imageGCHighThresholdPercent: 20, imageGCLowThresholdPercent: 10 }
  t.same(on(low, {}, optionsOf(34, [], { running: { ...low, imageGCHighThresholdPercent: 15 } })), [], 'what runs removes them already')
  t.same(on(low, {}, optionsOf(34)), found, 'what runs is not known')
  t.same(on(low, { runtime: undefined }), [])
  const other = { fault: undefined, imageDirectory: '/images' }
  t.same(on(low, { imageService: other }), [], 'the image service has them, and its file system is not known')
})

t.test('the texts', async (t) => {
  const texts = (config: object) =>
    checkNode({ ...config }, NOWHERE, { ...MACHINE, ...NODE }, RUNS).map(({ problem, advice }) => `${problem}; ${advice}`)
  t.matchSnapshot(texts(hard('nodefs.available', '90%')).join('\n'))
  t.matchSnapshot(texts(soft('memory.available', '6500Mi')).join('\n'))
  t.matchSnapshot(texts(soft('nodefs.available', '5%', hard('nodefs.available', '2Gi'))).join('\n'))
  t.matchSnapshot(texts({ imageGCHighThresholdPercent: 20, imageGCLowThresholdPercent: 10 }).join('\n'))
})

t.test('asks for what the thresholds need', async (t) => {
  t.match(findNeeds({}, optionsOf(34)), { fileSystems: [ROOT], cgroupUse: ['.'], sysctls: [], texts: [] })
  const counted = findNeeds(hard('pid.available', '5%'), optionsOf(34))
  t.match(counted, { fileSystems: [], sysctls: ['kernel.pid_max', 'kernel.threads-max'] })
  t.ok(counted.texts.includes('/proc/loadavg'))
  t.same(findNeeds({}, optionsOf(34, ['--root-dir=k'])).fileSystems, [], 'it begins in a directory that is not known')
})
