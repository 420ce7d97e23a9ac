// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { decodeScalar, encodeScalar, parseSource, serializeSource } from '../../src/checkpoint/serialize.ts'
import type { ConfigMapSource } from '../../src/subject/config-source.ts'
import { anyName, anySource } from './arbitraries.ts'

const SOURCE: ConfigMapSource = {
  namespace: 'kube-system',
  name: 'my-node-config',
  kubeletConfigKey: 'kubelet',
  uid: '5274a9bd-00f5-49fe-a395-53c08b3087db',
  resourceVersion: '212',
}
/** As kubelet 1.20.2 writes it. */
const TEXT = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: SerializedNodeConfigSource
source:
  configMap:
    kubeletConfigKey: kubelet
    name: my-node-config
    namespace: kube-system
    resourceVersion: "212"
    uid: 5274a9bd-00f5-49fe-a395-53c08b3087db
`

t.test("renders and parses kubelet's bytes", (t) => {
  t.equal(serializeSource(SOURCE), TEXT)
  t.same(parseSource(Buffer.from(TEXT)), { ok: true, source: SOURCE })
  t.equal(serializeSource('local'), '')
  t.same(parseSource(Buffer.alloc(0)), { ok: true, source: 'local' })
  t.end()
})

t.test('scalars are quoted as sigs.k8s.io/yaml 1.2.0 over yaml.v2 2.2.8 quotes them', (t) => {
  // Pairs of a string and the output of that library, which kubelet 1.20 uses.
  const pairs: [string, string][] = JSON.parse(readFileSync(new URL('fixtures/go-yaml-scalars.json', import.meta.url), 'utf8'))
  t.ok(pairs.length > 500)
  t.same(
    pairs.filter(([text, scalar]) => encodeScalar(text) !== scalar || decodeScalar(scalar) !== text),
    [],
  )
  t.end()
})

t.test('rendered sources are parsed back', (t) => {
  fc.assert(fc.property(anySource, (source) => assert.deepEqual(parseSource(Buffer.from(serializeSource(source))), { ok: true, source })))
  t.end()
})

t.test('accepts other quotes, another order, and a missing last line break', (t) => {
  const lines = TEXT.trimEnd().split('\n')
  const reordered = [...lines.slice(0, 4), ...lines.slice(4).reverse()].join('\n')
  t.same(parseSource(Buffer.from(reordered)), { ok: true, source: SOURCE })
  t.same(parseSource(Buffer.from(TEXT.replace('"212"', "'212'").replace('kubelet\n', '"kubelet"\n'))), { ok: true, source: SOURCE })
  t.end()
})

t.test('anything else is damaged, with a reason', (t) => {
  const damaged = {
    zeros: '\0'.repeat(200),
    'white space': '\n',
    'cut short': TEXT.slice(0, 150),
    'a number for a string': TEXT.replace('"212"', '212'),
    'other apiVersion': TEXT.replace('v1beta1', 'v1'),
    'other kind': TEXT.replace('SerializedNodeConfigSource', 'KubeletConfiguration'),
    'a field twice': `${TEXT}    uid: other\n`,
    'an unknown field': `${TEXT}    more: x\n`,
    'a missing field': TEXT.replace(/ {4}uid.*\n/, ''),
    'a path': TEXT.replace('5274a9bd', '../../..'),
    'a reserved name': TEXT.replace('uid: 5274a9bd', 'uid: ..5274a9bd'),
    'mixed quotes': TEXT.replace('"212"', '"212\''),
    'another document': `${TEXT}---\n`,
    'a comment': `# mine\n${TEXT}`,
    'carriage returns': TEXT.replaceAll('\n', '\r\n'),
  }
  for (const [what, text] of Object.entries(damaged))
    t.match(parseSource(Buffer.from(text)), { ok: false, detail: /not a Serialized/ }, what)
  t.end()
})

t.test('never throws, whatever the bytes', (t) => {
  fc.assert(
    fc.property(anySource, fc.nat(), fc.nat({ max: 255 }), (source, at, byte) => {
      const bytes = Buffer.from(serializeSource(source))
      bytes[at % bytes.length] = byte
      const parsed = parseSource(bytes)
      // A parsed source can be rendered and parsed again.
      if (parsed.ok) assert.deepEqual(parseSource(Buffer.from(serializeSource(parsed.source))), parsed)
    }),
  )
  fc.assert(fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => !parseSource(bytes).ok))
  t.end()
})

t.test('every string survives encoding and decoding', (t) => {
  fc.assert(fc.property(anyName, (name) => decodeScalar(encodeScalar(name)) === name))
  t.end()
})

t.test('an overlay adds one line, in alphabetical order', (t) => {
  const overlaid = { ...SOURCE, overlay: '0123456789012345' }
  const text = TEXT.replace('    resourceVersion', '    overlay: "0123456789012345"\n    resourceVersion')
  t.equal(serializeSource(overlaid), text)
  t.strictSame(parseSource(Buffer.from(text)), { ok: true, source: overlaid })
  t.equal(serializeSource({ ...SOURCE, overlay: undefined }), TEXT)
  t.match(parseSource(Buffer.from(text.replace('"0123456789012345"', 'kubelet'))), { ok: false, detail: /overlay/ })
  t.end()
})
