import t from 'tap'
import { readErrorEvent, readRefusal } from '../../src/kube/answer.ts'

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
  t.end()
})

t.test('an ERROR event contains a Status, or something else', (t) => {
  t.match(readErrorEvent({ kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }), { status: 410, reason: 'Expired' })
  for (const object of [null, 'text', {}, { kind: 'Node' }]) t.match(readErrorEvent(object), { kind: 'refused', status: 500 })
  t.end()
})
