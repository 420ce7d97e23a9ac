import fc from 'fast-check'
import t from 'tap'
import type { SpreadRecord } from '../../src/decision/records.ts'
import { findSpreadTurn, spreadDelayUs } from '../../src/decision/wait.ts'
import { A, A_EDITED, B, BOOT, configMap, MINUTE_US, NOW_US, POLICY } from './snapshots.ts'

const NOW = { bootId: BOOT, monotonicUs: NOW_US, wallMs: 0 }
const DELAY_US = spreadDelayUs('node-1', A, POLICY.spreadUs)

t.test('the delay is in range, whole, and the same whenever it is asked', async () => {
  const source = fc.record({ name: fc.string(), resourceVersion: fc.string() })
  fc.assert(
    fc.property(fc.string(), source, fc.integer({ min: 0, max: 24 * 60 * MINUTE_US }), (node, { name, resourceVersion }, spreadUs) => {
      const delayUs = spreadDelayUs(node, configMap(name, resourceVersion), spreadUs)
      return (
        Number.isInteger(delayUs) &&
        delayUs >= 0 &&
        (delayUs < spreadUs || spreadUs === 0) &&
        delayUs === spreadDelayUs(node, configMap(name, resourceVersion), spreadUs)
      )
    }),
  )
})

t.test('a fleet is spread evenly, and anew at each edit', async (t) => {
  const nodes = Array.from({ length: 1000 }, (_, index) => `node-${index}`)
  const early = nodes.filter((node) => spreadDelayUs(node, A, 100) < 50).length
  t.ok(early > 430 && early < 570, `${early} of 1000 in the first half`)
  const again = nodes.filter((node) => spreadDelayUs(node, A, 100) < 50 && spreadDelayUs(node, A_EDITED, 100) < 50).length
  t.ok(again > 180 && again < 320, `${again} of them in the first half at the next edit, too`)
})

t.test('a spread waits only for its own source, in its own boot', async (t) => {
  const spread = { bootId: BOOT, source: A, sinceUs: NOW_US - DELAY_US + 1 }
  const turnBy = (record: SpreadRecord | undefined, policy = POLICY) =>
    findSpreadTurn({ nodeName: 'node-1', now: NOW, spread: record, policy }, A)
  const turn = (facts: Partial<SpreadRecord> = {}, policy = POLICY) => turnBy({ ...spread, ...facts }, policy)
  t.match(turn(), { kind: 'wait-until', atUs: NOW_US + 1, detail: 'shared changes are spread over 2m' }, 'until its time')
  t.same(turn({ sinceUs: NOW_US - DELAY_US }), { kind: 'go' }, 'and not longer')
  t.same(turnBy(undefined), { kind: 'go' }, 'no in-place edit')
  t.same(turn({ source: B }), { kind: 'go' }, 'the edit of another one')
  t.same(turn({ bootId: 'boot-0' }), { kind: 'go' }, 'an edit before the boot')
  t.same(turn({ sinceUs: NOW_US }, { ...POLICY, spreadUs: 0 }), { kind: 'go' }, 'no spread')
})
