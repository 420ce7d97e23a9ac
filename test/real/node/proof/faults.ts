// SPDX-License-Identifier: Apache-2.0
/**
 * Faults of the node and of the cluster that a config is not to blame for: nothing is condemned for
 * them, and kubelet ends on what is wanted.
 */
import { strict as assert } from 'node:assert'
import { eventually } from '../../lab/eventually.ts'
import { type Age, onEachKubelet, type Stage } from './stage.ts'

const SHORT = { TRIAL_DURATION: '15s' }
const API_OUTAGE_MS = 300_000
const RUNTIME_OUTAGE_MS = 120_000
const STALL_MS = 30_000
/** After an outage watches are tried again up to a minute apart. */
const RECONNECT_MS = 120_000

export function addFaultScenarios(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'fault: the API server stops for 5 minutes of a trial', 'api-outage', SHORT, async (stage) => {
    const { step, node, plane } = stage
    await step('a good config is promoted', () => stage.promoteFirst())
    const second = await step('the next one is on trial', () => putOnTrial(stage, 330))
    await step('fault: the API server stops for 5 minutes: nothing is condemned, nothing restarted', () =>
      node.withoutRestart(async () => {
        await plane.stopApiserver()
        await stage.pass(API_OUTAGE_MS)
        await assertUncondemned(stage)
        await plane.startApiserver()
        await stage.untilPromoted(second, RECONNECT_MS)
      }),
    )
  })

  onEachKubelet(program, ages, 'fault: containerd is stopped for 2 minutes of a trial', 'runtime-outage', SHORT, async (stage) => {
    const { step, node } = stage
    await step('a static pod runs', () => stage.addStaticPod('etcd'))
    await step('a good config is promoted', () => stage.promoteFirst())
    const second = await step('the next one is on trial', () => putOnTrial(stage, 30))
    await step('containerd accepts and never answers for 2 minutes: nothing is condemned', () =>
      node.withoutRestart(async () => {
        await node.systemctl('kill', '--kill-who=main', '--signal=STOP', 'containerd')
        await stage.pass(RUNTIME_OUTAGE_MS)
        await assertUncondemned(stage)
        await node.systemctl('kill', '--kill-who=main', '--signal=CONT', 'containerd')
        await stage.untilPromoted(second)
        await stage.untilPodRuns('etcd')
      }),
    )
    await step('nor if kubelet has to start meanwhile, and exits again and again', async () => {
      const third = await putOnTrial(stage, 30, 53)
      await node.systemctl('kill', '--kill-who=main', '--signal=STOP', 'containerd')
      await node.systemctl('kill', '--signal=KILL', 'kubelet')
      await stage.pass(RUNTIME_OUTAGE_MS)
      await assertUncondemned(stage)
      await node.systemctl('kill', '--kill-who=main', '--signal=CONT', 'containerd')
      await node.untilRuns(53)
      await stage.untilPromoted(third)
    })
  })

  onEachKubelet(program, ages, 'fault: kubelet is stopped for half a minute', 'stall', SHORT, async (stage) => {
    const { step, node } = stage
    await step('a good config is promoted', () => stage.promoteFirst())
    const second = await step('half a minute of the trial of the next one, and it is promoted', async () => {
      const source = await putOnTrial(stage, 40)
      await stall(stage)
      await stage.untilPromoted(source, 180_000)
      await node.untilRuns(52)
      return source
    })
    await step('half a minute after that: it stays', async () => {
      await stall(stage)
      await stage.pass(STALL_MS)
      await assertUncondemned(stage)
      await node.untilRuns(52)
      await stage.untilPromoted(second)
    })
    await step('stopped for good: it is restarted, with the same config', async () => {
      await node.systemctl('kill', '--kill-who=main', '--signal=STOP', 'kubelet')
      await eventually(() => node.configzDirect(), { what: 'kubelet answers again', timeoutMs: 240_000 })
      await node.untilRuns(52)
      await stage.pass(STALL_MS)
      await assertUncondemned(stage)
      await node.untilRuns(52)
      await stage.untilPromoted(second)
    })
  })
}

async function putOnTrial(stage: Stage, trialSeconds: number, maxPods = 52): Promise<string> {
  await stage.configureAgent({ TRIAL_DURATION: `${trialSeconds}s` })
  const source = await stage.put({ maxPods })
  await stage.node.untilRuns(maxPods)
  await stage.untilOnTrial(source)
  return source
}

async function stall({ node, pass }: Stage): Promise<void> {
  await node.systemctl('kill', '--kill-who=main', '--signal=STOP', 'kubelet')
  await pass(STALL_MS)
  await node.systemctl('kill', '--kill-who=main', '--signal=CONT', 'kubelet')
}

async function assertUncondemned(stage: Stage): Promise<void> {
  assert.deepEqual((await stage.status()).verdicts, [])
}
