// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { BaseView, FoundConfigMap } from '../../src/decision/desired.ts'
import { hashConfig, hashObject, type PartOf } from '../../src/decision/rollout-hash.ts'

const data = { kubelet: 'maxPods: 1\n', other: 'x' }
const hash = (part?: PartOf) => hashConfig(data, 'kubelet', part)

t.test('of a whole config, all keys count, since a config may refer to the others by relative path', async (t) => {
  t.match(hash(), /^[0-9a-f]{64}$/)
  const others = [
    hashConfig({ ...data, kubelet: 'maxPods: 2\n' }, 'kubelet'),
    hashConfig({ ...data, other: 'y' }, 'kubelet'),
    hashConfig({ ...data, another: '' }, 'kubelet'),
    hashConfig({ kubelet: data.kubelet }, 'kubelet'),
    hashConfig({ kubelet: data.kubelet, otherx: '' }, 'kubelet'),
    hashConfig(data, 'other'),
    hashConfig(data, 'missing'),
  ]
  t.equal(new Set([hash(), ...others]).size, others.length + 1)
})

t.test('the order in which the API server sends the keys does not count', async (t) => {
  t.equal(hashConfig({ other: 'x', kubelet: 'maxPods: 1\n' }, 'kubelet'), hash())
  const inOrder = (...names: readonly string[]) =>
    hashConfig({ kubelet: '', ...Object.fromEntries(names.map((name) => [name, name])) }, 'kubelet')
  t.equal(inOrder('a', 'z', 'm'), inOrder('m', 'a', 'z'))
  t.equal(hashConfig({ 10: 'b', 9: 'a', kubelet: '' }, 'kubelet'), hashConfig({ kubelet: '', 9: 'a', 10: 'b' }, 'kubelet'))
})

t.test('of a part, everything under it counts', async (t) => {
  const whole = { base: undefined, text: 'maxPods: 2\n' }
  const hashes = [
    hash(),
    hash({ base: 'local', under: [] }),
    hash({ base: 'ns/a', under: [] }),
    hash({ base: 'ns/a', under: [whole] }),
    hash({ base: 'ns/a', under: [{ ...whole, text: 'maxPods: 3\n' }] }),
    hash({ base: 'ns/a', under: [{ ...whole, text: undefined }] }),
    hash({ base: 'ns/a', under: [{ ...whole, base: 'local' }] }),
    hash({ base: 'ns/a', under: [{ ...whole, base: 'ns/b' }, whole] }),
    hashConfig({ kubelet: '' }, 'kubelet', { base: 'local', under: [] }),
    hashConfig({ ...data, other: 'y' }, 'kubelet', { base: 'local', under: [] }),
  ]
  t.equal(new Set(hashes).size, hashes.length)
  for (const each of hashes) t.match(each, /^[0-9a-f]{64}$/)
})

t.test('a missing key counts as an empty text', async (t) => {
  t.equal(hashConfig({}, 'kubelet'), hashConfig({ kubelet: '' }, 'kubelet'))
})

t.test('a whole config that reads like a part has another hash than the part', async (t) => {
  const kubelet = JSON.stringify([['local', data.kubelet]])
  t.not(hashConfig({ ...data, kubelet }, 'kubelet'), hash({ base: 'local', under: [] }))
})

t.test('agents of all versions find the same hash', async (t) => {
  const base = 'ns/a'
  t.strictSame(
    [
      hashConfig({ kubelet: data.kubelet }, 'kubelet'),
      hashConfig({ ...data, another: '' }, 'kubelet'),
      hash({ base, under: [{ base: undefined, text: 'maxPods: 2\n' }] }),
    ],
    [
      '616909043f34752e58a71f7b512758c34e53a402d79d0aad00d52e70553a5345',
      'df202702951b000c50315449774f103f35c8571cf551e32649bff9eba1627f26',
      '147d8ae2753fae69591a2d100f128d77f08224277e0fddbfd7a9a11fa6331910',
    ],
  )
})

t.test('of a ConfigMap, the texts under it count that its annotation and theirs name', async (t) => {
  const of = { uid: 'uid', resourceVersion: '1' }
  const hashOf = (facts: Partial<FoundConfigMap>) => hashObject({ data, ...facts }, 'kubelet')
  t.equal(hashOf({}), hash(), 'none under a whole config')
  t.equal(hashOf({ base: { kind: 'local', text: 'local' } }), hash({ base: 'local', under: [] }), "nor under a part of a node's own")

  const ref = { namespace: 'ns', name: 'a', kubeletConfigKey: 'config' }
  const base = { kind: 'config-map', text: 'ns/a', ref } as const
  const under = (...objects: readonly BaseView['object'][]) =>
    hashOf({ base, bases: { views: objects.map((object) => ({ ref, object })), problem: undefined } })
  const part = { kind: 'found', ...of, data: { config: 'maxPods: 2\n', other: 'x' }, base: { kind: 'local', text: 'local' } } as const
  const whole = { kind: 'found', ...of, data: { config: 'maxPods: 3\n' } } as const
  t.equal(under(part), hash({ base: 'ns/a', under: [{ base: 'local', text: 'maxPods: 2\n' }] }))
  t.equal(
    under(part, whole),
    hash({
      base: 'ns/a',
      under: [
        { base: 'local', text: 'maxPods: 2\n' },
        { base: undefined, text: 'maxPods: 3\n' },
      ],
    }),
  )
  const unknown = hash({ base: 'ns/a', under: [{ base: undefined, text: undefined }] })
  t.equal(under({ ...whole, data: { other: 'x' } }), unknown, 'it lacks the key')
  t.equal(under({ kind: 'unavailable', reason: 'not-found', detail: '404' }), unknown, 'it is not there')
})
