// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { type KubeletObservation, observeKubelet } from '../../src/agent/observe-kubelet.ts'
import { NOT_PROBED, probeNeeds, readRuntimesAhead } from '../../src/agent/probe-needs.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { StepOf } from '../../src/decision/step.ts'
import type { ConfigFiles, HealthTarget } from '../../src/ports/probes.ts'
import { type CheckpointFile, type HeldSource, LOCAL } from '../../src/subject/config-source.ts'
import type { KnownUnit, ReadyWiring, UnitState } from '../../src/subject/unit-state.ts'
import { dropInWiring, envWiring, fileWiring } from '../../src/systemd/wiring-kinds.ts'
import { A, B, hold, keyOf, snapshot } from '../decision/snapshots.ts'
import { heldBy } from '../kubelet/held-by.ts'
import { MemoryRecords } from './memory-runtime.ts'

const AT = { bootId: 'boot', monotonicUs: 1, wallMs: 1 }

function unitOf(pid: number, port: number): UnitState {
  return {
    kind: 'known',
    activity: 'running',
    summary: 'active/running/success',
    invocationId: `invocation-${pid}`,
    nRestarts: 0,
    startedAtUs: pid,
    kubeletIdentity: 'kubelet',
    process: { kind: 'other', pid, configPath: undefined },
    command: undefined,
    localConfigPath: undefined,
    runtimeEndpoint: undefined,
    healthzFlags: { port },
    wiring: envWiring('/kubelet.env', ''),
  }
}

/** A node whose systemd answers when it is told to; each port says its own name. */
function nodeWith(unit: UnitState) {
  const asked: (number | 'systemd')[] = []
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const observation = {
    clock: { now: () => AT },
    unit: {
      observe: async () => {
        asked.push('systemd')
        await answered
        return unit
      },
      stillRuns: () => true,
    },
    probe: {
      healthz: async ({ port }: HealthTarget) => {
        asked.push(port)
        if (port === 13) throw new Error('a bug')
        return { ok: true, detail: `port ${port}` }
      },
    },
    configFacts: { of: async () => ({ healthz: 'none' as const, runtimeEndpoint: undefined }) },
    checkpoints: {
      path: () => '/nowhere',
      content: () => undefined,
      hasKey: () => false,
      knownAs: (content: string) => content,
      isUnreadable: () => false,
    },
    records: new MemoryRecords(),
  }
  return { observation, asked, answer }
}

const before = (unit: UnitState): KubeletObservation => ({ at: AT, unit, port: undefined, healthz: undefined })

t.test('the process that was there before is asked while systemd is', async (t) => {
  const { observation, asked, answer } = nodeWith(unitOf(1, 101))
  const look = observeKubelet(observation, before(unitOf(1, 101)))
  while (asked.length < 2) await new Promise(setImmediate)
  answer()
  t.match(await look, { healthz: { detail: 'port 101' } })
  t.same(asked.sort(), [101, 'systemd'], 'and once')
})

t.test('another process is asked itself', async (t) => {
  const { observation, answer } = nodeWith(unitOf(2, 102))
  answer()
  t.match(await observeKubelet(observation, before(unitOf(1, 101))), { healthz: { detail: 'port 102' } })
})

t.test('whatever comes of asking the one before', async (t) => {
  const { observation, answer } = nodeWith(unitOf(2, 102))
  answer()
  t.match(await observeKubelet(observation, before(unitOf(1, 13))), { healthz: { detail: 'port 102' } })
})

t.test('without a look before, systemd says whom to ask', async (t) => {
  const { observation, asked, answer } = nodeWith(unitOf(1, 101))
  answer()
  t.match(await observeKubelet(observation), { healthz: { detail: 'port 101' } })
  t.same(asked, ['systemd', 101])
})

const STARTS_LOCAL = { lastKnownGood: LOCAL, next: LOCAL, health: undefined }

t.test('the runtime of k3s is no excuse for a kubelet that ended k3s, and the runtime with it', async (t) => {
  const unit = unitOf(1, 101)
  const { observation } = nodeWith(unit)
  const ports = {
    ...observation,
    runtimeProbe: { isUp: async () => false },
    portHolders: heldBy(),
    defaultRuntimeSocket: () => '/run/containerd/containerd.sock',
  }
  const probe = (program: string) =>
    unit.kind === 'known' ? probeNeeds(ports, { ...unit, command: { path: program, words: [] } }, STARTS_LOCAL) : undefined
  t.match(await probe('/usr/bin/kubelet'), { runtimeUp: false })
  t.strictSame(await probe('/usr/local/bin/k3s'), NOT_PROBED)
})

t.test('whoever has the port that kubelet exited for, where kubelet listens there with each config', async (t) => {
  const found = unitOf(1, 101)
  if (found.kind === 'unknown') throw new Error(found.detail)
  const asked: unknown[] = []
  const probe = async (port: number, words: readonly string[], facts: { readonly readOnlyPort?: number } = {}, exits = 1) => {
    const last = { key: 'k', invocationId: 'i', atUs: 1, words: `listen tcp 0.0.0.0:${port}: bind: address already in use` }
    const ports = {
      ...nodeWith(found).observation,
      configFacts: { of: async () => ({ healthz: 'none' as const, runtimeEndpoint: undefined, ...facts }) },
      runtimeProbe: { isUp: async () => true },
      portHolders: {
        ...heldBy(),
        keeperOf: async (target: HealthTarget) => {
          asked.push(target)
          return { kind: 'stranger', uid: 65534, inodes: [] } as const
        },
      },
      defaultRuntimeSocket: () => undefined,
    }
    const health = { recentExits: [last], subject: 'k', exits }
    const unit = { ...found, localConfigPath: '/local', command: { path: '/usr/bin/kubelet', words } }
    return (await probeNeeds(ports, unit, { ...STARTS_LOCAL, health })).portTaken
  }
  t.match(await probe(10250, []), /uid 65534, which is not kubelet, has port 10250 of 0\.0\.0\.0/)
  t.equal(await probe(10250, ['--port=10350']), undefined, 'a flag wins')
  t.match(await probe(10255, [], { readOnlyPort: 10255 }), /10255/)
  t.match(await probe(10255, ['--read-only-port=10255'], { readOnlyPort: 0 }), /10255/)
  t.equal(await probe(10255, []), undefined, 'no port of this kubelet')
  t.equal(await probe(10250, [], {}, 0), undefined, 'an exit of long ago')
  t.same(
    asked,
    [10250, 10255, 10255].map((port) => ({ host: '0.0.0.0', port })),
  )
})

t.test('the runtime of a config whose checkpoint is gone is read from the file in place', async (t) => {
  const found = unitOf(1, 101)
  if (found.kind === 'unknown') throw new Error(found.detail)
  const CRIO = 'unix:///run/crio/crio.sock'
  const probe = async (wiring: ReadyWiring, lastKnownGood: HeldSource, next: HeldSource, there: Readonly<Record<string, string>>) => {
    const ports = {
      ...nodeWith(found).observation,
      checkpoints: { ...nodeWith(found).observation.checkpoints, path: ({ uid }: CheckpointFile) => `/checkpoints/${uid}` },
      configFacts: {
        of: async ({ path = '', own }: ConfigFiles) => ({ healthz: 'none' as const, runtimeEndpoint: there[own?.content ?? path] }),
      },
      runtimeProbe: { isUp: async (socket: string) => socket.includes('containerd') },
      portHolders: heldBy(),
      defaultRuntimeSocket: () => '/run/containerd/containerd.sock',
    }
    return probeNeeds(ports, { ...found, localConfigPath: '/local', wiring }, { lastKnownGood, next, health: undefined })
  }
  const good = { source: A, content: 'a' }
  const lost = { source: B, content: 'b', onlyInPlace: true }
  for (const wiring of [fileWiring('/local'), dropInWiring('/etc/kubelet.d')]) {
    const inPlace = { [`/checkpoints/${A.uid}`]: CRIO, [wiring.path]: CRIO }
    const both = { runtimeUp: false, changesRuntime: false, targetRuntimeUp: undefined }
    t.same(await probe(wiring, good, lost, inPlace), both, `${wiring.activation}: both name the one that is down`)
    t.same(await probe(wiring, { source: B, content: undefined }, lost, inPlace), both, 'it is last-known-good itself')
    t.match(await probe(wiring, good, lost, { [wiring.path]: CRIO }), { changesRuntime: true, targetRuntimeUp: false }, 'it is another one')
  }
})

t.test('the runtime that a config names is read ahead while it is checked, once it is on disk', async (t) => {
  const read: (string | undefined)[] = []
  const { observation } = nodeWith(unitOf(1, 101))
  const ports = {
    ...observation,
    checkpoints: { ...observation.checkpoints, path: ({ uid }: CheckpointFile) => `/checkpoints/${uid}` },
    configFacts: {
      of: async ({ path }: ConfigFiles) => {
        read.push(path)
        return undefined
      },
    },
    defaultRuntimeSocket: () => undefined,
  }
  const readFor = async (step: Partial<StepOf<'preflight'>>, facts: Partial<Snapshot> = {}) => {
    read.length = 0
    const whole = { kind: 'preflight', source: B, key: keyOf(B), data: undefined, fallback: false, ...step } as const
    await readRuntimesAhead(ports, whole, snapshot({ lastKnownGood: hold(A), ...facts }))
    return [...read]
  }
  t.strictSame(await readFor({}), [`/checkpoints/${A.uid}`, `/checkpoints/${B.uid}`])
  t.strictSame(await readFor({ data: {} }), [], 'it is not on disk')
  t.strictSame(await readFor({ fallback: true }), [], 'a fallback is only decoded')
  t.strictSame(await readFor({}, { unit: { kind: 'unknown', detail: 'no answer' } }), [])
  ports.configFacts.of = () => Promise.reject(new Error('no parser'))
  t.strictSame(await readFor({}), [], 'the pass that needs it reads again')
})

t.test("kubelet's drop-ins count for the health port and the runtime, whoever wrote them", async (t) => {
  const found = unitOf(1, 101)
  if (found.kind === 'unknown') throw new Error(found.detail)
  const asked: ConfigFiles[] = []
  const { observation } = nodeWith(found)
  const configFacts = {
    of: async (files: ConfigFiles) => {
      asked.push(files)
      return { healthz: { host: '127.0.0.1', port: 101 }, runtimeEndpoint: undefined }
    },
  }
  const checkpoints = { ...observation.checkpoints, path: ({ uid }: CheckpointFile) => `/checkpoints/${uid}` }
  const ports = {
    ...observation,
    checkpoints,
    configFacts,
    runtimeProbe: { isUp: async () => true },
    portHolders: heldBy(),
    defaultRuntimeSocket: () => undefined,
  }
  const look = async (unit: KnownUnit) => {
    asked.length = 0
    await observeKubelet({ ...ports, unit: { observe: async () => unit } })
    await probeNeeds(ports, unit, { ...STARTS_LOCAL, next: { source: A, content: 'a' } })
    return [...asked]
  }
  const command = { path: '/usr/bin/kubelet', words: ['--config=/local', '--config-dir=/etc/kubelet.d'] }
  const unit: KnownUnit = { ...found, localConfigPath: '/local', command, process: { kind: 'other', pid: 1, configPath: '/local' } }
  const directory = '/etc/kubelet.d'
  const own = dropInWiring(directory)
  t.same(await look({ ...unit, wiring: fileWiring('/local') }), [
    { path: '/local', directory },
    { path: fileWiring('/local').keptLocalPath, directory },
    { path: `/checkpoints/${A.uid}`, directory },
  ])
  t.same(await look({ ...unit, wiring: own }), [
    { path: '/local', directory },
    { path: '/local', directory, own: { path: own.path, content: undefined } },
    { path: '/local', directory, own: { path: own.path, content: `/checkpoints/${A.uid}` } },
  ])
})
