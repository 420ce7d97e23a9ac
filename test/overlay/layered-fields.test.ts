import fc from 'fast-check'
import t from 'tap'
import { type ConfigLayer, findLayer, listFields } from '../../src/overlay/layers.ts'
import { isObject } from '../../src/values/is-object.ts'
import { mergePatch } from '../../src/values/merge-patch.ts'

const lay = (...documents: readonly unknown[]) => documents.map((value, index): ConfigLayer => ({ name: String(index), value }))

t.test('each field by the last layer that sets or removes it, those of the highest last', async (t) => {
  const local = { apiVersion: 'v1', maxPods: 1, evictionHard: { a: '1', b: '2' }, clusterDNS: ['x'] }
  const part = { apiVersion: 'v1', kind: 'K', maxPods: 2, evictionHard: { b: null }, clusterDNS: ['y', 'z'], logging: {} }
  const layer = { maxPods: 3, authentication: { x509: { clientCAFile: '/ca' } } }
  t.same(listFields(lay(local, part, layer)), [
    { path: ['evictionHard', 'b'], layer: '1', removed: true },
    { path: ['clusterDNS'], layer: '1' },
    { path: ['maxPods'], layer: '2' },
    { path: ['authentication', 'x509', 'clientCAFile'], layer: '2' },
  ])
  t.same(listFields(lay(local, { evictionHard: null }, { evictionHard: { c: '3' } })), [
    { path: ['evictionHard'], layer: '1', removed: true },
    { path: ['evictionHard', 'c'], layer: '2' },
  ])
  t.same(listFields(lay(local, { evictionHard: { a: '9' } }, { evictionHard: null })), [
    { path: ['evictionHard'], layer: '2', removed: true },
  ])
  t.same(listFields(lay(local, undefined, 'x', [])), [], 'what is no mapping')
  t.same(listFields(lay(local)), [])
  t.same(listFields([]), [])
})

t.test('a layer that is larger than any config is not listed', async (t) => {
  const wide = (inner: unknown) => Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`f${index}`, inner]))
  const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
  for (const value of [wide(1), wide({}), deep, { ['x'.repeat(100_000)]: 1 }]) {
    t.equal(listFields(lay({}, value)), undefined)
    t.equal(listFields(lay({}, value, { maxPods: 1 })), undefined, 'nor what is above it')
    t.equal(listFields(lay({}, { maxPods: 1 }, value)), undefined)
  }
  t.equal(listFields(lay({}, Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, 1]))))?.length, 500)
})

t.test('of each value of the result, it names the layer that findLayer finds, or it is of the lowest', async (t) => {
  const value = fc.letrec((tie) => ({
    leaf: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(null), fc.constant([1])),
    node: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('node')), { maxKeys: 3 }),
  }))
  await fc.assert(
    fc.property(fc.array(value.node, { minLength: 1, maxLength: 4 }), (documents) => {
      const layers = lay(...documents)
      const fields = listFields(layers) ?? []
      const merged = documents.slice(1).reduce<unknown>(mergePatch, documents[0])
      for (const path of leavesOf(merged)) {
        const named = fields.find((field) => JSON.stringify(field.path) === JSON.stringify(path))
        if ((named?.layer ?? '0') !== findLayer(layers, path)) throw new Error(`${path.join('.')}: ${named?.layer}`)
        if (named?.removed === true) throw new Error(`${path.join('.')} is there`)
      }
    }),
  )
  t.pass()
})

function leavesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  return isObject(value) ? Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key])) : [path]
}
