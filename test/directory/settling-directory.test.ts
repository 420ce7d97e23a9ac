// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { SettlingDirectory, type Unsettled } from '../../src/directory/settling-directory.ts'

/** A directory with a clock that the test moves, and the number of looks so far. */
function open(settleMs?: number) {
  const sleepers: { readonly atMs: number; wake(): void }[] = []
  let nowMs = 0
  let looks = 0
  let isClosed = false
  let notify = () => {}
  let watched = ''
  let onLook = () => {}
  const directory = new SettlingDirectory(
    {
      path: '/d',
      watch: (path, onChange) => {
        watched = path
        notify = onChange
        return {
          async close() {
            isClosed = true
          },
        }
      },
      pace: {
        nowMs: () => nowMs,
        sleep: (ms, signal) =>
          new Promise((resolve) => {
            sleepers.push({ atMs: nowMs + ms, wake: resolve })
            signal.addEventListener('abort', () => resolve())
          }),
      },
      settleMs,
    },
    () => {
      looks += 1
      onLook()
    },
  )
  return {
    directory,
    notify: () => notify(),
    onLook: (look: () => void) => {
      onLook = look
    },
    looks: () => looks,
    sleeping: () => sleepers.length,
    watched: () => watched,
    isClosed: () => isClosed,
    settle: (before: Unsettled<string> | undefined, content: string) => directory.settle(before, content, (a, b) => a === b),
    async pass(ms: number) {
      nowMs += ms
      for (const sleeper of sleepers.splice(0)) {
        if (sleeper.atMs <= nowMs) sleeper.wake()
        else sleepers.push(sleeper)
      }
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
    },
  }
}

t.test('it looks at the start and whenever the watch reports a change', async (t) => {
  const { directory, notify, looks, watched } = open()
  t.equal(looks(), 0)
  directory.start()
  t.equal(watched(), '/d')
  t.equal(looks(), 1)
  notify()
  t.equal(looks(), 2)
  await directory.stop()
})

t.test('content is settled after it has stayed the same for the settle time', async (t) => {
  const { settle, pass } = open(300)
  const first = settle(undefined, 'a')
  t.same(first, { content: 'a', sinceMs: 0 })
  await pass(299)
  t.equal(settle(first, 'a'), first, 'since it was first seen')
  await pass(1)
  t.equal(settle(first, 'a'), undefined)
})

t.test('new content restarts the settle time', async (t) => {
  const { settle, pass } = open(300)
  const first = settle(undefined, 'a')
  await pass(200)
  const second = settle(first, 'b')
  t.same(second, { content: 'b', sinceMs: 200 })
  await pass(200)
  t.equal(settle(second, 'b'), second)
  await pass(100)
  t.equal(settle(second, 'b'), undefined)
})

t.test('the settle time is 300 ms by default, and may be zero', async (t) => {
  const { settle, pass } = open()
  const first = settle(undefined, 'a')
  await pass(299)
  t.ok(settle(first, 'a'))
  await pass(1)
  t.equal(settle(first, 'a'), undefined)
  t.equal(open(0).settle(undefined, 'a'), undefined)
})

t.test('several requests to look again give one look after the settle time', async (t) => {
  const { directory, looks, sleeping, pass } = open(300)
  directory.lookAgain()
  directory.lookAgain()
  t.equal(sleeping(), 1)
  await pass(300)
  t.equal(looks(), 0, 'a little later, since a timer may fire early')
  await pass(20)
  t.equal(looks(), 1)
  directory.lookAgain()
  await pass(320)
  t.equal(looks(), 2)
})

t.test('a look may request the next one', async (t) => {
  const { directory, onLook, looks, pass } = open(300)
  onLook(() => directory.lookAgain())
  directory.start()
  for (let round = 0; round < 3; round += 1) await pass(320)
  t.equal(looks(), 4)
  await directory.stop()
})

t.test('stop closes the watch and ends all looks', async (t) => {
  const { directory, notify, looks, isClosed, pass } = open(300)
  directory.start()
  directory.lookAgain()
  await directory.stop()
  t.ok(isClosed())
  notify()
  directory.look()
  await pass(1000)
  t.equal(looks(), 1)
})
