// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeAnswer } from '../../../src/ports/kube-api.ts'
import type { RolloutWrite } from '../../../src/rollout/view.ts'
import { RecordWriter } from '../../../src/source/rollout/record-writer.ts'
import { silentLog } from '../../checkpoint/silent-log.ts'

const RECORD = { namespace: 'kube-system', name: 'fleet-rollout' }
const WRITE: RolloutWrite = { kind: 'claim', resourceVersion: '7', data: { 'node.n1': '1 0 claim 900' }, detail: '' }
const CONFLICT: KubeAnswer = { kind: 'refused', status: 409, reason: 'Conflict', detail: '', retryAfterMs: undefined }
const FORBIDDEN: KubeAnswer = { kind: 'refused', status: 403, reason: 'Forbidden', detail: '', retryAfterMs: undefined }

/** The pauses after so many writes with this answer, in seconds. */
async function pausesOf(answer: KubeAnswer, random: number, writes: number): Promise<readonly number[]> {
  const writer = new RecordWriter({
    api: { request: async () => answer },
    pace: { random: () => random },
    log: silentLog(),
    counters: { rolloutWrote: () => {}, rolloutConflicted: () => {} },
  })
  const pauses: number[] = []
  for (let sent = 0; sent < writes; sent += 1) pauses.push((await writer.send(RECORD, WRITE)).pauseMs / 1000)
  return pauses
}

t.test('after a conflict nodes do not all write again at once, not even the first time', async (t) => {
  t.same(await pausesOf(CONFLICT, 0, 4), [1, 2, 4, 8])
  t.same(await pausesOf(CONFLICT, 0.5, 4), [1.5, 3, 6, 12])
  t.same(await pausesOf(CONFLICT, 1, 4), [2, 4, 8, 16])
})

t.test('the pause has a limit, which is longer where a right is missing', async (t) => {
  t.equal((await pausesOf(CONFLICT, 1, 20)).at(-1), 60)
  t.equal((await pausesOf(FORBIDDEN, 1, 20)).at(-1), 600)
})

t.test('no write comes before the time for which the API server asks', async (t) => {
  const overloaded: KubeAnswer = { kind: 'refused', status: 429, reason: 'TooManyRequests', detail: '', retryAfterMs: 30_000 }
  t.same(await pausesOf(overloaded, 0, 7), Array(7).fill(30))
  t.equal((await pausesOf(overloaded, 1, 1))[0], 36, 'and nodes that were told the same do not all come at once')
})

t.test('a write that failed: whether there was an answer', async (t) => {
  const problemOf = async (answer: KubeAnswer) => {
    const api = { request: async () => answer }
    const counters = { rolloutWrote: () => {}, rolloutConflicted: () => {} }
    const writer = new RecordWriter({ api, pace: { random: () => 0 }, log: silentLog(), counters })
    await writer.send(RECORD, WRITE)
    return writer.describe({ kind: 'wait', detail: 'waits' }).detail
  }
  const unreachable = { kind: 'unreachable', detail: 'SECRET' } as const
  const failed = (why: string) => `waits; the record kube-system/fleet-rollout could not be written (claim): ${why}`
  t.equal(await problemOf(unreachable), failed('the API server does not answer'))
  t.equal(await problemOf({ ...unreachable, reason: 'too-long' }), failed('the answer of the API server is too long'))
  t.equal(await problemOf({ ...unreachable, reason: 'kubeconfig' }), failed('there is no usable kubeconfig'))
})
