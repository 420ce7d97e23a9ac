// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { readGoNumber } from '../../src/kubelet/yaml-subset.ts'

t.test('numbers that Go reads from a plain scalar', async (t) => {
  const numbers: [text: string, value: number][] = [
    ['0', 0],
    ['-0', 0],
    ['+1', 1],
    ['010', 8],
    ['08', 8],
    ['0o17', 15],
    ['0777', 511],
    ['-0x1F', -31],
    ['0b11', 3],
    ['1.', 1],
    ['.5', 0.5],
    ['1e3', 1000],
    ['1.5e-1', 0.15],
    ['99999999999999999999', 1e20],
  ]
  for (const [text, value] of numbers) t.equal(readGoNumber(text), value, text)
  for (const text of ['1:30', '2001-12-14', '1.2.3.4', '0x', '0o8', '1e', '.', '-', '+', '1e400', '.5_0', '1h', '0b2', '9'.repeat(600)]) {
    t.equal(readGoNumber(text), undefined, text)
  }
})
