// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { parseEvent, readErrorEvent, readRefusal, splitLines } from '../../src/kube/answer.ts'

const status = (fields: object) => JSON.stringify({ kind: 'Status', apiVersion: 'v1', ...fields })

t.test('a Status object is read', (t) => {
  const body = status({ code: 404, reason: 'NotFound', message: 'nodes "n1" not found' })
  t.same(readRefusal(404, {}, body, 0), {
    kind: 'refused',
    status: 404,
    reason: 'NotFound',
    detail: '404: nodes "n1" not found',
    retryAfterMs: undefined,
  })
  t.end()
})

t.test('the answer of a proxy is not quoted', (t) => {
  const refusal = readRefusal(502, { 'content-type': 'text/html' }, '<html>secret</html>', 0)
  t.match(refusal, { status: 502, reason: '', detail: /text\/html/ })
  t.notMatch(refusal.detail, /secret/)
  t.ok(readRefusal(500, {}, status({ message: 'x'.repeat(10_000) }), 0).detail.length < 1000)
  t.end()
})

t.test('Retry-After: seconds, a date by the clock of the server, or retryAfterSeconds of the Status', (t) => {
  const at = (headers: object, body = '', wallMs = 0) => readRefusal(429, headers, body, wallMs).retryAfterMs
  t.equal(at({ 'retry-after': '7' }), 7000)
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
  t.equal(at({ 'retry-after': date, date: 'Wed, 21 Oct 2026 07:27:50 GMT' }, '', 0), 10_000)
  t.equal(at({ 'retry-after': date }, '', Date.parse(date) - 3000), 3000)
  t.equal(at({ 'retry-after': date, date: 'Wed, 21 Oct 2026 07:29:00 GMT' }), 0, 'in the past')
  t.equal(at({ 'retry-after': 'soon' }), undefined)
  t.equal(at({}, status({ details: { retryAfterSeconds: 3 } })), 3000)
  t.equal(at({}), undefined)
  const hourMs = 3600_000
  t.equal(at({ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }), hourMs)
  t.equal(at({ 'retry-after': '99999999999' }), hourMs)
  t.equal(at({}, status({ details: { retryAfterSeconds: 1e12 } })), hourMs)
  t.end()
})

t.test('an ERROR event contains a Status, or something else', (t) => {
  t.match(readErrorEvent({ kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }), { status: 410, reason: 'Expired' })
  for (const object of [null, 'text', {}, { kind: 'Node' }]) t.match(readErrorEvent(object), { kind: 'refused', status: 500 })
  t.end()
})

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
