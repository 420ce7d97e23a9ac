import t from 'tap'
import type { KubeAnswer, KubeRequest } from '../../../src/ports/kube-api.ts'
import type { Progress } from '../../../src/rollout/progress.ts'
import { listEvents, RolloutEvents } from '../../../src/source/rollout/rollout-events.ts'

const CONFIG = { namespace: 'kube-system', name: 'node-config', kubeletConfigKey: 'kubelet', uid: '5274a9bd-00f5' }
const BEGUN: Progress = {
  generation: 3,
  stage: 0,
  lastStage: 5,
  openPercent: 0,
  proofs: 0,
  needed: 1,
  claimed: ['n1'],
  silent: [],
  vetoes: [],
  finished: false,
  halted: false,
}

t.test('what events say', async (t) => {
  const messages = (before: Progress | undefined, after: Progress) => listEvents('n1', before, after).map(({ message }) => message)
  t.same(messages(undefined, BEGUN), ['node n1 began rollout 3 of this config'])
  t.same(messages(BEGUN, { ...BEGUN, stage: 1 }), ['rollout 3 is in stage 1 of 5: open to witnesses only'])
  t.same(messages(BEGUN, { ...BEGUN, stage: 2, openPercent: 7 }), ['rollout 3 is in stage 2 of 5: open to 7 % of the nodes'])
  t.same(messages(BEGUN, { ...BEGUN, stage: 5, openPercent: 100, finished: true }), ['rollout 3 is finished: open to all nodes'])
  t.same(messages(BEGUN, { ...BEGUN, halted: true, vetoes: [{ node: 'n1', reason: 'crash-loop' }] }), [
    'rollout 3 is halted: it failed on n1 (crash-loop); fix the config, or raise retry in its plan',
  ])
})

t.test('a refusal is logged once, with the right that is missing; each event is still sent', async (t) => {
  const requests: KubeRequest[] = []
  const lines: string[] = []
  const answer: KubeAnswer = { kind: 'refused', status: 403, reason: 'Forbidden', detail: 'no', retryAfterMs: undefined }
  const log = {
    debug: () => {},
    info: (text: string) => void lines.push(`info ${text}`),
    warn: (text: string) => void lines.push(`warn ${text}`),
    error: () => {},
  }
  const api = {
    request: async (request: KubeRequest) => {
      requests.push(request)
      return answer
    },
  }
  const events = new RolloutEvents({ nodeName: 'n1', api, log, wallMs: () => 0, isOn: () => true })
  await events.tell(CONFIG, undefined, BEGUN)
  await events.tell(CONFIG, BEGUN, { ...BEGUN, stage: 1 })
  t.equal(requests.length, 2)
  t.same(lines, [
    'warn events about the rollout of ConfigMap kube-system/node-config are refused: grant create on events in namespace kube-system, or leave rollout-events out of --publish (logged once)',
  ])
})
