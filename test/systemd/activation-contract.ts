// SPDX-License-Identifier: Apache-2.0
/** The contract of every kind of activation, and of the properties of its wiring. */
import type { Test } from 'tap'
import { contentHash } from '../../src/checkpoint/content.ts'
import type { Activation } from '../../src/ports/activation.ts'
import type { Files } from '../../src/ports/files.ts'
import { type ConfigSource, sameSource } from '../../src/subject/config-source.ts'
import type { ReadyWiring, UnitState } from '../../src/subject/unit-state.ts'
import type { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
import { bytesOf, CONFIG, crashEverywhere, DIRECTORY, ORIGINAL, pathOf, sourceOf } from './disk.ts'

export const A = sourceOf('101')
export const B = sourceOf('102')

/** Systemd does not answer. */
const UNKNOWN: UnitState = { kind: 'unknown', detail: 'no answer' }

/** A node with the checkpoints A and B, and ORIGINAL as kubelet's local config at CONFIG. */
export interface ActivationWorld {
  readonly wiring: ReadyWiring
  readonly activation: Activation
  readonly disk: FakeDisk
  readonly files: Pick<Files, 'read'>
  /** The text that kubelet reads of all that the agent activates, or else of its local config. */
  configText(): string | undefined
  /** The agent after a restart. */
  start(): Activation
  /** The `--config` of a kubelet that starts now. */
  configFlag(): string
  /** Advances the clock until no file counts as recently changed. */
  pause(): void
  /** CLOCK_MONOTONIC, which a test may set. */
  readonly time: { monotonicUs: number }
}

/** @param fewestCrashPoints of the shortest move between two sources */
export function activationContract(t: Test, open: () => ActivationWorld, fewestCrashPoints: number): void {
  const text = ({ files }: ActivationWorld, path: string) => files.read(path)?.toString()
  /** The text that kubelet reads when it starts now. */
  const configText = (world: ActivationWorld) => world.configText()
  const textOf = (source: ConfigSource) => (source === 'local' ? ORIGINAL : bytesOf(source))
  const stateOf = (activation: Activation, wiring: ReadyWiring): ConfigSource => {
    const state = activation.read(wiring)
    if (state.kind === 'unknown') throw new Error(state.detail)
    return state.kind === 'checkpoint' ? state.source : 'local'
  }
  const withActivated = (source: ConfigSource): ActivationWorld => {
    const world = open()
    world.activation.stage('local', world.wiring)
    world.activation.activate(source, world.wiring)
    return world
  }

  t.test('kubelet starts with the activated source, and the agent reads which one that is, after a restart too', async (t) => {
    const world = open()
    for (const source of ['local', A, B, A, 'local', B, B] as const) {
      world.activation.stage('local', world.wiring)
      world.activation.activate(source, world.wiring)
      t.equal(configText(world), textOf(source))
      t.strictSame(stateOf(world.activation, world.wiring), source)
      t.strictSame(stateOf(world.start(), world.wiring), source)
    }
  })

  t.test('the local config can be read whatever is activated, and as it is now', async (t) => {
    const world = open()
    const local = () => world.start().readLocal(world.wiring, CONFIG)?.toString()
    t.equal(local(), ORIGINAL)
    for (const source of [A, B, 'local', A] as const) {
      world.activation.stage('local', world.wiring)
      world.activation.activate(source, world.wiring)
      t.equal(local(), ORIGINAL)
    }
    world.disk.plant(CONFIG, 'maxPods: 7')
    t.equal(local(), 'maxPods: 7', 'kubeadm wrote it anew')
    world.pause()
    world.activation.activate(B, world.wiring)
    t.equal(local(), 'maxPods: 7')
  })

  t.test('activating the same source again changes nothing', async (t) => {
    const world = withActivated(A)
    const before = text(world, world.wiring.path)
    world.activation.activate(A, world.wiring)
    t.equal(text(world, world.wiring.path), before)
    t.strictSame(stateOf(world.activation, world.wiring), A)
  })

  t.test('a full disk does not keep a node from falling back, and further to local', async (t) => {
    const world = withActivated(A)
    const { activation, wiring, disk } = world
    activation.stage(A, wiring)
    activation.activate(B, wiring)
    disk.full = true
    activation.activate(A, wiring)
    t.equal(configText(world), bytesOf(A))
    t.strictSame(stateOf(world.start(), wiring), A)
    t.throws(() => activation.activate(B, wiring), { code: 'ENOSPC' })
    t.strictSame(stateOf(activation, wiring), A, 'a failed write changes nothing')
    activation.activate('local', wiring)
    t.equal(configText(world), ORIGINAL)
    t.equal(stateOf(world.start(), wiring), 'local')
  })

  t.test('rejects a source whose path leads out of the directory', async (t) => {
    const { activation, wiring } = withActivated(A)
    t.throws(() => activation.activate({ ...A, uid: '../..' }, wiring), { code: 'unsafe-character' })
    t.strictSame(stateOf(activation, wiring), A)
  })

  t.test('a crash at any point: kubelet starts with the old or the new config, and a repetition activates the new one', async (t) => {
    type Move = [fallback: ConfigSource | undefined, to: ConfigSource]
    const paths: Move[][] = [
      [['local', A]],
      [
        ['local', A],
        [A, B],
      ],
      [
        ['local', A],
        [A, B],
        [undefined, A],
      ],
      [
        ['local', A],
        [undefined, 'local'],
      ],
      [
        ['local', B],
        ['local', A],
      ],
      [
        ['local', A],
        [A, 'local'],
      ],
    ]
    for (const path of paths) {
      const last = path.at(-1)
      const [, from] = path.at(-2) ?? [undefined, 'local' as const]
      if (last === undefined) throw new Error('an empty path')
      const to = last[1]
      const carryOut = (activation: Activation, wiring: ReadyWiring, [fallback, target]: Move) => {
        if (fallback !== undefined) activation.stage(fallback, wiring)
        activation.activate(target, wiring)
      }
      const start = () => {
        const world = open()
        for (const move of path.slice(0, -1)) carryOut(world.activation, world.wiring, move)
        world.pause()
        return world
      }
      for (const random of [undefined, () => 0, () => 0.9]) {
        const check = (world: ActivationWorld, where: string) => {
          if (random === undefined) world.disk.restart()
          else world.disk.powerLoss(random)
          const { wiring } = world
          t.ok([textOf(from), textOf(to)].includes(configText(world) ?? ''), `after a crash ${where}: ${configText(world)}`)
          const activation = world.start()
          const state = stateOf(activation, wiring)
          t.ok(sameSource(state, from) || sameSource(state, to), `the agent reads which one it is after a crash ${where}`)
          carryOut(activation, wiring, last)
          t.strictSame(stateOf(activation, wiring), to)
          t.equal(configText(world), textOf(to))
          activation.activate('local', wiring)
          t.equal(configText(world), ORIGINAL)
        }
        t.ok(crashEverywhere(start, ({ activation, wiring }) => carryOut(activation, wiring, last), check) >= fewestCrashPoints)
      }
    }
  })

  t.test('withdraws everything without the wiring of the unit, after a restart of the agent', async (t) => {
    const world = withActivated(A)
    const restored: string[] = []
    world.start().withdraw('everything', UNKNOWN, (path) => restored.push(path))
    t.equal(configText(world), ORIGINAL)
    t.equal(stateOf(world.start(), world.wiring), 'local')
    t.strictSame(restored, world.wiring.leavesWithAgent ? [world.wiring.path] : [])
    world.start().withdraw('everything', UNKNOWN, (path) => t.fail(`${path} was withdrawn twice`))
  })

  t.test("leavesWithAgent: what is in place outlives the agent's directory, and so do the original and the way back to it", async (t) => {
    for (const [fallback, target] of [
      ['local', A],
      [A, B],
    ] as const) {
      const world = withActivated(A)
      if (!world.wiring.leavesWithAgent) return
      world.activation.stage(fallback, world.wiring)
      world.activation.activate(target, world.wiring)
      world.disk.removeTree(DIRECTORY)
      const activation = world.start()
      const content = contentHash({ kubelet: bytesOf(target) }, 'kubelet')
      t.match(activation.read(world.wiring), { kind: 'checkpoint', source: target, content })
      t.equal(activation.readLocal(world.wiring, CONFIG)?.toString(), ORIGINAL)
      world.disk.plant(pathOf(A), bytesOf(A))
      activation.stage('local', world.wiring)
      activation.activate(A, world.wiring)
      t.strictSame(stateOf(world.start(), world.wiring), A)
      world.start().activate('local', world.wiring)
      t.equal(configText(world), ORIGINAL)
      t.equal(stateOf(world.start(), world.wiring), 'local')
    }
  })

  t.test('leavesWithAgent: a fallback that is activated from local, with nothing staged before, leaves a way back too', async (t) => {
    const world = withActivated(A)
    if (!world.wiring.leavesWithAgent) return
    world.activation.activate('local', world.wiring)
    world.activation.activate(A, world.wiring)
    world.disk.removeTree(DIRECTORY)
    t.equal(world.start().readLocal(world.wiring, CONFIG)?.toString(), ORIGINAL)
    world.start().activate('local', world.wiring)
    t.equal(configText(world), ORIGINAL)
  })

  t.test('leavesWithAgent: withdrawn also where only foreign directories are', async (t) => {
    const world = withActivated(A)
    world.start().withdraw('replaced-files', UNKNOWN, () => {})
    t.strictSame(stateOf(world.start(), world.wiring), world.wiring.leavesWithAgent ? 'local' : A)
  })

  t.test('laysOverLocal: without a path in place, kubelet reads what it always reads', async (t) => {
    const world = withActivated(A)
    if (!world.wiring.laysOverLocal) return
    world.activation.activate('local', world.wiring)
    t.equal(text(world, world.wiring.path), undefined)
  })

  t.test('path: the file that is written', async (t) => {
    const world = open()
    const before = text(world, world.wiring.path)
    world.activation.activate(A, world.wiring)
    t.not(text(world, world.wiring.path), before)
  })

  t.test('replacesLocalFile: whether the local config file changes', async (t) => {
    const world = withActivated(A)
    t.equal(text(world, CONFIG), world.wiring.replacesLocalFile ? bytesOf(A) : ORIGINAL)
  })

  t.test('configFlagIsFixed: whether --config stays the same; if so, the time of activation is known', async (t) => {
    const world = withActivated(A)
    const first = world.configFlag()
    world.activation.activate(B, world.wiring)
    t.equal(world.configFlag() === first, world.wiring.configFlagIsFixed)
    const state = world.activation.read(world.wiring)
    t.equal(state.kind === 'checkpoint' && state.since !== undefined, world.wiring.configFlagIsFixed)
  })

  t.test('configFlagIsFixed: another wording of what is in place changes nothing for a process that was started before it', async (t) => {
    const { wiring, activation, time } = open()
    if (!wiring.configFlagIsFixed) return
    activation.activate(A, wiring)
    const atUs = time.monotonicUs
    time.monotonicUs += 40e6
    activation.activate(B, wiring, true)
    t.match(activation.read(wiring), { source: B, since: { monotonicUs: atUs } })
    activation.activate(A, wiring)
    t.match(activation.read(wiring), { source: A, since: { monotonicUs: atUs + 40e6 } }, 'another config does')
  })

  t.test('configFlagIsFixed: what was put in place since it was observed is no wording of the target', async (t) => {
    const world = open()
    const { wiring, activation, time } = world
    if (!wiring.configFlagIsFixed) return
    activation.activate(A, wiring)
    world.disk.plant(wiring.path, 'from somebody else')
    world.pause()
    let lastSeenUs = 0
    world.disk.onStep = () => {
      time.monotonicUs += 1
      if (text(world, wiring.path) === 'from somebody else') lastSeenUs = time.monotonicUs
    }
    activation.activate(B, wiring, true)
    world.disk.onStep = undefined
    const state = activation.read(wiring)
    t.ok(state.kind === 'checkpoint' && (state.since?.monotonicUs ?? 0) > lastSeenUs, 'a kubelet may have started with it until then')
  })
}
