import t from 'tap'
import { hashConfig, type PartOf } from '../../src/rollout/config-hash.ts'

const data = { kubelet: 'maxPods: 1\n', other: 'x' }
const hash = (part?: PartOf) => hashConfig(data, 'kubelet', part)

t.test('of a whole config, the SHA-256 of its text', async (t) => {
  t.equal(hash(), '616909043f34752e58a71f7b512758c34e53a402d79d0aad00d52e70553a5345')
  t.equal(hashConfig(data, 'missing'), hashConfig({ missing: '' }, 'missing'))
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
  ]
  t.equal(new Set(hashes).size, hashes.length)
  for (const each of hashes) t.match(each, /^[0-9a-f]{64}$/)
})
