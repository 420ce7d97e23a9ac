// SPDX-License-Identifier: Apache-2.0
/** A trace tells two runs apart by what the agent does in them, and by nothing else. */
import t from 'tap'
import type { Schedule } from './schedule.ts'
import type { SimWorld } from './sim-world.ts'
import { hashOf, recordRun } from './trace.ts'

const REFUSED: Schedule = {
  seed: 4,
  events: [
    { afterSeconds: 0, event: { kind: 'edit', name: 'red', behaviour: 'good' } },
    { afterSeconds: 1, event: { kind: 'assign', name: 'red' } },
    { afterSeconds: 600, event: { kind: 'edit', name: 'red', behaviour: 'invalid' } },
    { afterSeconds: 100, event: { kind: 'unassign' } },
    { afterSeconds: 0, event: { kind: 'assign', name: 'red' } },
  ],
}

// On a busy machine it takes longer than tap grants a file that is run by itself.
t.setTimeout(600_000)

t.test('the same run has the same trace, whatever ran before it', async (t) => {
  const crash = { operation: 40, phase: 'after', powerLoss: true } as const
  const calm = await recordRun(REFUSED)
  const crashed = await recordRun(REFUSED, { crash })
  t.not(crashed, calm)
  t.equal(await recordRun(REFUSED), calm)
  t.equal(await recordRun(REFUSED, { crash }), crashed)
  t.not(hashOf(crashed), hashOf(calm))
})

t.test('a trace has what is done, told and reported', async (t) => {
  const trace = await recordRun(REFUSED)
  for (const what of ['steps "promote"', 'waits "settled"', 'restarts kubelet', 'kubelet is started "agent"', 'condition', 'settled'])
    t.match(trace, new RegExp(`^\\d+ ${what}`, 'm'))
  t.match(trace, /^\d+ event .*KubeletConfigPromoted/m)
  t.match(trace, /^\d+ append .*history\.jsonl/m)
})

t.test('an agent that decides otherwise has another trace', async (t) => {
  const onWorld = (world: SimWorld) => Object.assign(world, { policy: { ...world.policy, trialUs: world.policy.trialUs + 1e6 } })
  t.not(await recordRun(REFUSED, { onWorld }), await recordRun(REFUSED))
})
