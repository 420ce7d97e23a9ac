// SPDX-License-Identifier: Apache-2.0
/**
 * A config that cuts kubelet off the API server while `/healthz` goes on to answer: an unknown
 * content type, a lease that is renewed every three days, and no static pods. It was once promoted
 * by a trial that asked for no more than `/healthz`. It is refused without a trial; where those who
 * are responsible for the node allow all of it, the trial finds out.
 */
import { strict as assert } from 'node:assert'
import { type Age, onEachKubelet, type Settings } from './stage.ts'

const CUT_OFF = { contentType: 'application/foo', nodeLeaseDurationSeconds: 1_000_000, staticPodPath: undefined }
/** Of the node: what its owner allows. */
const ALLOWED = { GUARDS_OFF: 'content-type,node-lease,static-pods' }
const SETTINGS = { TRIAL_DURATION: '15s', START_DEADLINE: '20s' }
/**
 * Kubelet's port answers 500 then, since it asks the API server about each request. Where the
 * evidence may not count that, the lease says it, 40 s after the deadline of the start.
 */
const TOLD: Readonly<Record<Age, { readonly settings: Settings; readonly why: RegExp }>> = {
  old: { settings: {}, why: /serving: kubelet's TLS port answers HTTP 500/ },
  new: { settings: { EVIDENCE: 'serving=watched,static-pods=watched' }, why: /lease: / },
}
/**
 * The deadline of the start, then the 40 s in which a lease has to be renewed, and the way back.
 */
const LEFT_MS = 240_000

export function addCutOffScenarios(program: string, ages: readonly Age[]): void {
  onEachKubelet(program, ages, 'a config that cuts kubelet off', 'cut-off', SETTINGS, async (stage) => {
    const { step, node, admin } = stage
    const { settings, why } = TOLD[stage.age]
    await step('a static pod runs', () => stage.addStaticPod('guard'))
    const first = await step('a good config is promoted', () => stage.promoteFirst())
    const refused = await step('one that cuts kubelet off is refused, without a restart', () =>
      node.withoutRestart(async () => {
        const source = await stage.put({ maxPods: 52, ...CUT_OFF })
        const { message } = await admin.untilCondition({ status: 'False', reason: 'Refused' })
        for (const field of Object.keys(CUT_OFF)) assert(message.includes(field), `${field} is not in: ${message}`)
        return source
      }),
    )
    await step('where the node allows it the trial finds out, and kubelet is back on the last good one', async () => {
      await stage.configureAgent({ ...ALLOWED, ...settings, TRIAL_DURATION: '150s' })
      await stage.untilOnTrial(refused)
      await stage.untilRolledBack(refused, first, why, LEFT_MS)
      await node.untilRuns(51)
    })
    await step('the node works again', async () => {
      await node.untilReady()
      await stage.untilPodRuns('guard')
    })
  })
}
