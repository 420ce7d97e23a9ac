// SPDX-License-Identifier: Apache-2.0
/** A refusal restarts nothing: what runs goes on, and so do its trial and its promotion. */
import { strict as assert } from 'node:assert'
import type { Condition } from '../../administrator.ts'
import { type Age, onEachKubelet, type Stage } from './stage.ts'

export function addRefusalScenarios(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'a refusal in mid-trial', 'refusal', { TRIAL_DURATION: '20s' }, async (stage) => {
    const { step, node } = stage
    await step('a good config is promoted', () => stage.promoteFirst())
    const second = await step('the next one is on trial', async () => {
      const source = await stage.put({ maxPods: 52 })
      await node.untilRuns(52)
      await stage.untilOnTrial(source)
      return source
    })
    await step('a typo is refused, and the trial goes on to its promotion, without a restart', () =>
      node.withoutRestart(async () => {
        const typo = await stage.put({ maxPods: 53, kubeAPIQPS: -1 })
        await untilRefused(stage, typo, /kubeAPIQPS/)
        await node.untilSays(/^updated last-known-good config to .*node-config/, 2, 120_000)
        assert(node.read('meta', 'last-known-good')?.includes(`resourceVersion: "${second.split('@')[1]}"`))
      }),
    )
    await step('an empty ConfigMap is refused, without a restart', () =>
      node.withoutRestart(async () => {
        await untilRefused(stage, await stage.putText(''), /empty/)
      }),
    )
    await step('what kubelet dies of while it loads or starts is refused, without a restart', () =>
      node.withoutRestart(async () => {
        const unknownGate = await stage.put({ maxPods: 53, featureGates: { NoSuchGate: true } })
        await untilRefused(stage, unknownGate, /NoSuchGate/)
        const wrongSysctl = await stage.put({ maxPods: 53, allowedUnsafeSysctls: ['vm.nr_hugepages'] })
        await untilRefused(stage, wrongSysctl, /vm\.nr_hugepages/)
      }),
    )
    await step('the same content in other bytes is what runs, without a restart', () =>
      node.withoutRestart(async () => {
        const source = await stage.putText(`# checked by a person\n${node.config({ maxPods: 52 })}`)
        await stage.untilPromoted(source)
      }),
    )
  })
}

/** The version is in the message: the condition may still be that of the version before. */
function untilRefused({ admin }: Stage, source: string, why: RegExp): Promise<Condition> {
  return admin.untilCondition({ status: 'False', reason: 'Refused', message: new RegExp(`^${source} was refused .*${why.source}`) })
}
