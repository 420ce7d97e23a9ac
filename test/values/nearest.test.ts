// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { editDistance, nearby, nearest } from '../../src/values/nearest.ts'

t.test('finds the nearest name', async (t) => {
  const known = ['trialDuration', 'startDeadline', 'spread', 'kubeconfig']
  t.equal(nearest('trailDuration', known), 'trialDuration')
  t.equal(nearest('trial-duration', known), 'trialDuration')
  t.equal(nearest('KUBECONF', known), 'kubeconfig', 'ignores case')
  t.equal(nearest('zzz', known), 'spread', 'returns even a distant name')
  t.equal(nearest('x', []), undefined)
})

t.test('a name that is too far is no help', async (t) => {
  const known = ['--output', '--watch', '--help']
  t.equal(nearby('--wacth', known), '--watch')
  t.equal(nearby('--out', known), '--output', 'it begins so')
  for (const name of ['--json', '-w', '-A', '--selector']) t.equal(nearby(name, known), undefined, name)
})

t.test('edit distance', async (t) => {
  t.equal(editDistance('kitten', 'sitting'), 3)
  t.equal(editDistance('ab', 'ba'), 1, 'two swapped letters are one edit')
  const words = fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', 'c') })
  fc.assert(
    fc.property(words, words, (a, b) => {
      const distance = editDistance(a, b)
      const bounded = distance <= Math.max(a.length, b.length) && distance >= Math.abs(a.length - b.length)
      return bounded && distance === editDistance(b, a) && (distance === 0) === (a === b)
    }),
  )
})
