// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { shortenMessage } from '../../../src/command/plugin/fleet-text.ts'
import { NOW_MS } from './world.ts'

const NAME = 'kube-system/pods.v1:kubelet@212'

t.test('what other columns say is left out, and the cause comes first', async (t) => {
  const cases: Readonly<Record<string, string>> = {
    [`${NAME} was refused before a restart, kube-system/a:kubelet@1 runs: line 1: no JSON`]: 'line 1: no JSON',
    [`${NAME} failed, local runs: kubelet exited 2 times: bad: x`]: 'kubelet exited 2 times: bad: x',
    [`${NAME} was rolled back, falling back: requested`]: 'requested',
    [`${NAME} has passed its trial`]: '',
    [`${NAME}+merged-86a00c24 has passed its trial; paused on the node`]: 'paused on the node',
    [`trial of ${NAME} until 2026-11-23T12:10:00Z`]: '10m left',
    [`trial of ${NAME} until 2026-11-23T11:00:00Z`]: 'until 2026-11-23T11:00:00Z',
    [`trial of ${NAME} does not come to an end: kubelet is not healthy for long enough`]:
      'does not come to an end: kubelet is not healthy for long enough',
    [`waits for its turn to use ${NAME}: spread, until 2026-11-23T12:01:00Z`]: 'spread, 60s left',
    // As an older agent says it.
    [`waits its turn to use ${NAME}: spread, until 2026-11-23T12:01:00Z`]: 'spread, 60s left',
    [`${NAME} waits for its rollout: stage 2 of 5`]: 'stage 2 of 5',
    [`the rollout of ${NAME} is halted: it failed on n1`]: 'it failed on n1',
    [`${NAME}: every config fails`]: 'every config fails',
    [`${NAME} is about to be applied`]: 'is about to be applied',
    [`kubelet runs ${NAME} and is not healthy`]: 'kubelet runs and is not healthy',
    [`kubelet is starting or stopping; desired: ${NAME}`]: 'kubelet is starting or stopping',
  }
  for (const [message, brief] of Object.entries(cases)) t.equal(shortenMessage(message, NAME, NOW_MS), brief, message)
  t.equal(shortenMessage('nothing is assigned: kubelet runs its local config', undefined, NOW_MS), '')
  t.equal(shortenMessage('nothing is assigned: kubelet runs its local config; paused on the node', undefined, NOW_MS), 'paused on the node')
  t.equal(shortenMessage('kube-system/podsxv1:kubelet@212 is other', NAME, NOW_MS), 'kube-system/podsxv1:kubelet@212 is other')
})
