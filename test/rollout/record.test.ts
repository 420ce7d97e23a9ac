// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { type Entry, parseEntry, parseRecord, parseState, type RolloutState } from '../../src/rollout/record.ts'
import { entryText, reasonText, stateText } from '../../src/rollout/write.ts'

const UID = '3f0a77b6-6a0c-4a31-a4e4-9b6b2e1b8c11'
const HASH = 'ab'.repeat(32)
const STATE = `1 3 2 ${HASH} ${UID} 4711 0`

const PLAIN = { noNullPrototype: true }
const counted = { generation: fc.nat({ max: 999_999_999 }), stage: fc.nat({ max: 99 }) }
const entries: fc.Arbitrary<Entry> = fc.oneof(
  fc.record({ ...counted, kind: fc.constant('claim'), seconds: fc.integer({ min: 1, max: 14_400 }), controlPlane: fc.boolean() }, PLAIN),
  fc.record({ ...counted, kind: fc.constant('proof') }, PLAIN),
  fc.record({ ...counted, kind: fc.constant('veto'), reason: fc.string({ unit: 'binary' }).map(reasonText) }, PLAIN),
)
const states: fc.Arbitrary<RolloutState> = fc.record(
  {
    ...counted,
    hash: fc.stringMatching(/^[0-9a-f]{64}$/),
    configUid: fc.uuid(),
    configVersion: fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }).map(String),
    retry: fc.nat({ max: 999_999_999 }),
  },
  PLAIN,
)

t.test('what is written is read back', async () => {
  fc.assert(fc.property(entries, (entry) => isDeepStrictEqual(parseEntry(entryText(entry)), entry)))
  fc.assert(fc.property(states, (state) => isDeepStrictEqual(parseState(stateText(state)), state)))
})

t.test('what is read is written back the same', async () => {
  for (const text of ['1 0 claim 900', '12 3 claim 60 control-plane', '7 5 proof', '7 5 veto kubelet exited 3 times']) {
    const entry = parseEntry(text)
    t.equal(entry && entryText(entry), text)
  }
})

t.test('the parser is total, whatever the data holds', async () => {
  const key = fc.oneof(fc.constantFrom('state', 'node.a', 'node.', 'x'), fc.string({ unit: 'binary' }))
  const value = fc.oneof(fc.constantFrom(STATE, '3 2 claim 60', '3 2 proof', '3 2 veto no'), fc.string({ unit: 'binary' }), fc.jsonValue())
  fc.assert(fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(key, value)), (data) => typeof parseRecord(data).ok === 'boolean'))
})

t.test('an empty record has no state', async (t) => {
  for (const data of [undefined, null, {}]) t.match(parseRecord(data), { ok: true, record: { state: undefined } })
})

t.test('what cannot be read whole is a problem that names what is wrong', async (t) => {
  const wrong: readonly (readonly [data: unknown, problem: RegExp])[] = [
    [[], /not an object/],
    [{ state: 7 }, /"state" is not a string/],
    [{ state: '2 what comes later' }, /reads version 1/],
    [{ state: '1 3 2' }, /malformed/],
    [{ state: STATE.toUpperCase() }, /malformed/],
    [{ state: `${STATE}\n` }, /malformed/],
    [{ state: STATE, 'node.a': '3 2 believe me' }, /"node.a" is "3 2 believe me", which is not a claim, proof or veto/],
    [{ state: STATE, 'node.a': '3 2 claim' }, /not a claim/],
    [{ state: STATE, 'node.a': '3 2 proof ' }, /not a claim/],
    [{ state: STATE, 'node.a': `3 2 veto ${'x'.repeat(161)}` }, /not a claim/],
    [{ state: STATE, note: 'x'.repeat(6144) }, /larger than 6144 bytes/],
  ]
  for (const [data, problem] of wrong) {
    const parsed = parseRecord(data)
    t.match(parsed.ok ? parsed.record : parsed.problem, problem)
  }
})

t.test('keys of others are left alone', async (t) => {
  const parsed = parseRecord({ state: STATE, 'README.md': 'do not edit', 'node.a': '3 2 proof' })
  t.same(parsed.ok && [...parsed.record.entries.keys()], ['a'])
})

t.test('no claim holds a place for longer than four hours', async (t) => {
  t.match(parseEntry('3 2 claim 99999'), { seconds: 14_400 })
})

t.test('a reason is one line of at most 160 bytes', async (t) => {
  t.equal(reasonText('kubelet\nexited\u0000 '), 'kubelet exited?')
  t.equal(reasonText(''), 'it failed')
  t.equal(Buffer.byteLength(reasonText('ä'.repeat(200))) <= 160, true)
})
