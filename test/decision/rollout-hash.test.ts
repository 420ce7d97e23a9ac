// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { hashConfig, type PartOf } from '../../src/decision/rollout-hash.ts'

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
