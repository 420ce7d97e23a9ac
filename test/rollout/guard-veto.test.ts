// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { decideRollout } from '../../src/rollout/decide.ts'
import type { GuardVerdict, Limit } from '../../src/rollout/guard.ts'
import { guardVetoes } from '../../src/rollout/guard-veto.ts'
import { parsePlan } from '../../src/rollout/plan.ts'
import { bytesOf, MOST_RECORD_BYTES, parseRecord } from '../../src/rollout/record.ts'
import { isObjectName } from '../../src/values/kubernetes-names.ts'
import { type Data, sceneView, state } from './views.ts'

const LIMIT: Limit = { kind: 'share', percent: 2 }
const hurt = (...names: string[]): GuardVerdict => ({
  started: 40,
  hurt: names.map((node) => ({ node, how: 'not ready' })),
  exceeds: true,
})

function vetoesOn(data: Data, verdict: GuardVerdict, plan?: string, excluded?: string): Data | undefined {
  const parsed = parsePlan(plan, excluded)
  const reading = parseRecord(data)
  if (!parsed.ok || !reading.ok || reading.record.state === undefined) throw new Error('not a scene')
  return guardVetoes(parsed.plan, reading.record.state, reading.record, { verdict, limit: LIMIT })
}

t.test('one veto halts by default, and agents say why in a sentence', async (t) => {
  const before = { state: state(7, 3), 'node.a': '7 3 proof' }
  const data = vetoesOn(before, hurt('worker-1', 'worker-2'))
  t.same(data, { 'node.guard_1': '7 3 veto 2 of 40 nodes hurt, limit 2%: worker-1 not ready, worker-2 not ready' })
  t.match(decideRollout(sceneView({ data: { ...before, ...data } })), {
    turn: {
      kind: 'halted',
      detail:
        /^rollout status halted it: 2 of 40 nodes hurt, limit 2%: worker-1 not ready, worker-2 not ready; fix the config, or set "retry: 1"/,
    },
    write: undefined,
  })
})

t.test('it writes as many as the plan asks for, and one in stage 0', async (t) => {
  const many = hurt(...Array.from({ length: 12 }, (_, index) => `ip-10-0-0-${index}.eu-central-1.compute.internal`))
  const keysOf = (data: Data | undefined) => Object.keys(data ?? {})
  t.same(keysOf(vetoesOn({ state: state(7, 0) }, many, 'maxVetoes: 3')), ['node.guard_1'])
  const data = vetoesOn({ state: state(7, 2) }, many, 'maxVetoes: 3')
  t.same(keysOf(data), ['node.guard_1', 'node.guard_2', 'node.guard_3'])
  t.match(Object.values(data ?? {}), [/^7 2 veto 12 of 40 nodes hurt, limit 2%: ip-10-0-0-0\./, /^7 2 veto also ip-10/, / and \d+ more$/])
  t.match(vetoesOn({ state: state(7, 2) }, hurt('a'), 'maxVetoes: 2'), { 'node.guard_2': '7 2 veto as above' })
  t.same(keysOf(vetoesOn({ state: state(7, 2) }, many, 'maxVetoes: 2', 'guard_1')), ['node.guard_2', 'node.guard_3'])
})

t.test('only the last of them says how many it leaves out, and they are short where the record is nearly full', async (t) => {
  const many = hurt(...Array.from({ length: 40 }, (_, index) => `node-${index}`))
  const before = { state: state(7, 2) }
  const texts = Object.values(vetoesOn(before, many, 'maxVetoes: 2') ?? {})
  t.same(
    texts.map((text) => / and \d+ more$/.test(text)),
    [false, true],
  )
  const room = MOST_RECORD_BYTES - bytesOf(new Map(Object.entries(before))) - 'note'.length
  const short = vetoesOn({ ...before, note: 'x'.repeat(room - 250) }, many, 'maxVetoes: 2')
  t.ok(short && bytesOf(new Map(Object.entries(short))) <= 250)
})

t.test('a record that is nearly full is halted with fewer words, and then by the vetoes that are missing', async (t) => {
  const long = (index: number) => `node.${index}${'x'.repeat(240)}`
  const many = hurt(...Array.from({ length: 100 }, (_, index) => `ip-10-0-0-${index}.eu-central-1.compute.internal`))
  const vetoes = [1, 2, 3, 4].map((index) => [long(index), `7 2 veto ${'r'.repeat(160)}`])
  const before = { state: state(7, 2), ...Object.fromEntries(vetoes) }
  const fill = (room: number) => {
    const used = bytesOf(new Map(Object.entries(before))) + 'note'.length
    return { ...before, note: 'x'.repeat(MOST_RECORD_BYTES - used - room) }
  }
  const brief = vetoesOn(fill(300), many, 'maxVetoes: 5')
  t.match(brief, { 'node.guard_1': /^7 2 veto 100 of 40 nodes hurt, limit 2%: ip-10-0-0-0\./, 'node.guard_5': '7 2 veto as above' })
  for (const room of [300, 100]) {
    const full = fill(room)
    const data = vetoesOn(full, many, 'maxVetoes: 5')
    t.match(decideRollout(sceneView({ data: { ...full, ...data }, plan: 'maxVetoes: 5' })).turn, { kind: 'halted' }, `${room} bytes`)
  }
  t.same(Object.keys(vetoesOn(fill(100), many, 'maxVetoes: 5') ?? {}), ['node.guard_1'])
  t.equal(vetoesOn(fill(100), many, 'maxVetoes: 5', long(1).slice('node.'.length)), undefined, 'an excluded veto does not count')
})

t.test('no Node can have the name of a guard', async (t) => {
  for (const key of Object.keys(vetoesOn({ state: state(7, 2) }, hurt('a'), 'maxVetoes: 5') ?? {}))
    t.equal(isObjectName(key.slice('node.'.length)), false, key)
})

t.test('retry ends it: the next generation takes the keys away', async (t) => {
  const data = { state: state(7, 3), ...vetoesOn({ state: state(7, 3) }, hurt('a')) }
  const { write } = decideRollout(sceneView({ data, plan: 'retry: 1', node: { canary: true } }))
  t.match(write, { kind: 'begin', data: { state: /^1 8 0 /, 'node.guard_1': null } })
  // Whoever reads an old one in a new generation goes on.
  const old = { ...data, state: state(8, 0, undefined, 1) }
  t.match(decideRollout(sceneView({ data: old, plan: 'retry: 1', node: { canary: true } })), { write: { kind: 'claim' } })
})

t.test('a finished rollout is halted for control planes, which start one at a time, and not for workers', async (t) => {
  const data = { state: state(7, 5), ...vetoesOn({ state: state(7, 5) }, hurt('a')) }
  t.match(decideRollout(sceneView({ data })).turn, { kind: 'go' })
  t.match(decideRollout(sceneView({ data, node: { controlPlane: true } })).turn, { kind: 'halted' })
})

t.test('whatever it names, the record can be read, and is halted', async () => {
  const names = fc.array(fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(
      names,
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 1, max: 5 }),
      fc.nat({ max: 6200 }),
      (nodes, stage, most, fill) => {
        const before = { state: state(7, stage), note: 'x'.repeat(fill) }
        const reading = parseRecord(before)
        if (!reading.ok) return true
        const data = vetoesOn(before, hurt(...nodes), `maxVetoes: ${most}`)
        const room = MOST_RECORD_BYTES - bytesOf(reading.record.texts)
        if (data === undefined) return room < 5 * 110
        const after = { ...before, ...data }
        const { turn } = decideRollout(sceneView({ data: after, plan: `maxVetoes: ${most}` }))
        return parseRecord(after).ok && turn.kind === 'halted'
      },
    ),
    { numRuns: 1000 },
  )
})
