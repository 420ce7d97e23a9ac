// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { composePatches, mergePatch } from '../../src/values/merge-patch.ts'

/** RFC 7386, appendix A: target, patch, result. */
const EXAMPLES = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
] as const

const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.integer(),
    fc.string(),
    fc.array(tie('json'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(key, tie('json')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
}))
const object = fc.array(fc.tuple(key, json), { maxLength: 4 }).map((entries) => Object.fromEntries(entries))

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

t.test("the RFC's examples", async (t) => {
  for (const [target, patch, result] of EXAMPLES) {
    t.equal(JSON.stringify(mergePatch(JSON.parse(target), JSON.parse(patch))), result, `${target} with ${patch}`)
  }
})

t.test('an empty patch changes nothing, and applying a patch twice is the same as once', async () => {
  fc.assert(fc.property(object, (target) => same(mergePatch(target, {}), target)))
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const once = mergePatch(target, patch)
      return same(mergePatch(once, patch), once)
    }),
  )
})

t.test('each key follows the RFC, and the arguments are not changed', async () => {
  fc.assert(
    fc.property(object, object, (target, patch) => {
      const before = JSON.stringify([target, patch])
      const merged = mergePatch(target, patch)
      if (!isMap(merged) || JSON.stringify([target, patch]) !== before) return false
      return [...Object.keys(target), ...Object.keys(patch)].every((name) => {
        if (!Object.hasOwn(patch, name)) return same(merged[name], target[name])
        if (patch[name] === null) return !Object.hasOwn(merged, name)
        return same(merged[name], mergePatch(Object.hasOwn(target, name) ? target[name] : undefined, patch[name]))
      })
    }),
  )
})

t.test('values set by a patch contain no null', async () => {
  const holdsNull = (value: unknown): boolean => isMap(value) && Object.values(value).some((inner) => inner === null || holdsNull(inner))
  fc.assert(fc.property(object, (patch) => !holdsNull(mergePatch({}, patch))))
})

t.test('one patch does what two do, one after the other', async (t) => {
  const leaf = fc.oneof(fc.constant(null), fc.integer(), fc.array(fc.integer()))
  const flat = fc.dictionary(fc.constantFrom('a', 'b', 'c'), leaf)
  /** Each key is an object everywhere, or nowhere. */
  const typed = fc.record({ maxPods: leaf, featureGates: flat, logging: fc.record({ options: flat, format: leaf }, { requiredKeys: [] }) })
  const config = fc.oneof(typed, fc.record({ maxPods: leaf }), fc.record({ featureGates: flat }))
  fc.assert(
    fc.property(config, config, config, (target, first, second) => {
      t.same(mergePatch(target, composePatches(first, second)), mergePatch(mergePatch(target, first), second))
    }),
    { numRuns: 300 },
  )
  t.same(composePatches({ a: null, b: 1 }, { b: null, c: { d: null } }), { a: null, b: null, c: { d: null } })
})
