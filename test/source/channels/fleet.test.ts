// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { chooseFromFleet, type FleetMember, readFleetMember } from '../../../src/source/channels/fleet.ts'

const member = (name: string, selector: string | undefined, priority?: string): FleetMember => ({
  name,
  selector,
  priority,
  problem: undefined,
})
const LABELS = { role: 'worker', zone: 'a' }
const choose = (...members: FleetMember[]) => chooseFromFleet(members, LABELS)

t.test('the matching ConfigMap with the highest priority', async (t) => {
  t.same(choose(member('a', 'role=worker'), member('b', 'role=master')), { kind: 'chosen', name: 'a' })
  t.same(choose(member('a', 'role=worker'), member('b', 'zone in (a,b)', '10'), member('c', '', '-5')), { kind: 'chosen', name: 'b' })
  t.same(choose(member('a', '', '9'), member('b', '', '10')), { kind: 'chosen', name: 'b' }, 'compared as numbers')
  t.same(choose(member('a', ''), member('b', '', '-1')), { kind: 'chosen', name: 'a' }, 'a missing priority is zero')
})

t.test('no ConfigMap matches', async (t) => {
  t.same(choose(), { kind: 'none' })
  t.same(choose(member('a', 'role=master')), { kind: 'none' })
  t.same(choose(member('a', undefined, '100')), { kind: 'none' }, 'without a selector it selects nothing')
})

t.test('a tie is refused, unless a higher priority decides', async (t) => {
  const [a, b] = [member('a', 'role', '1'), member('b', 'zone', '1')]
  t.match(choose(b, a), { kind: 'refused', detail: /ConfigMaps a, b match with the same priority 1/ })
  t.same(choose(a, b, member('c', '', '2')), { kind: 'chosen', name: 'c' })
})

t.test('a malformed ConfigMap could be meant for any node', async (t) => {
  const broken = member('x', 'role=(', '1')
  t.match(choose(member('a', 'role', '1'), broken), { kind: 'refused', detail: /"x" could be meant.*not a label selector/ })
  t.match(choose(broken), { kind: 'refused' })
  t.same(choose(member('a', 'role', '2'), broken), { kind: 'chosen', name: 'a' }, 'but not if a higher priority decides')
  for (const priority of ['high', '', '1.5', '1e3', ' 1', '99999999999', '2147483648'])
    t.match(
      choose(member('a', '', '2147483647'), member('y', 'role', priority)),
      { kind: 'refused', detail: /not a whole number/ },
      priority,
    )
  t.same(
    choose(member('a', ''), member('y', 'role=master', 'high')),
    { kind: 'chosen', name: 'a' },
    'nor if its selector matches other nodes only',
  )
})

t.test('members are read from the metadata of a ConfigMap', async (t) => {
  const annotations = { 'kubelet-cfg-agent.io/node-selector': 'a=b', 'kubelet-cfg-agent.io/priority': '7' }
  t.same(readFleetMember({ metadata: { name: 'a', annotations } }), member('a', 'a=b', '7'))
  t.same(readFleetMember({ metadata: { name: 'a' } }), member('a', undefined))
  t.equal(readFleetMember({ metadata: {} }), undefined)
  t.match(chooseFromFleet([readFleetMember({ metadata: { name: 'a', annotations: { x: true } } }) ?? member('b', '')], {}), {
    kind: 'refused',
  })
})

t.test('the order does not matter, and the chosen one matches and has the highest priority', async () => {
  const members = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      selector: fc.constantFrom(undefined, '', 'role', '!role', 'zone=b', 'zone=(', 'zone in (a)'),
      priority: fc.constantFrom(undefined, '0', '1', '2', '-1', 'x'),
      problem: fc.constantFrom(undefined, undefined, undefined, 'it is broken'),
    }),
    { selector: ({ name }) => name },
  )
  const matching = [undefined, '', 'role', 'zone in (a)']
  fc.assert(
    fc.property(members, (members) => {
      const choice = chooseFromFleet(members, LABELS)
      const again = chooseFromFleet([...members].reverse(), LABELS)
      if (choice.kind !== again.kind) return false
      const mayMatch = members.filter(
        ({ selector, problem }) =>
          problem !== undefined || (selector !== undefined && (matching.includes(selector) || selector === 'zone=(')),
      )
      if (choice.kind === 'none') return mayMatch.length === 0
      if (choice.kind === 'refused')
        return (
          mayMatch.length > 1 ||
          mayMatch.some(({ problem, selector, priority }) => problem !== undefined || selector === 'zone=(' || priority === 'x')
        )
      const chosen = members.find(({ name }) => name === choice.name)
      const rank = ({ priority }: FleetMember) => Number(priority ?? 0)
      return (
        chosen !== undefined &&
        matching.includes(chosen.selector) &&
        mayMatch.every((other) => other === chosen || rank(other) < rank(chosen))
      )
    }),
    { numRuns: 1000 },
  )
})

const layer = (name: string, selector: string | undefined, priority?: string, text = 'true'): FleetMember => ({
  ...member(name, selector, priority),
  layer: text,
})

t.test('layers that match are laid over the chosen one in ascending priority, and are never chosen', async (t) => {
  const [winner, high, low] = [member('w', '', '7'), layer('high', 'zone=a', '20'), layer('low', 'role', '-3')]
  t.same(choose(high, winner, low), { kind: 'chosen', name: 'w', layers: ['low', 'high'] })
  t.same(choose(winner, high, layer('x', 'zone=b', '30')), { kind: 'chosen', name: 'w', layers: ['high'] })
  t.same(choose(winner, layer('x', undefined), layer('y', '!role')), { kind: 'chosen', name: 'w' })
  t.same(choose(high, low), { kind: 'none' }, 'there is nothing to lay them over')
  t.same(choose(winner, layer('a', '', '8', 'false')), { kind: 'chosen', name: 'a' }, 'it is a config as any other')
})

t.test('two layers of the same priority are refused, whatever the chosen one; and so is one that is malformed', async (t) => {
  const winner = member('w', '', '100')
  t.match(choose(winner, layer('b', '', '1'), layer('a', 'role', '1'), layer('c', '', '2')), {
    kind: 'refused',
    detail: 'ConfigMaps a, b match with the annotation kubelet-cfg-agent.io/layer and the same priority 1',
  })
  t.match(choose(winner, layer('b', ''), layer('a', '')), { kind: 'refused', detail: /the same priority 0$/ })
  t.same(choose(winner, layer('a', '', '100')), { kind: 'chosen', name: 'w', layers: ['a'] }, 'a layer and the chosen one are no tie')
  for (const bad of [layer('x', 'zone=('), layer('x', '', 'y'), layer('x', '', '1', 'yes'), { ...layer('x', ''), problem: 'it is broken' }])
    t.match(choose(winner, bad), { kind: 'refused', detail: /^ConfigMap "x" could be meant for this node, and / })
  const many = Array.from({ length: 9 }, (_, index) => layer(`l${index}`, '', String(index)))
  t.match(choose(winner, ...many.slice(1)), { kind: 'chosen', layers: many.slice(1).map(({ name }) => name) })
  t.match(choose(winner, ...many), { kind: 'refused', detail: /^9 ConfigMaps .* match, and at most 8 may$/ })
})
