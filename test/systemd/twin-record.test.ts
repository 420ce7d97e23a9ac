// SPDX-License-Identifier: Apache-2.0
/**
 * The record beside kubelet's config and the one in the agent's directory, after one of them was
 * lost, damaged or restored from a backup. What the agent put in place never becomes the local
 * config.
 */
import fc from 'fast-check'
import t from 'tap'
import type { UnitState } from '../../src/subject/unit-state.ts'
import { errorCode } from '../../src/values/errors.ts'
import { unit } from '../report/build.ts'
import { bytesOf, CONFIG, DIRECTORY, ORIGINAL, pathOf } from './disk.ts'
import { A, B, C, COPIES, OUTSIDE_KINDS, type OutsideKind, TwinWorld } from './twin-world.ts'

const UNKNOWN: UnitState = { kind: 'unknown', detail: 'no answer' }

/** A unit that names the directory of the agent's file, and does not take its config from there. */
function unitOf(kind: OutsideKind, directory: string): UnitState {
  const wiring = { kind: 'broken', reason: 'overridden', detail: 'a later drop-in' } as const
  if (kind === 'file') return unit({ wiring, localConfigPath: CONFIG })
  return unit({ wiring, command: { path: '/usr/bin/kubelet', words: [`--config-dir=${directory}`] } })
}

for (const kind of OUTSIDE_KINDS) {
  t.test(`${kind}: the directory is lost, the agent goes on, and the old directory comes back`, async (t) => {
    const world = new TwinWorld(kind)
    world.activate(A)
    const old = world.save(DIRECTORY)
    world.files.removeTree(DIRECTORY)
    world.disk.plant(pathOf(B), bytesOf(B))
    world.activate(B)
    world.restore(DIRECTORY, old)
    t.strictSame(world.next(), B, 'only the copy knows it')
    world.activate(C)
    t.strictSame(world.next(), C)
    world.activate('local')
    t.equal(world.local(), ORIGINAL)
  })

  t.test(`${kind}: the directory beside kubelet's config is restored from a backup`, async (t) => {
    const world = new TwinWorld(kind)
    world.activate(A)
    const old = world.save(world.outside)
    world.activate(B, A)
    world.activate(C, B)
    world.restore(world.outside, old)
    t.strictSame(world.next(), A, 'only the copy knows it')
    world.activate(C)
    world.activate('local')
    t.equal(world.local(), ORIGINAL)
  })

  t.test(`${kind}: restored from a backup of a time at which local was in place, nothing is lost`, async (t) => {
    const world = new TwinWorld(kind)
    const old = world.save(world.outside)
    world.activate(A)
    world.restore(world.outside, old)
    t.equal(world.next(), 'local')
    world.activate(B)
    world.activate('local')
    t.equal(world.local(), ORIGINAL)
  })

  for (const damage of ['', '{', '{}']) {
    t.test(`${kind}: one of the two records is damaged ("${damage}"), and the other is whole`, async (t) => {
      for (const damaged of ['own', 'copy'] as const) {
        const world = new TwinWorld(kind)
        world.activate(A)
        world.disk.plant(damaged === 'own' ? world.ownRecord : COPIES[kind], damage)
        t.strictSame(world.next(), A)
        t.equal(world.start().readLocal(world.wiring, '/etc/kubernetes/kubelet/kubelet-config.json')?.toString(), ORIGINAL)
        world.activate(B, A)
        t.strictSame(world.next(), B)
        world.activate('local')
        t.equal(world.local(), ORIGINAL)
      }
    })
  }

  t.test(`${kind}: one record is damaged, and the other does not know what is in place: it is unknown, and not local`, async (t) => {
    for (const damaged of ['own', 'copy'] as const) {
      const world = new TwinWorld(kind)
      world.activate(A)
      const path = damaged === 'own' ? world.ownRecord : COPIES[kind]
      world.disk.plant(path, '{')
      world.disk.plant(world.wiring.path, 'something else')
      t.match(world.start().read(world.wiring), { kind: 'unknown', detail: path, unrecorded: true })
    }
  })

  t.test(`${kind}: one of the two records cannot be read`, async (t) => {
    for (const faulty of ['own', 'copy'] as const) {
      const world = new TwinWorld(kind)
      world.activate(A)
      const path = faulty === 'own' ? world.ownRecord : COPIES[kind]
      world.disk.readFaultOf = (each) => (each === path ? 'EIO' : undefined)
      t.strictSame(world.next(), A)
      world.disk.plant(world.wiring.path, 'something else')
      t.match(world.start().read(world.wiring), { kind: 'unknown', detail: path, unrecorded: true })
    }
  })
  t.test(`${kind}: the directory beside kubelet's config is copied to another path`, async (t) => {
    const world = new TwinWorld(kind)
    world.activate(A)
    for (const [path, text] of world.save(world.outside)) world.disk.plant(path.replace(world.outside, '/data/kubelet'), text)
    const wiring = { ...world.wiring, path: world.wiring.path.replace(world.outside, '/data/kubelet') }
    t.strictSame(world.next(wiring), A, 'the copy knows it')
    const before = world.save(world.outside)
    for (const [target, fallback] of [
      [B, A],
      [C, B],
    ] as const) {
      world.activate(target, fallback, wiring)
      t.strictSame(world.next(wiring), target)
      t.equal(world.text(wiring.path), bytesOf(target))
    }
    t.strictSame(world.save(world.outside), before, 'nothing is written at the old path')
    const withdrawn: string[] = []
    world.start().withdraw('everything', UNKNOWN, (path) => withdrawn.push(path))
    t.strictSame(withdrawn.sort(), [wiring.path, world.wiring.path].sort())
    t.equal(world.text(wiring.path), kind === 'file' ? ORIGINAL : undefined)
    t.equal(world.local(), ORIGINAL)
  })

  t.test(
    `${kind}: the directory is lost, and the unit does not take its config from the agent: what is in place is withdrawn`,
    async (t) => {
      const world = new TwinWorld(kind)
      const broken = unitOf(kind, world.outside)
      t.strictSame(world.start().findOutside(broken), [], 'nothing was activated')
      world.activate(A)
      t.strictSame(world.start().findOutside(UNKNOWN), [world.wiring.path], 'by the own record')
      world.files.removeTree(DIRECTORY)
      t.strictSame(world.start().findOutside(UNKNOWN), [])
      t.strictSame(world.start().findOutside(broken), [world.wiring.path])
      const withdrawn: string[] = []
      world.start().withdraw('replaced-files', broken, (path) => withdrawn.push(path))
      t.strictSame(withdrawn, [world.wiring.path])
      t.equal(world.local(), ORIGINAL)
      t.strictSame(world.start().findOutside(broken), [])
      world.start().withdraw('replaced-files', broken, (path) => t.fail(path))
    },
  )

  t.test(`${kind}: the directory is lost, and the copy is damaged: something may be there, and it stays`, async (t) => {
    const world = new TwinWorld(kind)
    world.activate(A)
    world.files.removeTree(DIRECTORY)
    world.disk.plant(COPIES[kind], '{')
    const unit = unitOf(kind, world.outside)
    t.strictSame(world.start().findOutside(unit), [world.wiring.path])
    world.start().withdraw('everything', unit, (path) => t.fail(path))
    t.equal(world.text(), bytesOf(A))
  })

  t.test(`${kind}: an agent that wrote neither copy nor content is upgraded: the first look completes them`, async (t) => {
    const world = new TwinWorld(kind)
    world.activate(A)
    const own = JSON.parse(world.text(world.ownRecord) ?? '')
    const { content, ...target } = own.target
    t.type(content, 'string')
    world.disk.plant(world.ownRecord, JSON.stringify({ ...own, target, revision: undefined }))
    for (const [path] of world.save(world.outside)) if (/record$|agent-local$/.test(path)) world.disk.unlink(path)
    world.disk.full = true
    t.strictSame(world.next(), A, 'a full disk keeps it from nothing')
    t.equal(world.text(COPIES[kind]), undefined)
    world.disk.full = false
    t.strictSame(world.next(), A)
    let steps = 0
    world.disk.onStep = () => {
      steps += 1
    }
    t.strictSame(world.next(), A)
    t.equal(steps, 0, 'once')
    world.disk.onStep = undefined
    world.files.removeTree(DIRECTORY)
    t.match(world.start().read(world.wiring), { kind: 'checkpoint', source: A, content })
    world.start().activate('local', world.wiring)
    t.equal(world.local(), ORIGINAL)
  })

  t.test(`${kind}: the copy is written without its content where the checkpoint is gone`, async (t) => {
    const world = new TwinWorld(kind)
    world.activate(A)
    const own = JSON.parse(world.text(world.ownRecord) ?? '')
    world.disk.plant(world.ownRecord, JSON.stringify({ ...own, target: { ...own.target, content: undefined } }))
    world.disk.unlink(COPIES[kind])
    world.disk.unlink(pathOf(A))
    t.strictSame(world.next(), A)
    t.match(world.text(COPIES[kind]), A.resourceVersion)
  })

  t.test(`${kind}: a damaged record is written anew, and a lost directory is not, since it may be mounted late`, async (t) => {
    for (const damaged of ['own', 'copy'] as const) {
      const world = new TwinWorld(kind)
      world.activate(A)
      const path = damaged === 'own' ? world.ownRecord : COPIES[kind]
      const text = world.text(path)
      world.disk.plant(path, '{')
      t.strictSame(world.next(), A)
      t.equal(world.text(path), text)
    }
    const world = new TwinWorld(kind)
    world.activate(A)
    world.files.removeTree(DIRECTORY)
    t.strictSame(world.next(), A)
    t.equal(world.files.stat(DIRECTORY), undefined)
  })
}

t.test('file: of two records that know what is in place, the newer one knows the original', async (t) => {
  const world = new TwinWorld('file')
  world.activate(A)
  const old = world.save(DIRECTORY)
  world.files.removeTree(DIRECTORY)
  world.disk.plant(pathOf(A), bytesOf(A))
  world.disk.plant(world.wiring.path, 'edited')
  world.activate(A)
  world.restore(DIRECTORY, old)
  world.activate('local')
  t.equal(world.local(), 'edited')
})

t.test('file: a content that one record knows as the original and the other as a source is that source', async (t) => {
  const world = new TwinWorld('file')
  world.disk.plant(pathOf(A), ORIGINAL)
  world.activate(B)
  const old = world.save(DIRECTORY)
  world.disk.plant(world.wiring.path, 'edited')
  world.activate(A)
  world.restore(DIRECTORY, old)
  t.strictSame(world.next(), A)
  world.activate('local')
  t.equal(world.local(), 'edited')
})

t.test('file: an edit that neither record knows is the local config', async (t) => {
  const world = new TwinWorld('file')
  world.activate(A)
  world.disk.plant(world.wiring.path, 'edited')
  t.equal(world.next(), 'local')
  world.activate(B)
  world.activate('local')
  t.equal(world.local(), 'edited')
})

t.test('file: whatever is lost, restored or damaged, the local config is never one that the agent put in place', async (t) => {
  const move = fc.oneof(
    fc.constantFrom('activate A', 'activate B', 'activate C', 'local', 'edit', 'look'),
    fc.constantFrom('save', 'restore state', 'restore outside', 'lose state', 'damage own', 'damage copy'),
  )
  fc.assert(
    fc.property(fc.array(move, { maxLength: 14 }), (moves) => {
      const world = new TwinWorld('file')
      const theirs = new Set([ORIGINAL])
      let saved = { state: world.save(DIRECTORY), outside: world.save(world.outside) }
      const carryOut: Readonly<Record<string, () => void>> = {
        'activate A': () => world.activate(A),
        'activate B': () => world.activate(B, A),
        'activate C': () => world.activate(C, B),
        local: () => world.activate('local'),
        look: () => void world.next(),
        edit: () => {
          const text = `edited ${theirs.size}`
          theirs.add(text)
          world.disk.plant(world.wiring.path, text)
        },
        save: () => {
          saved = { state: world.save(DIRECTORY), outside: world.save(world.outside) }
        },
        'restore state': () => world.restore(DIRECTORY, saved.state),
        'restore outside': () => world.restore(world.outside, saved.outside),
        'lose state': () => world.files.removeTree(DIRECTORY),
        'damage own': () => damage(world.save(DIRECTORY).find(([path]) => path.endsWith('record.json'))?.[0]),
        'damage copy': () => damage(world.text(COPIES.file) === undefined ? undefined : COPIES.file),
      }
      const damage = (path: string | undefined) => path !== undefined && world.disk.plant(path, '{')
      for (const each of [...moves, 'local']) {
        for (const source of [A, B, C]) world.disk.plant(pathOf(source), bytesOf(source))
        const isDone = tryTo(() => carryOut[each]?.())
        if (each === 'local' && isDone) t.ok(theirs.has(world.text() ?? ''), `local is ${world.text()} after ${moves.join(', ')}`)
        if (world.next() === 'local') t.ok(theirs.has(world.text() ?? ''), `${world.text()} counts as local after ${moves.join(', ')}`)
      }
      return t.passing()
    }),
    { numRuns: 500 },
  )
})

/** Whether it went well. What cannot be told is refused. */
function tryTo(action: () => void): boolean {
  try {
    action()
    return true
  } catch (cause) {
    if (errorCode(cause) === undefined) throw cause
    return false
  }
}
