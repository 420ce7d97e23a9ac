// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { join, normalize } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { checkDirectory, findFile, layoutOf } from '../../src/checkpoint/layout.ts'
import { checkData, checkFile, checkKey, checkSource, checkVersion, type NameRefusal } from '../../src/decision/safe-names.ts'
import { anyFile, anySource } from './arbitraries.ts'

function reasonOf(check: ReturnType<typeof checkKey>): NameRefusal | 'ok' {
  return check.ok ? 'ok' : check.reason
}

t.test('keys are validated as upstream does', (t) => {
  const expected: [string, NameRefusal | 'ok'][] = [
    ['kubelet', 'ok'],
    ['kubelet.yaml', 'ok'],
    ['.hidden', 'ok'],
    ['a..b', 'ok'],
    ['-', 'ok'],
    ['__proto__', 'ok'],
    ['k'.repeat(253), 'ok'],
    ['k'.repeat(254), 'too-long'],
    ['', 'empty'],
    ['.', 'reserved'],
    ['..', 'reserved'],
    ['..data', 'reserved'],
    ['a/b', 'unsafe-character'],
    ['../../etc/passwd', 'unsafe-character'],
    ['a\0b', 'unsafe-character'],
    ['a b', 'unsafe-character'],
    ['a\n', 'unsafe-character'],
    ['ü', 'unsafe-character'],
    ['a\\b', 'unsafe-character'],
  ]
  for (const [name, reason] of expected) t.equal(reasonOf(checkKey(name)), reason, JSON.stringify(name.slice(0, 20)))
  t.end()
})

t.test('a version leaves room for a suffix; a name that was set aside is not a version', (t) => {
  t.equal(reasonOf(checkVersion('uid', '5274a9bd-00f5-49fe-a395-53c08b3087db')), 'ok')
  t.equal(reasonOf(checkVersion('uid', 'u'.repeat(200))), 'ok')
  t.equal(reasonOf(checkVersion('uid', 'u'.repeat(201))), 'too-long')
  t.equal(reasonOf(checkVersion('resourceVersion', '212~set-aside-1')), 'unsafe-character')
  t.end()
})

t.test('an error names the field and what is wrong; hostile names are shortened and escaped', (t) => {
  const check = checkVersion('uid', `\u001b[31m${'x'.repeat(100)}`)
  t.match(check, { ok: false, detail: /^uid "\\u001b\[31mx+\.\.\." may only contain/ })
  t.match(checkData({ fine: '', '../up': '' }), { ok: false, detail: /"\.\.\/up"/ })
  t.end()
})

t.test('every field of a source is checked', (t) => {
  const source = { namespace: 'kube-system', name: 'n', kubeletConfigKey: 'k', uid: 'u', resourceVersion: '1' }
  t.ok(checkSource(source).ok)
  for (const field of Object.keys(source)) t.notOk(checkSource({ ...source, [field]: '../x' }).ok, field)
  t.end()
})

t.test('the directory must be safe in an environment file', (t) => {
  const expected: [string, NameRefusal | 'ok'][] = [
    ['/var/lib/kubelet-cfg-agent', 'ok'],
    ['/srv/k8s_1.20/dyn@1', 'ok'],
    ['', 'empty'],
    ['var/lib', 'not-absolute'],
    ['./x', 'not-absolute'],
    ['/', 'reserved'],
    ['/var/lib/', 'reserved'],
    ['/var/../etc', 'reserved'],
    ['/var//lib', 'reserved'],
    ['/var/my dir', 'unsafe-character'],
    ['/var/"x"', 'unsafe-character'],
    ["/var/it's", 'unsafe-character'],
    ['/var/$HOME', 'unsafe-character'],
    ['/var/a\\b', 'unsafe-character'],
    ['/var/%n', 'unsafe-character'],
    ['/var/a\nb', 'unsafe-character'],
    [`/${'d'.repeat(1000)}`, 'too-long'],
  ]
  for (const [path, reason] of expected) t.equal(reasonOf(checkDirectory(path)), reason, JSON.stringify(path.slice(0, 20)))
  t.end()
})

t.test('the file of any accepted name is inside its directory', (t) => {
  const layout = layoutOf('/dynamic')
  fc.assert(
    fc.property(anyFile, (file) => {
      const { uid, resourceVersion, overlay, kubeletConfigKey } = file
      const path = join(layout.checkpoint(uid, resourceVersion, overlay), kubeletConfigKey)
      const version = overlay === undefined ? ['checkpoints', uid, resourceVersion] : ['rendered', uid, resourceVersion, overlay]
      assert.deepEqual(path.split('/'), ['', 'dynamic', ...version, kubeletConfigKey])
      assert.deepEqual(findFile(layout, path), file)
    }),
  )
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('.', '/', 'a', '\0', ' ', '-', '~') }), (name) => {
      if (!checkKey(name).ok) return
      const path = `/dynamic/checkpoints/u/1/${name}`
      assert.equal(normalize(path), path)
      assert.equal(path.split('/').length, 6)
    }),
  )
  t.end()
})

t.test('a valid source is accepted', (t) => {
  fc.assert(fc.property(anySource, (source) => checkSource(source).ok))
  t.end()
})

t.test('an overlay is 16 hexadecimal digits, or undefined', (t) => {
  const file = { uid: 'u', resourceVersion: '7', kubeletConfigKey: 'kubelet' }
  t.ok(checkFile({ ...file, overlay: '0123456789abcdef' }).ok)
  t.ok(checkFile(file).ok)
  for (const overlay of ['', '.', '..', '../../../../etc', '0123456789ABCDEF', '0123456789abcde', '0123456789abcdef0', '0123456789abcde\n'])
    t.match(checkFile({ ...file, overlay }), { ok: false, detail: /overlay/ }, JSON.stringify(overlay))
  t.end()
})

t.test('paths outside the layout', (t) => {
  const layout = layoutOf('/dynamic')
  for (const path of [
    '/dynamic/rendered/u/7/kubelet',
    '/dynamic/rendered/u/7/0123456789abcdef',
    '/dynamic/rendered/u/7/0123456789abcdef/a/b',
    '/dynamic/rendered/u/7/0123456789abcdef~set-aside-1/kubelet',
    '/dynamic/rendered/../u/7/0123456789abcdef/kubelet',
    '/dynamic/checkpoints/u/7',
    '/dynamic',
    '/var/lib/kubelet/config.yaml',
    '',
  ])
    t.equal(findFile(layout, path), undefined, path)
  t.end()
})
