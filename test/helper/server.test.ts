// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { HelperReply, HelperRequest } from '../../src/helper/protocol.ts'
import { HelperServer, type Methods } from '../../src/helper/server.ts'

interface Context {
  readonly version: string
  readonly word: string
}

function open() {
  const replies: HelperReply[] = []
  const exits: number[] = []
  const memory = new Map<string, unknown>([['own', 1]])
  let opened = 0
  const server = new HelperServer<Context>({
    version: '1',
    open: (context, ended): Methods => {
      opened++
      return {
        word: () => context().word,
        hang: (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
        ended: () => ended.aborted,
      }
    },
    memory,
    write: (reply) => void replies.push(reply),
    exit: (afterMs) => void exits.push(afterMs),
  })
  const ask = async (id: number, method: string, more: Partial<HelperRequest> = {}) => {
    const context: Context = { version: '1', word: 'a' }
    server.hear(JSON.stringify({ id, method, args: [], context, memory: null, ...more }))
    await new Promise((resolve) => setImmediate(resolve))
    return replies.find((reply) => reply.id === id)
  }
  return { server, ask, exits, opened: () => opened }
}

t.test('the node is opened once, and each request brings what may have changed', async (t) => {
  const { ask, opened } = open()
  t.match(await ask(1, 'word'), { ok: true, result: 'a', memory: { own: 1 } })
  const context = { version: '1', word: 'b' }
  t.same(await ask(2, 'word', { context, memory: { own: 2, former: 3 } }), { id: 2, ok: true, result: 'b', memory: { own: 1, former: 3 } })
  t.equal(opened(), 1)
})

t.test('a request that cannot be answered says why', async (t) => {
  const { ask, opened } = open()
  t.match(await ask(1, 'word', { context: { version: '0', word: 'a' } }), { ok: false, detail: /version 1, and the agent 0/ })
  t.match(await ask(2, 'word', { context: null }), { ok: false, detail: /the agent undefined/ })
  t.equal(opened(), 0)
  for (const method of ['none', 'toString'])
    t.match(await ask(method.length, method), { ok: false, detail: `there is no method ${method}` })
})

t.test('a request that is cancelled stops', async (t) => {
  const { server, ask } = open()
  t.equal(await ask(1, 'hang'), undefined)
  server.hear(JSON.stringify({ cancel: 7 }))
  t.equal(await ask(2, 'hang'), undefined)
  server.hear(JSON.stringify({ cancel: 1 }))
  t.match(await ask(3, 'word'), { ok: true })
  t.match(await ask(1, 'none'), { ok: false, detail: 'stopped' })
})

t.test('the end stops what is running, and waits for it only so long', async (t) => {
  const idle = open()
  idle.server.end()
  t.same(idle.exits, [0])
  const busy = open()
  await busy.ask(1, 'hang')
  busy.server.end()
  t.same(busy.exits, [1500])
  await new Promise((resolve) => setImmediate(resolve))
  t.same(busy.exits, [1500, 0])
})
