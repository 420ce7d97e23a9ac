// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { SharedRuns } from '../../../src/preflight/kubelet/remembered.ts'

function world() {
  const runs = new SharedRuns<string>()
  const started: { readonly signal: AbortSignal; readonly end: (result: string) => void }[] = []
  const run = (signal: AbortSignal) => new Promise<string>((end) => started.push({ signal, end }))
  const ask = (key: string, signal = new AbortController().signal) => runs.share(key, signal, run, 'given up')
  return { ask, started }
}

t.test('requests for the same share a run; a later one gets its own', async (t) => {
  const { ask, started } = world()
  const both = Promise.all([ask('a'), ask('a')])
  const other = ask('b')
  t.equal(started.length, 2)
  started[0]?.end('of a')
  started[1]?.end('of b')
  t.same(await both, ['of a', 'of a'])
  t.equal(await other, 'of b')
  void ask('a')
  t.equal(started.length, 3)
})

t.test('a run ends early when the last one that waits gives up', async (t) => {
  const { ask, started } = world()
  const [one, other] = [new AbortController(), new AbortController()]
  const results = [ask('a', one.signal), ask('a', other.signal)]
  one.abort()
  t.equal(await results[0], 'given up')
  t.equal(started[0]?.signal.aborted, false, 'the other one waits')
  other.abort()
  t.equal(started[0]?.signal.aborted, true)
  const next = ask('a')
  t.equal(started.length, 2, 'a run that is being ended is not shared')
  started[0]?.end('ended')
  t.equal(await results[1], 'ended', 'it is waited for')
  started[1]?.end('whole')
  t.equal(await next, 'whole')
})

t.test('nothing is run for who has given up', async (t) => {
  const { ask, started } = world()
  t.equal(await ask('a', AbortSignal.abort()), 'given up')
  t.same(started, [])
})
