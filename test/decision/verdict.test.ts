// SPDX-License-Identifier: Apache-2.0
/** Which verdicts are kept, and which of them hold on the kubelet that is installed. */
import t from 'tap'
import {
  FAILURE_REASONS,
  findFormer,
  findPresentVerdict,
  findVerdict,
  isSeenByHealth,
  isVerdict,
  keepVerdicts,
  OTHERWISE,
  type Verdict,
} from '../../src/decision/verdict.ts'
import { B, C, configMap, contentOf, judged, KUBELET, keyOf, snapshot, UPGRADED_KUBELET, unit, verdict } from './snapshots.ts'

t.test('what is read back as a verdict', async (t) => {
  const read = (value: object) => isVerdict(JSON.parse(JSON.stringify(value)))
  for (const state of ['refused', 'provisional', 'confirmed'] as const) t.equal(read(verdict(B, state)), true, state)
  const former = verdict(B, 'provisional')
  t.equal(read(verdict(B, 'refused', { former })), true)
  const not: Record<string, object> = {
    nothing: {},
    'no key': { ...former, key: undefined },
    'another state': { ...former, state: 'forgiven' },
    'another reason': { ...former, reason: 'bad luck' },
    'no time': { ...former, atWallMs: 'today' },
    'a former one that is none': { ...former, former: { state: 'provisional' } },
  }
  for (const [what, value] of Object.entries(not)) t.equal(read(value), false, what)
  t.equal(OTHERWISE, 'kubelet starts, and', 'what an earlier agent recorded of an accepted config is still told apart')
})

t.test('where there are too many, those that cost least are forgotten', async (t) => {
  const one = (state: Verdict['state'], facts: Partial<Verdict> = {}) => verdict(B, state, facts)
  const many = (count: number, of: Verdict) => Array.from({ length: count }, (_, index) => ({ ...of, key: keyOf(configMap(`m${index}`)) }))
  const keep = (verdicts: readonly Verdict[], made = keyOf(C)) => {
    const kept = keepVerdicts(verdicts, made)
    return { count: kept.length, forgotten: verdicts.flatMap((each, index) => (kept.includes(each) ? [] : [index])) }
  }
  const failed = one('provisional')
  t.strictSame(keep(many(100, failed)), { count: 100, forgotten: [] })
  t.strictSame(keep(many(102, failed)), { count: 100, forgotten: [0, 1] }, 'the oldest')
  const others = many(100, failed)
  const with101 = (each: Verdict) => [...others.slice(0, 50), each, ...others.slice(50)]
  t.strictSame(keep(with101(one('refused'))), { count: 100, forgotten: [50] }, 'a refusal costs a preflight only')
  t.strictSame(keep(with101(one('refused')), keyOf(B)), { count: 100, forgotten: [0] }, 'but not the one that was just made')
  t.strictSame(keep(with101(one('refused', { former: failed }))), { count: 100, forgotten: [0] }, 'nor one of what had failed before')
  const harm = one('confirmed', { damage: 'one-way' })
  t.strictSame(keep([harm, ...others]), { count: 100, forgotten: [1] }, 'damage that no restart undoes is never forgotten')
  t.strictSame(keep(many(102, harm)), { count: 102, forgotten: [] }, 'however many there are')

  const refused = one('refused')
  const ordered = keepVerdicts([harm, failed, refused, one('confirmed')], keyOf(C))
  t.strictSame(ordered, [refused, failed, one('confirmed'), harm], 'an older agent forgets the first ones first')
})

t.test('whether the health of kubelet shows what a config failed with', async (t) => {
  const shown = FAILURE_REASONS.filter((reason) => isSeenByHealth(reason))
  t.strictSame(shown, ['load', 'validate', 'crash-loop', 'start-deadline', 'ill-health'])
})

t.test('a verdict holds on the kubelet that it was made on', async (t) => {
  const elsewhere = verdict(B, 'confirmed', { key: keyOf(B, UPGRADED_KUBELET) })
  const here = verdict(B, 'refused')
  const find = (isKubeletUnread: boolean, verdicts: readonly Verdict[], proven?: string) =>
    findVerdict(snapshot({ ...judged(...verdicts), proven }), contentOf(B), unit(isKubeletUnread ? { isKubeletUnread } : {}))
  t.equal(find(false, [elsewhere, here]), here)
  t.equal(find(false, [elsewhere]), undefined)

  t.test('or on any while nobody knows which one is installed', async (t) => {
    t.equal(find(true, [elsewhere, here]), here)
    t.equal(find(true, [elsewhere]), elsewhere)
    t.equal(find(true, [elsewhere], keyOf(C)), elsewhere)
    t.equal(find(true, [verdict(C, 'confirmed')]), undefined, 'but not for another content')
    t.equal(find(true, [{ ...elsewhere, state: 'refused' }]), undefined, 'and a refusal is made anew')
    t.equal(find(true, [elsewhere], keyOf(B)), undefined, 'what passed its trial is not condemned for another kubelet')
    t.equal(find(true, [elsewhere], elsewhere.key), elsewhere, 'but it is for that one')
  })

  t.test('and is reported also while the unit cannot be read', async (t) => {
    const present = (of: Partial<Parameters<typeof findPresentVerdict>[0]>) =>
      findPresentVerdict(snapshot({ ...judged(verdict(C, 'confirmed'), elsewhere, here), ...of }), contentOf(B))
    t.equal(present({}), here)
    t.equal(present({ unit: unit({ kubeletIdentity: UPGRADED_KUBELET }) }), elsewhere)
    t.equal(present({ unit: { kind: 'unknown', detail: '' } }), elsewhere)
    t.equal(present({ unit: { kind: 'unknown', detail: '' }, ...judged(verdict(C, 'confirmed')) }), undefined)
  })
})

t.test('what a config had failed with is remembered while preflight refuses it', async (t) => {
  const former = verdict(B, 'provisional', { anyKubelet: true })
  const refused = verdict(B, 'refused', { former })
  const find = (source: typeof B, kubelet: string, ...verdicts: readonly Verdict[]) =>
    findFormer(snapshot(judged(...verdicts)), keyOf(source, kubelet))
  t.strictSame(find(B, KUBELET, refused), former)
  t.strictSame(find(B, UPGRADED_KUBELET, refused), { ...former, key: keyOf(B, UPGRADED_KUBELET) }, 'by the name that kubelet has now')
  t.equal(find(C, UPGRADED_KUBELET, refused), undefined, 'but not for another content')
  t.equal(find(B, KUBELET, former), former, 'also where it is not refused')
})
