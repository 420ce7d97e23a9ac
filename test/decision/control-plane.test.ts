// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import { describeRolloutSubject } from '../../src/decision/rollout-subject.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { type EvidenceRecord, isEvidenceRecord } from '../../src/evidence/kinds.ts'
import { recordFacts } from '../../src/evidence/record.ts'
import type { StaticPod } from '../../src/evidence/static-pods.ts'
import { API_SERVER, ETCD, staticPods } from '../evidence/samples.ts'
import {
  A_IS_KEPT,
  assignedTo,
  B,
  BOOT,
  contentOf,
  dataOf,
  INVOCATION,
  keyOf,
  MINUTE_US,
  NOW_US,
  runs,
  snapshot,
  wants,
} from './snapshots.ts'

const HASH = hashConfig(dataOf(B), 'kubelet')
const KUBE_PROXY: StaticPod = { hash: 'hash-3', name: 'kube-system/kube-proxy-node-1', isRunning: true }

/** As it is recorded before a claim to start B. */
function recorded(pods: readonly StaticPod[] | undefined, before?: EvidenceRecord): EvidenceRecord {
  const { running } = runs(B)
  if (running?.kind !== 'known') throw new Error('nothing runs')
  const facts = pods === undefined ? [] : [{ about: INVOCATION, atUs: NOW_US, seen: staticPods(pods) }]
  const now = { bootId: BOOT, monotonicUs: NOW_US, wallMs: 0 }
  const known = { verdicts: new Map(), ...A_IS_KEPT, proven: undefined, healthySinceUs: undefined, writtenAtUs: undefined }
  const rest = { nodeName: 'node-1', startDeadlineUs: MINUTE_US, ...known }
  return recordFacts(before, { ...rest, now, running, candidate: keyOf(B), facts })
}

function isControlPlane(facts: Partial<Snapshot>, label = false): boolean | undefined {
  const { desired, ...rest } = wants(B)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  const object = { ...desired.object, rollout: { record: 'record', plan: undefined } }
  const contents = [{ hash: HASH, content: contentOf(B) }]
  const state = snapshot({
    ...rest,
    ...assignedTo(B),
    desired: { ...desired, object, node: { uid: 'uid', canary: false, controlPlane: label } },
    stagings: [{ config: 'kube-system/b', record: 'record', arrival: 'there', contents }],
    ...facts,
  })
  return describeRolloutSubject(state)?.node.controlPlane
}

t.test('a control plane is a node with the label, or one that runs the components of a control plane', async (t) => {
  t.equal(isControlPlane({}), false)
  t.equal(isControlPlane({}, true), true, 'the label')
  t.equal(isControlPlane({ evidence: recorded([API_SERVER, KUBE_PROXY]) }), true, 'kube-apiserver')
  t.equal(isControlPlane({ evidence: recorded([ETCD]) }), true, 'etcd')
})

t.test('a worker with other static pods is none', async (t) => {
  t.equal(isControlPlane({ evidence: recorded([KUBE_PROXY]) }), false)
  t.equal(isControlPlane({ evidence: recorded([{ ...ETCD, name: 'web/etcd-backup-node-1' }]) }), false, 'whatever it is named after')
})

t.test('it stays one while its evidence is read again', async (t) => {
  const before = recorded([API_SERVER])
  const again = recorded(undefined, { ...before, baseline: undefined })
  t.equal(again.baseline?.staticPods, undefined)
  t.equal(isControlPlane({ evidence: again }), true)
  t.ok(isEvidenceRecord(JSON.parse(JSON.stringify(again))), 'and is kept in /run')
})
