// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { DEFAULT_PLAN, freeShare, isFinished, lastStageOf, type Plan, parsePlan, proofsNeeded } from '../../src/rollout/plan.ts'
import { GARBLED, READABLE } from '../real/rights/rollout/plan-texts.ts'

function planOf(text: string): Plan {
  const parsed = parsePlan(text)
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed.plan
}

/** As the admission policy reads a number: the first match of a regular expression. */
function asPolicyReads(text: string, name: string, digits: number, otherwise: number): number {
  const found = new RegExp(`${name}: *[0-9]{1,${digits}}`).exec(text)?.[0]
  return found === undefined ? otherwise : Number(/[0-9]+$/.exec(found)?.[0])
}

t.test('without a text, or with an empty one, the defaults hold', async (t) => {
  t.same(parsePlan(undefined), { ok: true, plan: DEFAULT_PLAN })
  t.same(planOf(''), DEFAULT_PLAN)
  t.same(planOf('\n  \n'), DEFAULT_PLAN)
})

t.test('settings stand on lines or behind commas, in any order', async (t) => {
  const expected = { ...DEFAULT_PLAN, waves: [0.5, 20, 100], witnesses: 3, spreadUs: 0, retry: 7 }
  t.same(planOf('waves: [0.5%, 20%, 100%]\nwitnesses: 3\nspread: 0s\nretry: 7\n'), expected)
  t.same(planOf('retry: 7, waves: [0.5%, 20%, 100%],spread: 0s , witnesses:3'), expected)
})

t.test('zones, a rest and windows', async (t) => {
  const text =
    'zones: [eu-1a,eu-1b ], zoneLabel: example.com/rack\nrest: 30m\nwindows: [Mon-Fri 22:00-05:00, Sat 00:00-24:00]\ntimeZone: Etc/GMT+5, now: 0123456789ab'
  t.match(planOf(text), {
    zones: ['eu-1a', 'eu-1b'],
    zoneLabel: 'example.com/rack',
    restUs: 1_800_000_000,
    windows: [{ text: 'Mon-Fri 22:00-05:00' }, { text: 'Sat 00:00-24:00', days: [6], opensMinute: 0, closesMinute: 1440 }],
    timeZone: 'Etc/GMT+5',
    now: '0123456789ab',
  })
  t.match(planOf('rest: 0s, witnesses: 3'), { zoneLabel: 'topology.kubernetes.io/zone', windows: [], timeZone: 'UTC', now: undefined })
})

t.test('a last wave below 100 % is followed by one', async (t) => {
  t.same(planOf('waves: [10%]').waves, [10, 100])
})

t.test('stages: a first proof, a first round of witnesses, then the waves', async (t) => {
  t.equal(lastStageOf(DEFAULT_PLAN), 5)
  t.same(
    [0, 1, 2, 3, 4, 5, 6].map((stage) => freeShare(DEFAULT_PLAN, stage)),
    [0, 0, 0.01, 0.1, 0.5, 1, 1],
  )
  t.same(
    [0, 4, 5, 99].map((stage) => isFinished(DEFAULT_PLAN, stage)),
    [false, false, true, true],
  )
  t.same(
    [0, 1, 4].map((stage) => proofsNeeded(DEFAULT_PLAN, stage)),
    [1, 5, 5],
  )
})

t.test('a text that could be read in two ways is a problem that names what is wrong', async (t) => {
  const wrong: readonly (readonly [text: string, problem: RegExp])[] = [
    ['witnesses: 05', /witnesses is "05": expected a whole number from 1 to 20/],
    ['witnesses: 123', /witnesses is "123"/],
    ['witnesses: 0', /from 1 to 20/],
    ['witnesses : 5', /not of the form "name: value"/],
    ['witnesses:\t5', /not of the form "name: value"/],
    ['witnesses: 5\nwitnesses: 6', /witnesses is set twice/],
    ['# witnesses: 9\nwitnesses: 5', /"# witnesses: 9" is not/],
    ['minwitnesses: 9', /"minwitnesses" is not a setting; settings are waves, witnesses/],
    ['__proto__: 9', /is not of the form "name: value"/],
    ['constructor: 9', /"constructor" is not a setting/],
    ['maxVetoes: 0', /maxVetoes is "0": expected a whole number from 1 to 5/],
    ['maxSilent: -1', /maxSilent is "-1"/],
    ['retry: 1e3', /retry is "1e3"/],
    ['waves: [10%, 10%]', /rising percentages/],
    ['waves: [0%, 10%]', /rising/],
    ['waves: [10%, 101%]', /rising/],
    ['waves: [10, 50]', /rising/],
    ['waves: []', /rising/],
    ['waves: [1%, witnesses: 3%]', /rising/],
    [`waves: [${Array.from({ length: 11 }, (_, index) => `${index + 1}%`)}]`, /at most 10/],
    ['spread: 2', /a duration/],
    ['spread: 25h', /at most 24h/],
    ['zones: []', /zones is "\[\]": expected at most 20 values of a label/],
    ['zones: a', /values of a label/],
    ['zones: [a, b, a]', /each once/],
    ['zones: [a, witnesses: 9]', /values of a label/],
    ['zones: [-a]', /values of a label/],
    [`zones: [${Array.from({ length: 21 }, (_, index) => `z${index}`)}]`, /at most 20/],
    ['zoneLabel: a b', /the name of a label/],
    ['zoneLabel: retry: 9', /the name of a label/],
    ['rest: 25h', /rest is "25h": expected a duration of at most 24h/],
    ['windows: []', /expected at most 14 windows/],
    ['windows: [22:00-05:00]', /Mon-Fri 22:00-05:00/],
    ['windows: [Mon 22:00-22:00]', /windows is/],
    ['windows: [witnesses: 9]', /windows is/],
    [`windows: [${Array.from({ length: 15 }, () => 'Mon 01:00-02:00')}]`, /at most 14/],
    ['timeZone: Europe/Berlin; retry: 1', /the name of a time zone/],
    ['timeZone: +02:00', /the name of a time zone/],
    ['now: yes', /the hash of a content/],
    ['now: abcdef', /its first 12 characters or more/],
    ['witnesses: 20', /need 110 keys, and the record has room for 64/],
    ['{"witnesses": 5}', /not of the form "name: value"/],
    [`waves: [${'1%,'.repeat(400_000)}]`, /characters/],
  ]
  for (const [text, problem] of wrong) {
    const parsed = parsePlan(text)
    t.match(parsed.ok ? parsed.plan : parsed.problem, problem, text.slice(0, 60))
  }
})

t.test('a problem names the annotation and what to do', async (t) => {
  const parsed = parsePlan('witnesses: many')
  t.equal(
    parsed.ok ? '' : parsed.problem,
    'the annotation kubelet-cfg-agent.io/rollout-plan of the config cannot be used: witnesses is "many": expected a whole number from 1 to 20; correct it',
  )
})

t.test('whatever is read means the same to the admission policy', async () => {
  const word = fc.constantFrom(
    'witnesses',
    'maxVetoes',
    'maxSilent',
    'retry',
    'spread',
    'waves',
    'zones: [',
    'zoneLabel: ',
    'windows: [Mon 22:00-05:00',
    'timeZone: ',
    'rest',
    'a',
    '#',
    ':',
    ' ',
    '\n',
    ',',
    '\t',
    '[',
    ']',
    '%',
  )
  const text = fc.array(fc.oneof(word, fc.integer({ min: 0, max: 1200 }).map(String)), { maxLength: 24 }).map((words) => words.join(''))
  const number = fc
    .tuple(fc.constantFrom('witnesses', 'maxVetoes', 'maxSilent', 'retry'), fc.constantFrom(':', ': ', ':  '), fc.nat({ max: 24 }))
    .map((parts) => parts.join(''))
  const name = fc.constantFrom('a', 'witnesses', 'retry', 'maxSilent', 'waves', '5', 'Mon 22:00-05:00', 'witnesses: 9')
  const smuggled = fc
    .tuple(
      fc.constantFrom('zones', 'zoneLabel', 'timeZone', 'windows', 'now', 'rest'),
      fc.array(name, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
    )
    .map(([setting, names, isList]) => `${setting}: ${isList ? `[${names.join(', ')}]` : names.join('/')}`)
  const entry = fc.oneof(number, smuggled)
  const plausible = fc.array(entry, { maxLength: 5 }).map((entries) => entries.join('\n'))
  fc.assert(
    fc.property(fc.oneof(text, plausible), (text) => {
      const parsed = parsePlan(text)
      if (!parsed.ok) return true
      const { witnesses, maxVetoes, maxSilent, retry } = parsed.plan
      return (
        asPolicyReads(text, 'witnesses', 2, 5) === witnesses &&
        asPolicyReads(text, 'maxVetoes', 2, 1) === maxVetoes &&
        asPolicyReads(text, 'maxSilent', 2, 2) === maxSilent &&
        asPolicyReads(text, 'retry', 9, 0) === retry
      )
    }),
    { numRuns: 5000 },
  )
})

t.test('the admission policy refuses the plans that the parser refuses, and no others', async (t) => {
  const policy = readFileSync(join(import.meta.dirname, '../../deploy/admission/rollout.yaml'), 'utf8')
  const text = /variables\.plan\.matches\('(.*)'\)/.exec(policy)?.[1]?.replaceAll('\\\\', '\\')
  if (text === undefined) throw new Error('the policy checks no plan')
  const form = new RegExp(text)
  for (const plan of READABLE) t.same([parsePlan(plan).ok, form.test(plan)], [true, true], plan)
  for (const plan of GARBLED) t.same([parsePlan(plan).ok, form.test(plan)], [false, false], plan)
})

t.test('the parser is total', async () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => typeof parsePlan(text).ok === 'boolean'))
})
