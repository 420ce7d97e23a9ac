/** A kubelet that has another identity at each start, as by an environment file with its time. */
import t from 'tap'
import type { KubeletBehaviour } from '../../src/systemd/fake/fake-unit.ts'
import { A, B, C, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld, WELL } from './small-world.ts'

const FAILING: Readonly<Record<string, KubeletBehaviour>> = {
  'at its start': CRASHES,
  'after 30 s': { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 30 * SECOND_US },
}

class VaryingWorld extends SmallWorld {
  starts = 0
  #last: string | undefined

  async runVarying(us: number, until: () => boolean = () => false): Promise<void> {
    for (const endUs = this.nowUs + us; this.nowUs < endUs && !until(); ) {
      const { untilUs } = await this.settle()
      this.advance(untilUs - this.nowUs)
      const unit = await this.unit.observe()
      const invocationId = unit.kind === 'known' ? unit.invocationId : this.#last
      if (invocationId === this.#last) continue
      this.#last = invocationId
      this.starts += 1
      this.kubeletIdentity = `kubelet-${this.starts}`
    }
  }

  count(kind: string): number {
    return this.history.filter((line) => line.kind === kind).length
  }
}

async function changed(behaviour: KubeletBehaviour): Promise<VaryingWorld> {
  const world = new VaryingWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.behave(B, behaviour)
  world.want(B)
  return world
}

for (const [when, behaviour] of Object.entries(FAILING)) {
  t.test(`it is left for good where it exits ${when}`, async (t) => {
    const world = await changed(behaviour)
    await world.runVarying(10 * MINUTE_US, () => world.count('rolled-back') > 0)
    t.equal(world.count('rolled-back'), 1)
    const restarts = world.restartsAskedAtUs.length
    await world.runVarying(3 * HOUR_US)
    t.equal(world.count('rolled-back'), 1, 'it is not tried on the next kubelet')
    t.equal(world.restartsAskedAtUs.length, restarts, 'kubelet is not restarted again')
    t.equal(world.startedWith, textOf(A))
    t.match([...world.records.verdicts().values()], [{ source: B, anyKubelet: true }])
    await world.runVarying(10 * MINUTE_US)
    world.want(C)
    await world.runVarying(10 * MINUTE_US)
    t.equal(world.startedWith, textOf(C), 'another config is tried')
  })
}

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
  await world.runVarying(20 * MINUTE_US)
  world.reboot()
  await world.run(11 * MINUTE_US)
  t.match([...world.records.verdicts().values()], [{ source: B, anyKubelet: true, retrials: 1 }])
  world.kubeletIdentity = 'kubelet-of-an-upgrade'
  await world.run(30 * MINUTE_US)
  t.equal(world.startedWith, textOf(A))
  t.match([...world.records.verdicts().values()], [{ source: B, anyKubelet: true, retrials: 1 }])
})
