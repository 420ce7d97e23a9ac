// SPDX-License-Identifier: Apache-2.0
import { PassThrough } from 'node:stream'
import t from 'tap'
import { ask } from '../../src/command/ask.ts'

function startTerminal(isTTY = true) {
  const [input, output] = [0, 1].map(() => Object.assign(new PassThrough(), { isTTY })) as [Tty, Tty]
  return { input, output, type: (keys: string) => void input.write(keys) }
}
type Tty = PassThrough & { isTTY: boolean }

t.test('only y and yes are a yes', async (t) => {
  for (const [typed, answer] of [
    ['y\r', 'yes'],
    ['YES\r', 'yes'],
    ['\r', 'no'],
    ['yesterday\r', 'no'],
  ] as const) {
    const { input, output, type } = startTerminal()
    const answered = ask('Write it?', { input, output })
    type(typed)
    t.equal(await answered, answer, JSON.stringify(typed))
    t.match(String(output.read()), /Write it\? \[y\/N\] /)
  }
})

t.test('Ctrl-C and Ctrl-D mean no', async (t) => {
  for (const key of ['\u0003', '\u0004']) {
    const { input, output, type } = startTerminal()
    const answered = ask('Write it?', { input, output })
    type(key)
    t.equal(await answered, 'no')
  }
})

t.test('without a terminal there is nobody to ask', async (t) => {
  t.equal(await ask('Write it?', startTerminal(false)), 'nobody')
})
