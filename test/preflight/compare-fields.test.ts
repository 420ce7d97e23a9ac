import fc from 'fast-check'
import t from 'tap'
import { compareFields } from '../../src/preflight/compare-fields.ts'
import { formatPath } from '../../src/preflight/field-path.ts'

const paths = (before: Record<string, unknown>, after: Record<string, unknown>) =>
  compareFields(before, after).map(({ path }) => formatPath(path))

t.test('maps key by key, lists as a whole', async (t) => {
  t.same(paths({ maxPods: 1, evictionHard: { a: '1', b: '2' } }, { maxPods: 2, evictionHard: { a: '1', b: '3' } }), [
    'evictionHard.b',
    'maxPods',
  ])
  t.same(paths({ clusterDNS: ['a', 'b'] }, { clusterDNS: ['b', 'a'] }), ['clusterDNS'])
  t.same(paths({}, { featureGates: { X: true } }), ['featureGates.X'])
})

t.test('null and an empty map are not set', async (t) => {
  t.same(paths({ maxPods: null, featureGates: {} }, {}), [])
  t.same(paths({ maxPods: 0 }, {}), ['maxPods'])
})

t.test('what may be a secret is not shown', async (t) => {
  const header = (value: string) => ({ staticPodURLHeader: { Authorization: [value] } })
  const changes = compareFields(header('s3cret'), header('0ther'))
  t.same(
    changes.map(({ path }) => path),
    [['staticPodURLHeader']],
  )
  t.notMatch(JSON.stringify(changes), /s3cret|0ther/)
})

const anyValue = fc.jsonValue({ maxDepth: 3 })
const anyConfig = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), anyValue)

t.test('nothing differs from itself, and what differs one way differs the other', async (t) => {
  fc.assert(
    fc.property(anyConfig, anyConfig, (before, after) => {
      t.same(compareFields(before, before), [])
      t.same(
        compareFields(after, before).map((change) => ({ ...change, before: change.after, after: change.before })),
        compareFields(before, after),
      )
    }),
    { numRuns: 200 },
  )
})
