// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { listPages, PAGE } from '../../src/command/list-pages.ts'
import type { KubeAnswer, KubeRequest } from '../../src/ports/kube-api.ts'

const LISTING = { path: '/api/v1/nodes', asked: { verb: 'list', resource: 'nodes' } }
const TOO_LONG: KubeAnswer = { kind: 'unreachable', detail: 'the answer has more than 8 characters', reason: 'too-long' }

/** A server with objects of these sizes, whose adapter takes no answer above the limit. */
function serve(sizes: readonly number[], limitSize: number) {
  const asked: string[] = []
  const request = async ({ query = {} }: KubeRequest): Promise<KubeAnswer> => {
    const [from, count] = [Number(query.continue ?? 0), Number(query.limit)]
    asked.push(`${from}+${count}`)
    const page = sizes.slice(from, from + count)
    if (page.reduce((sum, size) => sum + size, 0) > limitSize) return TOO_LONG
    const next = from + count < sizes.length ? String(from + count) : ''
    return { kind: 'ok', object: { metadata: { continue: next, resourceVersion: '7' }, items: page.map((_, index) => from + index) } }
  }
  return { request, asked }
}

t.test('a page that is too long is asked for again in halves', async (t) => {
  const sizes = Array.from({ length: PAGE + 2 }, (_, index) => (index < PAGE ? 0 : 3))
  const { request, asked } = serve(sizes, 5)
  const { items, resourceVersion } = await listPages({ request }, LISTING, (item) => item)
  t.same(items, [...sizes.keys()])
  t.equal(resourceVersion, '7')
  t.same(asked, ['0+150', '150+150', '150+75', '150+37', '150+18', '150+9', '150+4', '150+2', '150+1', '151+1'])
})

t.test('one object that is too long is a failure, and so is an answer that fails otherwise', async (t) => {
  const { request, asked } = serve([6], 5)
  await t.rejects(
    listPages({ request }, LISTING, (item) => item),
    { message: /cannot list nodes: the answer has more than 8 characters/ },
  )
  t.equal(asked.at(-1), '0+1')
  let count = 0
  const silent = async (): Promise<KubeAnswer> => {
    count++
    return { kind: 'unreachable', detail: 'no answer' }
  }
  await t.rejects(
    listPages({ request: silent }, LISTING, (item) => item),
    { message: /no answer/ },
  )
  t.equal(count, 1)
})
