// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeAnswer, KubeRequest } from '../../../src/ports/kube-api.ts'
import type { Log } from '../../../src/ports/log.ts'
import type { Progress } from '../../../src/rollout/progress.ts'
import { listEvents, RolloutEvents } from '../../../src/source/rollout/rollout-events.ts'

const CONFIG = { namespace: 'kube-system', name: 'fleet', kubeletConfigKey: 'kubelet', uid: '5274a9bd-00f5' }
const begun: Progress = {
  ...{ generation: 7, stage: 0, lastStage: 5, openPercent: 0, proofs: 0, needed: 1 },
  ...{ claimed: ['n1'], silent: [], vetoes: [], finished: false, halted: false },
}
const failed: Progress = { ...begun, halted: true, vetoes: [{ node: 'n1', reason: 'crash-loop' }] }
const told = (before: Progress | undefined, after: Progress) =>
  listEvents('n1', before, after).map(({ type, reason, message }) => `${type} ${reason}: ${message}`)

t.test('what a write made of the rollout', async (t) => {
  t.same(told(undefined, begun), ['Normal RolloutStarted: node n1 began rollout 7 of this config'])
  t.same(told(begun, { ...begun, proofs: 1 }), [], 'a proof alone opens nothing')
  t.same(told(begun, { ...begun, stage: 2, openPercent: 7, needed: 5 }), [
    'Normal RolloutAdvanced: rollout 7 is in stage 2 of 5: open to 7 % of the nodes, and 5 proofs open the next stage',
  ])
  t.same(told(begun, { ...begun, stage: 1 }), [
    'Normal RolloutAdvanced: rollout 7 is in stage 1 of 5: open to witnesses only, and 1 proof opens the next stage',
  ])
  t.same(told({ ...begun, stage: 4 }, { ...begun, stage: 5, openPercent: 100, finished: true }), [
    'Normal RolloutAdvanced: rollout 7 is finished: open to all nodes',
  ])
  t.same(told(begun, failed), [
    'Warning RolloutHalted: rollout 7 is halted: it failed on n1 (crash-loop); fix the config, or raise retry in its plan',
  ])
  t.same(told(failed, { ...failed, vetoes: [...failed.vetoes, { node: 'n2', reason: 'crash-loop' }] }), [], 'it was halted before')
  t.equal(told(undefined, failed).length, 2, 'begun by a node on which it had failed')
})

function openEvents(answer: KubeAnswer, isOn = true) {
  const sent: KubeRequest[] = []
  const lines: string[] = []
  const record = (message: string): void => void lines.push(message)
  const log: Log = { debug: record, info: record, warn: record, error: record }
  const request = async (one: KubeRequest): Promise<KubeAnswer> => {
    sent.push(one)
    return answer
  }
  return { sent, lines, events: new RolloutEvents({ nodeName: 'n1', api: { request }, log, wallMs: () => 0, isOn: () => isOn }) }
}

t.test('two nodes that tell of the same make one event, on the config', async (t) => {
  const { sent, events } = openEvents({ kind: 'ok', object: {} })
  await events.tell(CONFIG, undefined, begun)
  t.match(sent, [
    {
      method: 'POST',
      path: '/api/v1/namespaces/kube-system/events',
      body: {
        metadata: { name: 'fleet.5274a9bd.7-0-rolloutstarted' },
        involvedObject: { kind: 'ConfigMap', name: 'fleet', namespace: 'kube-system', uid: CONFIG.uid },
        source: { component: 'kubelet-cfg-agent', host: 'n1' },
      },
    },
  ])
})

t.test('a right that is missing is said once, and what exists already not at all', async (t) => {
  const refused = (status: number) => openEvents({ kind: 'refused', status, reason: 'Forbidden', detail: 'no', retryAfterMs: undefined })
  const missing = refused(403)
  await missing.events.tell(CONFIG, undefined, begun)
  await missing.events.tell(CONFIG, begun, failed)
  t.equal(missing.sent.length, 2, 'each is sent all the same')
  t.same(missing.lines, [
    'events about the rollout of ConfigMap kube-system/fleet are refused: grant create on events in namespace kube-system, or leave rollout-events out of --publish (logged once)',
  ])
  const existing = refused(409)
  await existing.events.tell(CONFIG, undefined, begun)
  t.same(existing.lines, [])
})

t.test('nothing is sent where they are switched off', async (t) => {
  const { sent, events } = openEvents({ kind: 'ok', object: {} }, false)
  await events.tell(CONFIG, undefined, begun)
  t.same(sent, [])
})
