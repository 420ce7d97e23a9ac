// SPDX-License-Identifier: Apache-2.0
import { basename, dirname } from 'node:path'
import t from 'tap'
import type { DurableFiles } from '../../src/checkpoint/files.ts'
import type { ActivationKind, ReadyWiring } from '../../src/subject/unit-state.ts'
import { UnitActivation } from '../../src/systemd/activation.ts'
import { ACTIVATION_KINDS } from '../../src/systemd/activation-kinds.ts'
import { dropInWiring, envWiring, fileWiring } from '../../src/systemd/wiring-kinds.ts'
import type { FakeStep } from '../checkpoint/fake/fake-disk.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { A, type ActivationWorld, activationContract, B } from './activation-contract.ts'
import { bytesOf, CONFIG, crashEverywhere, DIRECTORY, ORIGINAL, worldWith } from './disk.ts'

const ENV_FILE = `${DIRECTORY}/kubelet.env`
const DROP_INS = '/etc/kubelet.d'

function open(wiring: ReadyWiring): ActivationWorld & { readonly files: DurableFiles; readonly said: readonly string[] } {
  const log = silentLog()
  const { files, disk, clock, time } = worldWith(A, B)
  disk.plant(`${DROP_INS}/README`, '')
  const parts = { files, clock, dynamicConfigDir: DIRECTORY, envFile: ENV_FILE, runtimeDir: '/run/kubelet-cfg-agent' }
  const start = () => new UnitActivation({ ...parts, ownership: { give: () => {} }, log })
  const text = (path: string) => files.read(path)?.toString()
  const configFlag = () => /--config=([^"]+)"/.exec(text(ENV_FILE) ?? '')?.[1] ?? CONFIG
  return {
    wiring,
    said: log.said,
    disk,
    files,
    start,
    activation: start(),
    configFlag,
    configText: () => (wiring.laysOverLocal ? text(wiring.path) : undefined) ?? text(configFlag()),
    pause: () => {
      time.wallMs += 60_000
    },
    time,
  }
}

const WIRINGS = { env: envWiring(ENV_FILE, `--config=${CONFIG}`), file: fileWiring(CONFIG), 'drop-in': dropInWiring(DROP_INS) }
const PLACES = { env: 'env', file: 'config', 'drop-in': 'dropIn' } as const
const FEWEST_CRASH_POINTS = { env: 2, file: 4, 'drop-in': 4 }

for (const kind of ACTIVATION_KINDS) {
  t.test(kind, async (t) => activationContract(t, () => open(WIRINGS[kind]), FEWEST_CRASH_POINTS[kind]))
}

t.test('each wiring has the name of its kind', async (t) => {
  for (const kind of ACTIVATION_KINDS) t.equal(WIRINGS[kind].activation, kind)
})

t.test('an unreadable file makes the state unknown', async (t) => {
  for (const kind of ACTIVATION_KINDS) {
    const { activation, wiring, disk } = open(WIRINGS[kind])
    disk.readFaultOf = (path) => (path === wiring.path ? 'EIO' : undefined)
    t.match(activation.read(wiring), { kind: 'unknown', detail: wiring.path })
  }
})

/** A is activated by one kind, and then the operator selects the other. */
function openChanged(from: ActivationKind, to: ActivationKind) {
  const world = open(WIRINGS[from])
  world.activation.stage('local', WIRINGS[from])
  world.activation.activate(A, WIRINGS[from])
  world.pause()
  const read = () => world.start().read(WIRINGS[to])
  const text = (path: string) => world.files.read(path)?.toString()
  const left = () => ({ config: text(CONFIG), dropIn: text(WIRINGS['drop-in'].path), env: text(ENV_FILE) })
  return { ...world, activation: world.start(), wiring: WIRINGS[to], read, left }
}

const NOTHING_LEFT = { config: ORIGINAL, dropIn: undefined, env: undefined }
const CHANGES = ACTIVATION_KINDS.flatMap((from) => ACTIVATION_KINDS.filter((to) => to !== from).map((to) => [from, to] as const))

for (const [from, to] of CHANGES) {
  t.test(`from ${from} to ${to}: what the other kind has put in place is not the local config, and goes`, async (t) => {
    const { activation, wiring, start, read, left } = openChanged(from, to)
    t.match(read(), { kind: 'unknown', detail: WIRINGS[from].path })
    t.equal(start().readLocal(wiring, CONFIG)?.toString(), ORIGINAL)
    activation.stage('local', wiring)
    activation.activate(B, wiring)
    t.match(read(), { kind: 'checkpoint', source: B })
    const { [PLACES[to]]: placed, ...others } = left()
    t.match(placed, to === 'env' ? '/102/' : bytesOf(B))
    t.match(NOTHING_LEFT, others, 'nothing of the other kind is left')
    activation.activate('local', wiring)
    t.match(read(), { kind: 'local' })
    t.strictSame(left(), NOTHING_LEFT)
  })

  t.test(`from ${from} to ${to}: local, at once`, async (t) => {
    const { activation, wiring, read, left } = openChanged(from, to)
    activation.activate('local', wiring)
    t.match(read(), { kind: 'local' })
    t.strictSame(left(), NOTHING_LEFT)
  })

  t.test(`from ${from} to ${to}: a crash at any point is completed by a repetition`, async (t) => {
    const activateB = ({ activation, wiring }: ReturnType<typeof openChanged>) => activation.activate(B, wiring)
    crashEverywhere(
      () => openChanged(from, to),
      activateB,
      (world, where) => {
        world.disk.restart()
        const state = world.read()
        if (state.kind === 'checkpoint') t.strictSame(state.source, B)
        if (state.kind === 'local') t.strictSame(world.left(), NOTHING_LEFT, `after a crash ${where}`)
        activateB({ ...world, activation: world.start() })
        t.match(world.read(), { kind: 'checkpoint', source: B })
        world.start().activate('local', world.wiring)
        t.strictSame(world.left(), NOTHING_LEFT)
      },
    )
  })

  t.test(`from ${from} to ${to}: what cannot be taken away fails the activation, and is named until it is gone`, async (t) => {
    const { activation, wiring, disk, read, left } = openChanged(from, to)
    const { path } = WIRINGS[from]
    const isChange = ({ kind, path: changed }: FakeStep) => dirname(changed) === dirname(path) && ['rename', 'unlink'].includes(kind)
    disk.faultOf = (step) => (isChange(step) && step.path.includes(basename(path)) ? 'EROFS' : undefined)
    const before = left()
    t.throws(() => activation.activate(B, wiring), { code: 'EROFS' })
    t.strictSame(left(), before, 'and nothing new is in place')
    t.match(read(), { kind: 'unknown', detail: path })
    disk.faultOf = () => undefined
    activation.activate(B, wiring)
    t.match(read(), { kind: 'checkpoint', source: B })
  })
}

for (const [from, to] of CHANGES) {
  t.test(`from ${from} to ${to}: where the new kind cannot be written, the former config stays`, async (t) => {
    const { activation, wiring, disk, left } = openChanged(from, to)
    activation.stage('local', wiring)
    const before = left()
    for (const directory of [dirname(wiring.path), DIRECTORY]) {
      disk.faultOf = ({ kind, path }) => (kind === 'write' && path.startsWith(`${directory}/`) ? 'ENOSPC' : undefined)
      t.throws(() => activation.activate(B, wiring), { code: 'ENOSPC' })
      t.strictSame(left(), before, directory)
    }
  })
}

t.test('room for a name is no room for a config', async (t) => {
  const { activation, wiring, files } = openChanged('drop-in', 'env')
  const sizes: number[] = []
  const replace = files.replace.bind(files)
  files.replace = (path, bytes, options) => {
    sizes.push(bytes.length)
    replace(path, bytes, options)
  }
  activation.activate(B, wiring)
  t.ok(sizes.some((size) => size > 32_000))
})

t.test('local is not in place while another kind has left a config, and a fallback may be', async (t) => {
  for (const target of ['local', B] as const) {
    const { activation, disk } = openChanged('drop-in', 'drop-in')
    const former = openChanged('env', 'env').left().env ?? ''
    disk.plant(ENV_FILE, former)
    disk.faultOf = ({ kind, path }) => (kind === 'unlink' && path === ENV_FILE ? 'EROFS' : undefined)
    const activate = () => activation.activate(target, WIRINGS['drop-in'])
    if (target === 'local') t.throws(activate, { code: 'EROFS' })
    else t.doesNotThrow(activate)
  }
})

for (const to of ['env', 'file'] as const) {
  t.test(`from drop-in to ${to}: what kubelet does not read may stay`, async (t) => {
    const world = open(WIRINGS['drop-in'])
    world.activation.stage(B, WIRINGS['drop-in'])
    world.activation.activate(A, WIRINGS['drop-in'])
    world.disk.unlink(WIRINGS['drop-in'].path)
    world.disk.faultOf = ({ path }) => (dirname(path) === DROP_INS ? 'EROFS' : undefined)
    world.activation.activate(B, WIRINGS[to])
    t.match(world.start().read(WIRINGS[to]), { kind: 'checkpoint', source: B })
  })
}

for (const target of ['local', B] as const) {
  t.test(`what cannot be judged of a former kind fails the activation of ${target === 'local' ? target : 'a config'}`, async (t) => {
    const { activation, wiring, disk, read, left } = openChanged('file', 'env')
    const copy = `${dirname(CONFIG)}/.${basename(CONFIG)}.kubelet-cfg-agent-record`
    disk.plant(CONFIG, 'an edit')
    disk.plant(copy, 'garbage')
    t.match(read(), { kind: 'unknown', detail: copy })
    t.throws(() => activation.activate(target, wiring), { code: 'record-damaged', message: copy })
    t.strictSame(left(), { config: 'an edit', dropIn: undefined, env: undefined })
    disk.unlink(copy)
    activation.activate(target, wiring)
    t.match(read(), { kind: target === 'local' ? 'local' : 'checkpoint' })
  })
}

for (const [from, to] of CHANGES.filter(([from]) => from !== 'env')) {
  t.test(`from ${from} to ${to}: a fault of what the former kind left hides no config that is in place`, async (t) => {
    const { activation, wiring, disk, read, left, said } = openChanged(from, to)
    activation.activate(B, wiring)
    const records = `${DIRECTORY}/${from === 'file' ? 'local' : 'drop-ins'}`
    t.ok(disk.list(records).length)
    disk.readFaultOf = (path) => (path.startsWith(records) ? 'EIO' : undefined)
    t.match(read(), { kind: 'checkpoint', source: B })
    t.match(said, [records])
    activation.activate(A, wiring)
    t.match(read(), { kind: 'checkpoint', source: A })
    disk.readFaultOf = undefined
    t.match(left(), { ...NOTHING_LEFT, [PLACES[to]]: to === 'env' ? '/101/' : bytesOf(A) })
  })
}

for (const to of ['env', 'drop-in'] as const) {
  t.test(`from file to ${to}: the administrator may write into the former file what the agent once had there`, async (t) => {
    for (const target of ['local', B] as const) {
      const { activation, wiring, disk, files, pause, read, start } = openChanged('file', to)
      activation.activate(target, wiring)
      disk.plant(CONFIG, bytesOf(A))
      const expected = target === 'local' ? { kind: 'local' } : { kind: 'checkpoint', source: B }
      t.match(read(), expected)
      start().activate(target, wiring)
      t.match(read(), expected)
      t.equal(files.read(CONFIG)?.toString(), bytesOf(A))
      // And back again: it is the original.
      pause()
      start().activate(B, WIRINGS.file)
      start().activate('local', WIRINGS.file)
      t.equal(files.read(CONFIG)?.toString(), bytesOf(A))
    }
  })

  t.test(`from file to ${to}: so after a crash at any point of the withdrawal, and on a full disk once there is room`, async (t) => {
    const check = (world: ReturnType<typeof openChanged>, where: string) => {
      world.start().activate(B, world.wiring)
      world.disk.plant(CONFIG, bytesOf(A))
      world.start().activate(A, world.wiring)
      t.equal(world.files.read(CONFIG)?.toString(), bytesOf(A), where)
    }
    crashEverywhere(
      () => openChanged('file', to),
      ({ activation, wiring }) => activation.activate('local', wiring),
      (world, where) => {
        world.disk.restart()
        check(world, where)
      },
    )
    const full = openChanged('file', to)
    full.disk.faultOf = ({ kind }) => (kind === 'write' ? 'ENOSPC' : undefined)
    full.activation.activate('local', full.wiring)
    t.strictSame(full.left(), NOTHING_LEFT)
    full.disk.faultOf = () => undefined
    check(full, 'a full disk')
  })
}
