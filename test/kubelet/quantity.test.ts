import t from 'tap'
import { parseQuantity } from '../../src/kubelet/quantity.ts'

t.test('its value', async (t) => {
  const quantities: [text: string, value: number][] = [
    ['0', 0],
    ['100Mi', 104857600],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['5.', 5],
    ['250m', 0.25],
    ['1e3', 1000],
    ['1E', 1e18],
    ['1E3', 1000],
    ['-1k', -1000],
    ['+2Gi', 2147483648],
  ]
  for (const [text, value] of quantities) t.equal(parseQuantity(text), value, text)
  for (const text of ['', 'banana', '1GB', '1K', '1 Mi', '1mi', '.', '1e', '--1', '1.2.3', '50%'])
    t.equal(parseQuantity(text), undefined, text)
})
