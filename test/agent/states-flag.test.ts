// SPDX-License-Identifier: Apache-2.0
/** Before which starts of kubelet its state files are judged. */
import t from 'tap'
import { removeFlag, StatesFlag } from '../../src/agent/states-flag.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { KnownUnit, UnitState } from '../../src/subject/unit-state.ts'
import { envWiring } from '../../src/systemd/wiring-kinds.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { A, assignedTo, snapshot, unit } from '../decision/snapshots.ts'

const FLAG = '/state/states-fit'
const CHECKPOINT = '/state/checkpoint'
const CPU = '/var/lib/kubelet/cpu_manager_state'
const NONE = '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'

let now = 0

function openNode() {
  const disk = new FakeDisk(() => (now += 1))
  const files = new DurableFiles(disk)
  for (const directory of ['/state', '/var/lib/kubelet', '/etc', '/etc/d']) files.makeDirectory(directory)
  files.replace('/etc/local.yaml', 'cpuManagerPolicy: none\nstaticPodPath: /etc/kubernetes/manifests\n')
  files.replace(CHECKPOINT, 'maxPods: 20\n')
  const node = {
    words: [] as readonly string[],
    facts: {} as Partial<KnownUnit>,
    disk,
    files,
    isJudged: () => files.stat(FLAG) === undefined,
    known: () => {
      const { words, facts } = node
      return unit({
        setsStatesAside: true,
        localConfigPath: '/etc/local.yaml',
        wiring: envWiring('/state/kubelet.env', ''),
        command: { path: '/usr/bin/kubelet', words },
        ...facts,
      })
    },
    look: () => node.see(node.known()),
    seeNothing: () => {
      flag.refresh(undefined)
      return node.isJudged()
    },
    see: (seen: UnitState, fields: Partial<Snapshot> = {}) => {
      flag.refresh(snapshot({ unit: seen, ...assignedTo(A), ...fields }))
      return node.isJudged()
    },
  }
  const flag = new StatesFlag({
    files,
    checkpoints: { path: () => CHECKPOINT },
    activation: { readLocal: (_, path) => files.read(path) },
    dynamicConfigDir: '/state',
  })
  return node
}

t.test('on a node without these managers nothing is judged', async (t) => {
  const node = openNode()
  t.ok(node.isJudged(), 'until an agent has looked')
  t.notOk(node.look())
  node.files.replace(CPU, NONE)
  t.notOk(node.look(), 'kubelet writes a state without a policy, too')
  node.words = ['--cpu-manager-policy=none', '--config-dir=/etc/d']
  t.notOk(node.look())
})

t.test('each of these is judged, until it is gone', async (t) => {
  const node = openNode()
  const raise = (path: string, text: string, calm: string) => {
    node.files.replace(path, text)
    t.ok(node.look(), `${path}: ${text}`)
    node.files.replace(path, calm)
    t.notOk(node.look(), `${path}: ${calm}`)
  }
  for (const text of [
    'cpuManagerPolicy: static\n',
    '{"memoryManagerPolicy":"Static"}',
    'cpuManagerPolicy: &p static\n',
    '{"cpu\\u004danagerPolicy":"static"}',
  ])
    raise(CHECKPOINT, text, 'maxPods: 21\n')
  raise('/etc/local.yaml', 'cpuManagerPolicy: static\n', '{"cpuManagerPolicy":"none","memoryManagerPolicy":"None"}')
  raise('/etc/local.yaml', 'featureGates: {PodLevelResourceManagers: true}\n', 'featureGates: {NodeSwap: true}\n')
  for (const state of [
    NONE.replace('none', 'static'),
    '{"policyNa',
    '',
    NONE.replace('1353318690', '1'),
    NONE.replace('}', ',"podEntries":{}}'),
  ])
    raise(CPU, state, NONE)
  node.words = ['--config-dir=/etc/d']
  raise('/etc/d/10.conf', 'memoryManagerPolicy: Static\n', 'topologyManagerPolicy: best-effort\n')
  for (const words of [['--cpu-manager-policy=static'], ['--memory-manager-policy', 'Static']]) {
    node.words = words
    t.ok(node.look(), words.join(' '))
  }
  node.words = ['--root-dir=data']
  t.ok(node.look(), 'where kubelet has its state files is not known')
  node.words = ['--root-dir=/data']
  node.files.makeDirectory('/data')
  raise('/data/cpu_manager_state', '{"policyName":"static"}', NONE)
})

t.test('a unit that is not known is judged', async (t) => {
  const node = openNode()
  const words: readonly string[] = []
  const unknown: readonly Partial<KnownUnit>[] = [
    { setsStatesAside: false },
    { wiring: { kind: 'broken', reason: 'masked', detail: '' } },
    { command: undefined },
    { command: { path: '/usr/bin/kubelet', words, incomplete: 'more' } },
  ]
  for (const facts of unknown) {
    t.notOk(node.look())
    Object.assign(node, { facts })
    t.ok(node.look(), JSON.stringify(facts))
    node.facts = {}
  }
  t.notOk(node.look())
  t.ok(node.see({ kind: 'unknown', detail: 'a time-out' }))
  t.notOk(node.look())
  t.ok(node.see(node.known(), { nextStart: { kind: 'unknown', detail: 'it names a file of nobody' } }))
  t.notOk(node.look())
  t.ok(node.seeNothing())
})

t.test('a file that cannot be read is judged', async (t) => {
  for (const path of [CHECKPOINT, CPU]) {
    const node = openNode()
    node.files.replace(CPU, NONE)
    node.disk.readFaultOf = (read) => (read === path ? 'EIO' : undefined)
    t.ok(node.look(), path)
    node.disk.readFaultOf = undefined
    t.notOk(node.look(), path)
  }
})

t.test('once nobody looks, all is judged, where the drop-in looks too', async (t) => {
  const node = openNode()
  const fixed = '/var/lib/kubelet-cfg-agent/states-fit'
  node.files.makeDirectory('/var/lib/kubelet-cfg-agent')
  node.files.replace(fixed, '')
  t.notOk(node.look())
  removeFlag(node.files, '/state', silentLog())
  t.ok(node.isJudged())
  t.equal(node.files.stat(fixed), undefined)
})
