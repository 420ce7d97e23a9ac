// SPDX-License-Identifier: Apache-2.0
/** A node that waits for its turn in a rollout, for the tests of what people see of it. */

import { hashConfig } from '../../src/decision/rollout-hash.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import { following, held, IDENTITY, runningContent, source } from './build.ts'

export const NEXT = source('200')
const data = { kubelet: 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 64\n' }
export const HASH = hashConfig(data, 'kubelet')
const staging = {
  config: 'kube-system/my-node-config',
  record: 'rollouts',
  arrival: 'there',
  contents: [{ hash: HASH, content: 'content-200' }],
} as const
export const OBJECT = {
  kind: 'found',
  uid: NEXT.uid,
  resourceVersion: '200',
  data,
  rollout: { record: 'rollouts', plan: undefined },
} as const
export const WHY = 'stage 3 of 5 (open to 10 % of the nodes): 3 of 5 proofs; this node starts in stage 4 (50 % of the nodes)'

export const WAITING: Snapshot = following(NEXT, {
  desired: { kind: 'config-map', ref: NEXT, object: OBJECT },
  lastKnownGood: held(source('100')),
  nextStart: { kind: 'known', held: held(source('100')) },
  running: runningContent('content-100'),
  proven: trialKey('content-100', IDENTITY),
  stagings: [staging],
  rollout: {
    config: staging.config,
    hash: HASH,
    turn: { kind: 'wait-until', atUs: 112e6, detail: WHY },
    confirmedAtUs: undefined,
    progress: undefined,
  },
})
