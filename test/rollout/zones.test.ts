// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { decideRollout } from '../../src/rollout/decide.ts'
import { claimDelayUs, placeOf } from '../../src/rollout/order.ts'
import { DEFAULT_PLAN, freeShare, type Plan, parsePlan } from '../../src/rollout/plan.ts'
import type { RolloutNode } from '../../src/rollout/view.ts'
import { MINUTE_US } from '../../src/values/durations.ts'
import { HASH, type Scene, START_US, sceneView, state, uidWithShare } from './views.ts'

const LABEL = DEFAULT_PLAN.zoneLabel
const ABC = 'zones: [a, b, c], waves: [1%, 33%, 66%, 100%]'
const decide = (scene: Scene) => decideRollout(sceneView(scene))
const inZone = (value: string, least: number, most: number, label = LABEL) => ({ uid: uidWithShare(least, most), zone: { label, value } })
const shareOf = (node: Pick<RolloutNode, 'uid' | 'zone'>, plan: string) => placeOf(node, HASH, planOf(plan)).share

function planOf(text: string): Plan {
  const parsed = parsePlan(text)
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed.plan
}

/** From the opening of the stage until this node claims in it, in units of 30 s. */
function claimsAfter(stage: number, node: Partial<RolloutNode>, plan = ABC): number | string {
  const { turn } = decide({ data: { state: state(3, stage) }, forMinutes: 0, node, plan })
  return turn.kind === 'wait-until' ? Math.floor((turn.atUs - START_US) / 1e6 / 30) : turn.kind
}

t.test('the place of a node is that of its zone, and in it that of its hash', async (t) => {
  const place = (value: string, plan = ABC) => shareOf(inZone(value, 0.5, 0.51), plan)
  t.same(
    ['a', 'b', 'c'].map((zone) => Math.round(place(zone) * 100)),
    [17, 50, 83],
  )
  t.equal(place('elsewhere'), place('c'), 'a zone that is not listed comes with the last')
  t.equal(shareOf({ uid: uidWithShare(0.5, 0.51) }, ABC), place('c'), 'so does a Node without the label')
  t.equal(shareOf(inZone('a', 0.5, 0.51, 'rack'), ABC), place('c'), 'and one whose label of the plan is not known')
  t.equal(place('a', 'zones: [a]'), place('c', ''))
})

t.test('another label orders the nodes as well', async (t) => {
  const rack = inZone('a', 0.5, 0.51, 'example.com/rack')
  t.ok(shareOf(rack, 'zones: [a, b], zoneLabel: example.com/rack') < 0.5)
})

t.test('nodes of a zone start only when the stage is open to it', async (t) => {
  const starts = (zone: string, stage: number) =>
    decide({ data: { state: state(3, stage) }, node: inZone(zone, 0.5, 0.6), plan: ABC }).turn.kind === 'go'
  for (const [zone, first] of [
    ['a', 3],
    ['b', 4],
    ['c', 5],
  ] as const)
    t.same(
      [2, 3, 4, 5].map((stage) => starts(zone, stage)),
      [2, 3, 4, 5].map((stage) => stage >= first),
      zone,
    )
})

t.test('witnesses come in the order of the zones, each of which has a time of its own', async (t) => {
  t.same(
    ['a', 'b', 'c', 'd'].map((zone) => claimsAfter(1, inZone(zone, 0.5, 0.6))),
    [0, 1, 2, 2],
  )
  t.same(
    ['b', 'c'].map((zone) => claimsAfter(3, inZone(zone, 0.5, 0.6))),
    [1, 2],
    'a place of the first zone is left',
  )
  t.equal(claimsAfter(4, inZone('c', 0.5, 0.6)), 1)
  t.equal(claimsAfter(3, inZone('b', 0.5, 0.6), 'zones: [a, b, c], waves: [1%, 34%, 67%]'), 0)
})

t.test('canaries begin wherever they are, and control planes come one at a time in any zone', async (t) => {
  const canary = { canary: true, ...inZone('c', 0.5, 0.6) }
  t.equal(claimsAfter(0, canary), 0)
  t.equal(claimsAfter(0, inZone('a', 0.5, 0.6)), 1)
  t.equal(claimsAfter(1, canary), 2, 'later they claim as the others do')
  const controlPlane = (zone: string) => ({ controlPlane: true, ...inZone(zone, 0.5, 0.6) })
  t.same(claimsAfter(1, controlPlane('a')), claimsAfter(1, controlPlane('c')))
})

t.test('the last place in a stage stays free for whoever comes, when its zone is dead', async (t) => {
  const taken = Object.fromEntries(['v', 'w', 'x', 'y'].map((name) => [`node.${name}`, '3 1 proof']))
  const { write } = decide({ data: { state: state(3, 1), ...taken }, node: inZone('c', 0.5, 0.6), plan: ABC, forMinutes: 3 })
  t.same(write?.data, { 'node.me': '3 1 claim 900' })
})

t.test('an edit of the zones does not let a node start that had to wait', async (t) => {
  const node = { ...inZone('c', 0.5, 0.6), waves: [1, 33, 66, 100], zones: { label: LABEL, zones: ['a', 'b', 'c'] } }
  const turn = (plan: string, data = { state: state(3, 3) }, more: Partial<RolloutNode> = {}) =>
    decide({ data, node: { ...node, ...more }, plan }).turn.kind
  for (const edited of [
    'zones: [c, b, a], waves: [1%, 33%, 66%, 100%]',
    'zones: [c], waves: [1%, 33%, 66%, 100%]',
    `${ABC}, zoneLabel: rack`,
  ])
    t.not(turn(edited), 'go', edited)
  t.equal(
    turn('zones: [c, b, a], waves: [1%, 33%, 66%, 100%]', { state: state(3, 3) }, { waves: undefined, zones: undefined }),
    'go',
    'a node that sees it first',
  )
  t.not(turn(ABC, { state: state(3, 3) }, { ...inZone('a', 0.5, 0.6), zones: undefined }), 'go', 'without zones it had its place in all')
  t.equal(turn(ABC, { state: state(3, 3) }, { ...inZone('c', 0.2, 0.3), zones: undefined }), 'go')
})

t.test('whatever the zones are, a node starts by the last stage, and the time to claim has an end', async () => {
  const zone = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const zones = fc.uniqueArray(zone, { maxLength: 5 })
  const node = { canary: false, arrival: 'there', trialUs: 10 * MINUTE_US } as const
  fc.assert(
    fc.property(zones, fc.option(zone), fc.string(), fc.integer({ min: 0, max: 5 }), (listed, value, uid, stage) => {
      const plan = { ...DEFAULT_PLAN, zones: listed }
      const place = placeOf({ uid, zone: value === null ? undefined : { label: LABEL, value } }, HASH, plan)
      const delay = claimDelayUs(place, stage, node, plan)
      const least = (place.zone / Math.max(1, listed.length)) * 0.999
      return (
        place.share < 1 &&
        place.share >= least &&
        delay >= 0 &&
        delay < (1 + Math.max(1, listed.length)) * 30e6 &&
        freeShare(plan, 5) > place.share
      )
    }),
  )
})

t.test('rest: nobody claims until the stage has been open for so long, as far as this node has seen', async (t) => {
  const scene = (forMinutes: number, more: Scene = {}): Scene => ({ data: { state: state(3, 2) }, plan: 'rest: 30m', forMinutes, ...more })
  t.match(decide(scene(20)).turn, { kind: 'wait-until', detail: /; no node claims until the stage has been open for 30m$/ })
  const { turn } = decide(scene(20))
  t.ok(turn.kind === 'wait-until' && turn.atUs > START_US + 30 * MINUTE_US && turn.atUs <= START_US + 30.5 * MINUTE_US)
  t.same(decide(scene(31)).write?.data, { 'node.me': '3 2 claim 900' })
  const controlPlane = { node: { controlPlane: true } }
  t.equal(decide(scene(20, controlPlane)).turn.kind, 'wait-until')
  t.ok(decide(scene(31, controlPlane)).write)
})

t.test('rest: begins, proofs, advances and nodes that need no claim do not wait for it', async (t) => {
  const plan = 'rest: 24h'
  t.same(decide({ data: {}, plan }).write?.kind, 'begin')
  const proves = { data: { state: state(3, 1), 'node.me': '3 1 claim 900' }, node: { runs: true, proven: true }, plan }
  t.same(decide(proves).write?.data, { 'node.me': '3 1 proof' })
  t.equal(decide({ data: { state: state(3, 1), 'node.a': '3 1 proof' }, plan: `${plan}, witnesses: 1` }).write?.kind, 'advance')
  t.equal(decide({ data: { state: state(3, 2) }, node: { uid: uidWithShare(0, 0.01) }, plan }).turn.kind, 'go')
})
