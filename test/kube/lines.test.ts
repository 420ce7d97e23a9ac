import fc from 'fast-check'
import t from 'tap'
import { parseEvent, splitLines } from '../../src/kube/lines.ts'

t.test('the lines do not depend on where chunks end', (t) => {
  const line = fc.string({ minLength: 1 }).map((text) => JSON.stringify(text))
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(30)), (lines, lengths) => {
      const text = lines.map((one) => `${one}\n`).join('')
      const split = splitLines(1_000_000)
      const found: string[] = []
      let at = 0
      for (const length of [...lengths, text.length]) {
        found.push(...(split(text.slice(at, at + length)) ?? []))
        at += length
      }
      return JSON.stringify(found) === JSON.stringify(lines)
    }),
  )
  t.end()
})

t.test('an unfinished line is held back, and one beyond the limit is refused', (t) => {
  const split = splitLines(10)
  t.same(split('12345'), [])
  t.same(split('\n\n1'), ['12345'])
  t.equal(split('0'.repeat(20)), undefined)
  t.end()
})

t.test('an event has a type and an object', (t) => {
  t.same(parseEvent('{"type":"ADDED","object":{}}'), { type: 'ADDED', object: {} })
  for (const line of ['', '{', 'null', '7', '{"type":1,"object":{}}', '{"type":"ADDED"}']) t.equal(parseEvent(line), undefined, line)
  t.end()
})
