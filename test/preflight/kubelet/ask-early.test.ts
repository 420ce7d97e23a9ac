// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { askEarly, type EarlyQuestion, type JudgeRequest } from '../../../src/preflight/kubelet/judgement.ts'

const REQUEST = { binary: '/usr/bin/kubelet', flags: ['--v=2'], files: { kubelet: 'text' }, key: 'kubelet' }
const kubelet = (minor: number) => ({ major: 1, minor, patch: 0 })

async function asked(question: Partial<EarlyQuestion>): Promise<string[]> {
  const requests: JudgeRequest[] = []
  const judge = {
    judge: async (request: JudgeRequest) => {
      requests.push(request)
      return { kind: 'accepted', detail: '' } as const
    },
    forget: () => {},
  }
  const whole = { deep: 'if-possible', version: kubelet(27), dropIns: undefined, ...question } as const
  await askEarly(judge, REQUEST, whole, new AbortController().signal)
  for (const request of requests) t.match(request, { ...REQUEST, others: whole.dropIns })
  return requests.map(({ stage }) => stage)
}

t.test('both stages are asked, as far as they are wanted and find something', async (t) => {
  t.same(await asked({}), ['load', 'deep'])
  t.same(await asked({ deep: 'no' }), ['load'])
  for (const minor of [28, 29]) t.same(await asked({ version: kubelet(minor) }), ['load'], 'it asks its runtime first')
  t.same(await asked({ version: kubelet(30) }), ['load', 'deep'], 'something stands in for its runtime')
  t.same(await asked({ version: undefined }), ['load', 'deep'])
  t.same(await asked({ version: kubelet(28), deep: 'demanded' }), ['load', 'deep'])
})

t.test('a config that the agent merges with a base is asked about only as merged', async (t) => {
  const directory = '/etc/kubelet.d'
  const order = { below: [], above: [] }
  t.same(await asked({ dropIns: { kind: 'usable', directory, order } }), ['load', 'deep'])
  const base = { path: '/b', config: {} }
  t.same(await asked({ dropIns: { kind: 'usable', directory, order: { ...order, base } } }), [])
})
