// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Base, ConfigMapView } from '../../src/decision/desired.ts'
import { followBases } from '../../src/source/base-chain.ts'
import { readBase } from '../../src/source/channels/metadata.ts'

const refOf = (name: string, kubeletConfigKey = 'k') => ({ namespace: 'ns', name, kubeletConfigKey })
const baseOf = (text: string): Base | undefined => readBase({ metadata: { annotations: { 'kubelet-cfg-agent.io/base': text } } })
const found = (name: string, base?: string): ConfigMapView => ({
  kind: 'found',
  uid: name,
  resourceVersion: '1',
  data: {},
  base: base === undefined ? undefined : baseOf(base),
})
/** Follows `a` through ConfigMaps that name their bases. */
const follow = (bases: Readonly<Record<string, string | undefined>>) =>
  followBases(refOf('a'), found('a', bases.a), ({ name }) => (name in bases ? found(name, bases[name]) : { kind: 'pending' }))
const namesOf = (bases: ReturnType<typeof follow>) => bases?.views.map(({ ref }) => `${ref.name}:${ref.kubeletConfigKey}`)

t.test('no ConfigMap is under a whole config, nor under a part over the local config', async (t) => {
  t.equal(follow({ a: undefined }), undefined)
  t.equal(follow({ a: 'local' }), undefined)
  t.equal(follow({ a: 'x' }), undefined)
})

t.test('the nearest comes first; a key is inherited', async (t) => {
  const bases = follow({ a: 'ns/b', b: 'ns/c:other', c: 'ns/d', d: 'local' })
  t.same(namesOf(bases), ['b:k', 'c:other', 'd:other'])
  t.equal(bases?.problem, undefined)
  t.same(namesOf(follow({ a: 'ns/b', b: 'other/c' })), ['b:k', 'c:k'])
})

t.test('what is not known yet ends it', async (t) => {
  t.match(follow({ a: 'ns/b' }), { views: [{ object: { kind: 'pending' } }], problem: undefined })
})

t.test('a cycle is an error that names it, whatever the keys', async (t) => {
  t.match(follow({ a: 'ns/a' }), { views: [], problem: /cycle: ns\/a -> ns\/a$/ })
  t.match(follow({ a: 'ns/a:other' }), { problem: /cycle/ })
  t.match(follow({ a: 'ns/b', b: 'ns/c', c: 'ns/b:x' }), { problem: /cycle: ns\/a -> ns\/b -> ns\/c -> ns\/b$/ })
})

t.test('at most 4 deep', async (t) => {
  const chain = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, at) => [at === 0 ? 'a' : `b${at}`, at + 1 === length ? 'local' : `ns/b${at + 1}`]))
  t.match(follow(chain(5)), { views: { length: 4 }, problem: undefined })
  t.match(follow(chain(6)), { views: { length: 4 }, problem: /at most 4 ConfigMaps under it/ })
})
