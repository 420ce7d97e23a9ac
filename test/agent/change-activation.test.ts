/** The operator selects another kind of activation while kubelet runs a config of the agent. */
import t from 'tap'
import { ACTIVATION_KINDS } from '../../src/systemd/activation-kinds.ts'
import { A, SECOND_US, textOf } from '../decision/snapshots.ts'
import { LOCAL_TEXT, SmallWorld } from './small-world.ts'

for (const from of ACTIVATION_KINDS) {
  for (const to of ACTIVATION_KINDS.filter((kind) => kind !== from)) {
    t.test(`from ${from} to ${to}: kubelet is not restarted for the same content, and local is what it was`, async (t) => {
      const world = new SmallWorld({ activation: from })
      world.editLocal(LOCAL_TEXT)
      world.disk.plant('/etc/kubelet.conf.d/README', '')
      world.want(A)
      await world.run(1200 * SECOND_US)
      t.strictSame(world.record('last-known-good'), A)
      const restarts = world.restartsAskedAtUs.length
      const former = world.placePath

      world.changeActivation(to)
      t.match(await world.run(60 * SECOND_US), { phase: 'settled' })
      t.equal(world.restartsAskedAtUs.length, restarts)
      t.match(world.disk.read(world.placePath).toString(), to === 'env' ? /--config=/ : textOf(A))
      if (from === 'file') t.equal(world.disk.read(former).toString(), LOCAL_TEXT)
      else t.equal(world.disk.stat(former), undefined)

      world.want('local')
      await world.run(60 * SECOND_US)
      t.equal(world.record('last-known-good'), 'local')
      t.equal(world.disk.read('/var/lib/kubelet/config.yaml').toString(), LOCAL_TEXT)
    })
  }
}
