// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { unlessAborted } from '../../src/kube/backoff.ts'

const never = new Promise<string>(() => {})

t.test('the value of the promise, or its error', async (t) => {
  const { signal } = new AbortController()
  t.equal(await unlessAborted(Promise.resolve('a'), signal), 'a')
  await t.rejects(unlessAborted(Promise.reject(new Error('no')), signal), { message: 'no' })
})

t.test('undefined when the signal aborts first, or has aborted before', async (t) => {
  const stopper = new AbortController()
  const waiting = unlessAborted(never, stopper.signal)
  stopper.abort()
  t.equal(await waiting, undefined)
  t.equal(await unlessAborted(Promise.resolve('a'), stopper.signal), undefined)
})
