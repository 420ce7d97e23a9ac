// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { restartingMessage } from '../../src/decision/status-texts.ts'
import { fieldsText, journalLine } from '../../src/systemd/log-format.ts'

const ref = { namespace: 'kube-system', name: 'risky', kubeletConfigKey: 'kubelet' }
const risky = { ...ref, uid: 'c361b126-dfd0-4b02-a088-b6c819ac715b', resourceVersion: '226' }
const good = { ...risky, name: 'good', resourceVersion: '212', overlay: '3f9a0c11aa' }

t.test('a line of the journal: the priority, a sentence and its facts', async (t) => {
  t.equal(
    journalLine('error', 'config failed', {
      source: risky,
      next: good,
      reason: 'crash-loop',
      detail: 'kubelet exited 2 times',
      attempts: 2,
    }),
    '<3>config failed source=kube-system/risky:kubelet@226 next=kube-system/good:kubelet@212+merged-3f9a0c11 reason=crash-loop detail="kubelet exited 2 times" attempts=2\n',
  )
  t.equal(journalLine('info', 'updating Node.Status.Config', { node: undefined }), '<6>updating Node.Status.Config\n')
})

t.test('what the message says is not said again', async (t) => {
  const rollback = 'config failed, rolling back from kube-system/risky:kubelet@226 to kube-system/good:kubelet@212+merged-3f9a0c11'
  t.equal(fieldsText(rollback, { source: risky, next: good, reason: 'crash-loop' }), 'reason=crash-loop')
  t.equal(fieldsText(restartingMessage(risky), { from: 'local', to: risky }), 'from=local', "upstream's longer form of a config")
  t.equal(
    fieldsText('rolling back to kube-system/risky:kubelet@2265', { to: risky }),
    'to=kube-system/risky:kubelet@226',
    'another version',
  )
  t.equal(fieldsText('Node worker-10 was deleted', { node: 'worker-1' }), 'node=worker-1', 'a part of a word')
  t.equal(fieldsText('Node worker-1 was deleted', { node: 'worker-1' }), '')
  t.equal(fieldsText('2 times', { attempts: 2 }), 'attempts=2', 'a number may be another one')
  t.equal(fieldsText('anything', { empty: '' }), 'empty=""')
  const otherKey = { ...risky, kubeletConfigKey: 'next' }
  t.equal(
    fieldsText(restartingMessage(otherKey), { from: risky, to: otherKey }),
    'from=kube-system/risky:kubelet@226',
    'another key of the same version',
  )
})

t.test('nested facts, lists and errors', async (t) => {
  t.equal(
    fieldsText('', { assignment: { kind: 'config-map', ref, n: 1 } }),
    'assignment.kind=config-map assignment.ref=kube-system/risky:kubelet assignment.n=1',
  )
  t.equal(fieldsText('', { files: ['/a', '/b'], mixed: [1, 'x'] }), 'files=/a,/b mixed="[1,\\"x\\"]"')
  t.equal(fieldsText('', { error: { message: 'outer', cause: { message: 'inner', code: 'ENOSPC' } } }), 'error="outer: inner (ENOSPC)"')
  t.equal(fieldsText('', { error: { message: 'ENOSPC: disk full', code: 'ENOSPC' } }), 'error="ENOSPC: disk full"')
  t.equal(fieldsText('', { error: { message: 'outer', cause: 'no space' } }), 'error="outer: no space"', 'a cause that is no error')
  t.equal(fieldsText('', { error: { message: 'x', stack: 'x\n at f' } }), 'error=x error.stack="x\\n at f"', 'of a bug')
})

t.test('one line without anything that is not printed, whatever the API says', async (t) => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('\n', '\u001b', '\u009b', '\u202e', '\u2028', '\ufffe', '\u{1ffff}', '"', '=', ' '),
      fc.string({ unit: 'binary', maxLength: 1 }),
    ),
  })
  const property = fc.property(text, text, text, (message, name, value) => {
    const line = journalLine('info', message, { [name]: value, list: [value], nested: { [name]: value } })
    return /^<6>[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{NChar}]*\n$/u.test(line)
  })
  t.doesNotThrow(() => fc.assert(property))
  t.equal(fieldsText('', { value: 'a\u009b31m b' }), String.raw`value="a\u009b31m b"`)
})

t.test('a line is never so long that journald would split it, and read a priority at the start of the rest', async (t) => {
  const line = journalLine('info', '\u20ac'.repeat(8000), { detail: '\u0000'.repeat(8000), more: '\u20ac'.repeat(8000) })
  t.ok(Buffer.byteLength(line) <= 48 * 1024)
  t.match(line, /\.\.\.\n$/)
  const usual = { detail: 'x'.repeat(8000), stack: 'y'.repeat(8000) }
  t.equal(journalLine('info', 'm', usual), `<6>m detail=${usual.detail} stack=${usual.stack}\n`)
})
