// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { contentHash, filesOf, hashFiles } from '../../src/checkpoint/content.ts'
import { anyData, anyKey } from './arbitraries.ts'

t.test('equal contents have equal hashes, whatever the order of the keys', (t) => {
  fc.assert(
    fc.property(anyData, anyKey, (data, key) => {
      const reversed = Object.fromEntries(Object.entries(data).reverse())
      assert.equal(contentHash(reversed, key), contentHash(data, key))
      assert.equal(hashFiles(filesOf(data), key), contentHash(data, key))
      assert.match(contentHash(data, key), /^[0-9a-f]{64}$/)
    }),
  )
  t.end()
})

t.test('different contents have different hashes', (t) => {
  fc.assert(
    fc.property(anyData, anyKey, anyData, anyKey, (data, key, otherData, otherKey) => {
      const parts = (files: Map<string, Uint8Array>) =>
        JSON.stringify([...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString('hex')]).sort())
      const same = key === otherKey && parts(filesOf(data)) === parts(filesOf(otherData))
      assert.equal(contentHash(data, key) === contentHash(otherData, otherKey), same)
    }),
  )
  t.end()
})

t.test('different data never produce the same hash input', (t) => {
  const contents: [Record<string, string>, string][] = [
    [{}, 'k'],
    [{ k: '' }, 'k'],
    [{ k: '' }, ''],
    [{ ab: 'c' }, 'k'],
    [{ a: 'bc' }, 'k'],
    [{ a: '', b: 'c' }, 'k'],
    [{ a: '1:b1:c' }, 'k'],
    [{ a: '', b: 'c' }, 'a'],
  ]
  t.equal(new Set(contents.map(([data, key]) => contentHash(data, key))).size, contents.length)
  t.end()
})

t.test('the hash is stable, because verdicts on disk contain it', (t) => {
  t.equal(contentHash({ kubelet: '{}' }, 'kubelet'), 'd64ccf139f8c053001b04ff6bcef1bc27e1e21dcf7e213b3857f801c07e73fea')
  t.end()
})
