// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { joinPending } from '../../src/values/join-pending.ts'

t.test('a path without an answer is asked about once', async (t) => {
  const asked: string[] = []
  const answers: ((value: string) => void)[] = []
  const ask = joinPending((path) => {
    asked.push(path)
    return new Promise<string>((resolve) => answers.push(resolve))
  })
  const both = [ask('/dead'), ask('/dead')]
  const other = ask('/well')
  t.strictSame(asked, ['/dead', '/well'], 'another path is not held up')
  answers[1]?.('here')
  t.equal(await other, 'here')
  answers[0]?.('back')
  t.strictSame(await Promise.all(both), ['back', 'back'])
  void ask('/dead')
  t.strictSame(asked, ['/dead', '/well', '/dead'], 'after its answer it is asked about again')
})

t.test('each who asks hears of an error, and the next question is a new one', async (t) => {
  let count = 0
  const ask = joinPending(async () => {
    count += 1
    throw new Error(`no ${count}`)
  })
  const [one, two] = await Promise.allSettled([ask('/a'), ask('/a')])
  t.match([one, two], [{ reason: { message: 'no 1' } }, { reason: { message: 'no 1' } }])
  await t.rejects(ask('/a'), { message: 'no 2' })
})
