// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { holdFacts } from '../../src/overlay/held-facts.ts'

const node = (zone: string) => ({ name: 'n1', labels: { zone }, capacity: {}, podCIDRs: [] })
const A = { node: node('a'), texts: ['one'], result: { ok: true, value: 1 } }

t.test('facts hold while they stay, whatever the texts, or make the same of the same texts', async (t) => {
  const first = holdFacts(undefined, A, 5)
  t.equal(first.sinceMs, 5)
  t.equal(holdFacts(first, { ...A, texts: ['two'], result: { ok: true, value: 2 } }, 9).sinceMs, 5, 'an edit')
  const labelled = holdFacts(first, { ...A, node: node('b') }, 9)
  t.equal(labelled.sinceMs, 5, 'a label of which no value depends')
  t.same(labelled.node, node('b'))
  t.equal(holdFacts(first, { ...A, node: node('b'), result: { ok: true, value: 2 } }, 9).sinceMs, 9, 'another result')
  t.equal(holdFacts(first, { ...A, node: node('b'), texts: ['two'] }, 9).sinceMs, 9, 'what these facts made of that text is not known')
})
