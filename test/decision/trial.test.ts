import t from 'tap'
import { describeTrial, isSteady, measureTrial } from '../../src/decision/trial.ts'
import { A, B, contentOf, health, inTrial, keyOf, MINUTE_US, NOW_US, POLICY, runs, SECOND_US, UPGRADED_KUBELET } from './snapshots.ts'

const KEY = keyOf(B)

t.test('trial time runs from the beginning of health', async (t) => {
  t.same(measureTrial(inTrial(), KEY), { elapsedUs: 5 * MINUTE_US, remainingUs: 5 * MINUTE_US, endsAtUs: NOW_US + 5 * MINUTE_US })
})

t.test('a trial runs from the start of the process if that is later: a restart between two looks starts it anew (rule 32)', async (t) => {
  t.match(measureTrial(inTrial(runs(B, { startedAgoUs: MINUTE_US })), KEY), { elapsedUs: MINUTE_US })
})

t.test('a trial is over at its end, and stays so', async (t) => {
  const since = (us: number) => inTrial({ ...runs(B, { startedAgoUs: us }), health: health(B, { healthySinceUs: NOW_US - us }) })
  t.equal(measureTrial(since(POLICY.trialUs - 1), KEY)?.remainingUs, 1)
  t.equal(measureTrial(since(POLICY.trialUs), KEY)?.remainingUs, 0)
  t.equal(measureTrial(since(2 * POLICY.trialUs), KEY)?.remainingUs, 0)
})

t.test('no trial is measured', async (t) => {
  t.equal(measureTrial(inTrial(runs(A)), KEY), undefined, 'where another content runs')
  t.equal(measureTrial(inTrial(runs(B, { kubelet: UPGRADED_KUBELET })), KEY), undefined, 'where another kubelet runs it')
  t.equal(measureTrial(inTrial({ running: { kind: 'none' } }), KEY), undefined, 'where nothing runs')
  t.equal(measureTrial(inTrial({ running: { kind: 'unknown', detail: '' } }), KEY), undefined, 'where nobody knows what runs')
  t.equal(measureTrial(inTrial({ health: undefined }), KEY), undefined, 'without a record')
  t.equal(measureTrial(inTrial({ health: health(A) }), KEY), undefined, 'with a record of something else')
  t.equal(measureTrial(inTrial({ health: health(B, { healthySinceUs: undefined }) }), KEY), undefined, 'without health')
})

t.test('a kubelet that changed on disk says why no trial is measured', async (t) => {
  t.equal(
    describeTrial(inTrial(runs(B)), { source: B, content: contentOf(B), key: keyOf(B, UPGRADED_KUBELET) }),
    "kube-system/b:kubelet@1 runs, but kubelet's binary, flags or drop-ins have changed since it started: trial at its next start",
  )
})

t.test('a record that nobody has added to is no health: what was not looked at is not known', async (t) => {
  const stale = health(B, { healthySinceUs: NOW_US - 5 * MINUTE_US, lastSampleUs: NOW_US - POLICY.toleranceUs - 1 })
  t.equal(measureTrial(inTrial({ health: stale }), KEY), undefined, 'the last look is too long ago')
  t.equal(measureTrial(inTrial({ health: health(B, { bootId: 'boot-0' }) }), KEY), undefined, 'another boot')
})

t.test('isSteady: as long as an illness would be tolerated, or a whole trial where that is shorter', async (t) => {
  const healthyFor = (us: number, trialUs = POLICY.trialUs) =>
    isSteady(inTrial({ ...runs(B), health: health(B, { healthySinceUs: NOW_US - us }), policy: { ...POLICY, trialUs } }), KEY)
  t.notOk(healthyFor(POLICY.toleranceUs - 1))
  t.ok(healthyFor(POLICY.toleranceUs))
  t.ok(healthyFor(10 * SECOND_US, 10 * SECOND_US))
})
