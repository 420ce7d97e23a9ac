// SPDX-License-Identifier: Apache-2.0
/** A kubelet that has another identity at each start, as by an environment file with its time. */
import t from 'tap'
import type { Step } from '../../src/decision/step.ts'
import { A, B, C, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import type { KubeletBehaviour } from '../systemd/fake-unit.ts'
import { CRASHES, NEVER_HEALTHY, SmallWorld, WELL } from './small-world.ts'

const EXITING: Readonly<Record<string, KubeletBehaviour>> = {
  'exits at its start': CRASHES,
  'exits after 30 s': { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 30 * SECOND_US },
}
const FAILING: typeof EXITING = { ...EXITING, 'never gets healthy': NEVER_HEALTHY }

/** The file is written before kubelet starts, or by what kubelet's start has started. */
type Written = 'before' | 'after'

class VaryingWorld extends SmallWorld {
  starts = 0
  isVarying = false
  #last: string | undefined
  readonly #written: Written

  constructor(written: Written = 'after') {
    super()
    this.#written = written
  }

  override async pass(): Promise<Step> {
    if (this.#written === 'before') await this.#vary()
    return super.pass()
  }

  async runVarying(us: number, until: () => boolean = () => false): Promise<void> {
    this.isVarying = true
    for (const endUs = this.nowUs + us; this.nowUs < endUs && !until(); ) {
      const { untilUs } = await this.settle()
      this.advance(untilUs - this.nowUs)
      await this.#vary()
    }
    this.isVarying = false
  }

  async #vary(): Promise<void> {
    const unit = await this.unit.observe()
    const invocationId = unit.kind === 'known' ? unit.invocationId : this.#last
    if (invocationId === this.#last || !this.isVarying) return
    this.#last = invocationId
    this.starts += 1
    this.kubeletIdentity = `kubelet-${this.starts}`
  }

  count(kind: string): number {
    return this.history.filter((line) => line.kind === kind).length
  }
}

async function changed(behaviour: KubeletBehaviour, written?: Written): Promise<VaryingWorld> {
  const world = new VaryingWorld(written)
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.behave(B, behaviour)
  world.want(B)
  return world
}

for (const written of ['before', 'after'] as const) {
  for (const [how, behaviour] of Object.entries(FAILING)) {
    t.test(`it is left for good where it ${how}, and the file is written ${written} that`, async (t) => {
      const world = await changed(behaviour, written)
      const isLeft = () => [...world.records.verdicts().values()].some(({ anyKubelet }) => anyKubelet === true)
      await world.runVarying(20 * MINUTE_US, isLeft)
      const most = how in EXITING ? 1 : 3
      t.equal(world.count('rolled-back'), most)
      t.ok(isLeft())
      await world.runVarying(2 * MINUTE_US)
      const restarts = world.restartsAskedAtUs.length
      await world.runVarying(20 * MINUTE_US)
      t.equal(world.count('rolled-back'), most, 'it is not tried on the next kubelet')
      t.equal(world.restartsAskedAtUs.length, restarts, 'kubelet is not restarted again')
      t.equal(world.startedWith, textOf(A))
      t.match([...world.records.verdicts().values()].at(-1), { source: B, anyKubelet: true, state: 'confirmed' })
      world.want(C)
      await world.runVarying(10 * MINUTE_US)
      t.equal(world.startedWith, textOf(C), 'another config is tried')
    })
  }
}

t.test('it is left for good where each process outlives a trial, and not tried on the next kubelet', async (t) => {
  const world = await changed({ healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 11 * MINUTE_US })
  await world.runVarying(4 * HOUR_US, () => world.count('rolled-back') > 0)
  t.match([...world.records.verdicts().values()].at(-1), { source: B, reason: 'crash-loop', anyKubelet: true })
  await world.runVarying(5 * HOUR_US)
  t.equal(world.startedWith, textOf(A))
  t.ok(world.count('rolled-back') <= 4, 'it is tried again with growing pauses')
})

/** As long as kubelet is started with B, the container runtime is down. */
class KillingWorld extends VaryingWorld {
  override async pass(): Promise<Step> {
    this.runtimeUp = this.startedWith !== textOf(B)
    return super.pass()
  }
}

t.test('it is left for good where it takes the container runtime down, which excuses it on each kubelet', async (t) => {
  const world = new KillingWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.behave(B, CRASHES)
  world.want(B)
  const isLeft = () => [...world.records.verdicts().values()].some(({ anyKubelet }) => anyKubelet === true)
  await world.runVarying(13 * MINUTE_US)
  t.equal(world.count('rolled-back'), 1, 'for no longer than one kubelet')
  await world.runVarying(30 * MINUTE_US, isLeft)
  t.ok(isLeft())
  t.match([...world.records.verdicts().values()].at(-1), { source: B, anyKubelet: true, doubtful: true })
  t.equal(world.count('rolled-back'), 1)
})

t.test('where everything else fails, too, all are tried again after a while, whatever kubelet each start makes', async (t) => {
  const world = await changed(CRASHES)
  world.behave(A, CRASHES)
  world.behave('local', CRASHES)
  world.unit.kill()
  await world.runVarying(20 * MINUTE_US)
  world.behave(B, WELL)
  const isTried = () => world.count('retrying') > 0
  await world.runVarying(HOUR_US, isTried)
  t.ok(isTried())
  await world.runVarying(5 * MINUTE_US)
  t.equal(world.startedWith, textOf(B))
})

t.test('retry tries it again, and nothing of before is held against it', async (t) => {
  const world = await changed(CRASHES)
  await world.runVarying(20 * MINUTE_US)
  world.behave(B, WELL)
  world.requests = { ...world.requests, retry: true }
  await world.runVarying(HOUR_US)
  t.equal(world.startedWith, textOf(B))
  t.equal(world.count('rolled-back'), 1)
  t.equal(world.records.verdicts().size, 0)
})

t.test('a boot tries it again, each time later, whatever the kubelet is by then', async (t) => {
  const world = await changed(CRASHES)
  await world.runVarying(20 * MINUTE_US, () => world.count('rolled-back') > 0)
  world.reboot()
  await world.run(11 * MINUTE_US)
  t.match([...world.records.verdicts().values()], [{ source: B, anyKubelet: true, retrials: 1 }])
  world.kubeletIdentity = 'kubelet-of-an-upgrade'
  await world.run(30 * MINUTE_US)
  t.equal(world.startedWith, textOf(A))
  t.match([...world.records.verdicts().values()], [{ source: B, anyKubelet: true, retrials: 1 }])
})

t.test('what had proved itself is tried again, although no installed kubelet ever runs', async (t) => {
  const world = await changed(WELL)
  await world.run(15 * MINUTE_US)
  world.behave(B, CRASHES)
  world.unit.kill()
  await world.runVarying(20 * MINUTE_US, () => world.count('rolled-back') > 0)
  t.match([...world.records.verdicts().values()], [{ source: B, anyKubelet: true, doubtful: true }])
  const tries = world.count('retrying')
  await world.runVarying(15 * MINUTE_US)
  t.ok(world.count('retrying') > tries)
})

t.test('a return to local ends, and local is tried again when its file changes', async (t) => {
  const world = await changed(WELL)
  await world.run(15 * MINUTE_US)
  world.behave('local', CRASHES)
  world.want('local')
  await world.runVarying(10 * MINUTE_US)
  t.equal(world.startedWith, textOf(B), 'kubelet failed with it')
  world.behave('local', WELL)
  world.editLocal('a good local config')
  await world.runVarying(5 * MINUTE_US)
  t.equal(world.startedWith, 'local')
  await world.runVarying(10 * MINUTE_US)
  t.match(world.records.get('left'), { sources: [] })
  t.equal(world.records.verdicts().size, 0)
})

t.test('where somebody starts the fallback, its health confirms nothing, whatever kubelet that makes of it', async (t) => {
  const world = await changed(CRASHES)
  await world.runVarying(20 * MINUTE_US, () => world.startedWith === textOf(A) && world.count('rolled-back') > 0)
  await world.runVarying(5 * SECOND_US)
  world.unit.restartByHand()
  await world.runVarying(5 * MINUTE_US)
  t.equal(world.startedWith, textOf(A))
  t.match([...world.records.verdicts().values()], [{ source: B, state: 'provisional' }])
})
