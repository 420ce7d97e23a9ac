/** A kubelet that has another identity at each start, as by an environment file with its time. */
import t from 'tap'
import type { KubeletBehaviour } from '../../src/systemd/fake/fake-unit.ts'
import { A, B, MINUTE_US, SECOND_US } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

const FAILING: Readonly<Record<string, KubeletBehaviour>> = {
  'at its start': CRASHES,
  'after 30 s': { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 30 * SECOND_US },
}

for (const [when, behaviour] of Object.entries(FAILING)) {
  t.test(`it is left where it exits ${when}`, async (t) => {
    const world = new SmallWorld()
    world.want(A)
    await world.run(15 * MINUTE_US)
    world.behave(B, behaviour)
    world.want(B)
    let last: string | undefined
    let starts = 0
    const isLeft = () => world.history.some(({ kind }) => kind === 'rolled-back')
    for (const endUs = world.nowUs + 10 * MINUTE_US; world.nowUs < endUs && !isLeft(); ) {
      await world.settle()
      world.advance(SECOND_US)
      const unit = await world.unit.observe()
      const invocationId = unit.kind === 'known' ? unit.invocationId : last
      if (invocationId === last) continue
      last = invocationId
      starts += 1
      world.kubeletIdentity = `kubelet-${starts}`
    }
    t.ok(isLeft())
  })
}
