// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import t from 'tap'
import { BUILD_TYPE, type ProvenanceInput, provenance } from '../../scripts/release/provenance.ts'

const FILES = ['b.rpm', 'a.deb'].map((path, index) => ({ path, sha256: String(index).repeat(64), size: 1 }))
const INPUT: ProvenanceInput = {
  files: FILES,
  version: '1.2.3',
  tag: 'v1.2.3',
  commit: 'c'.repeat(40),
  epoch: 1_795_000_000,
  source: 'https://example.org/agent',
  url: undefined,
  builder: 'urn:builder',
  tools: { node: 'v24.0.0' },
  pins: [{ path: 'package-lock.json', sha256: 'e'.repeat(64), size: 2 }],
}

/** The fields that in-toto's Statement v1 and SLSA's provenance v1 require. */
t.test('has the fields that the formats require', (t) => {
  const statement = JSON.parse(provenance(INPUT))
  t.equal(statement._type, 'https://in-toto.io/Statement/v1')
  t.equal(statement.predicateType, 'https://slsa.dev/provenance/v1')
  t.strictSame(statement.subject, [
    { name: 'a.deb', digest: { sha256: '1'.repeat(64) } },
    { name: 'b.rpm', digest: { sha256: '0'.repeat(64) } },
  ])
  const { buildDefinition, runDetails } = statement.predicate
  t.equal(buildDefinition.buildType, BUILD_TYPE)
  t.strictSame(buildDefinition.externalParameters, { version: '1.2.3', tag: 'v1.2.3' })
  t.strictSame(buildDefinition.resolvedDependencies, [
    { name: 'source', uri: 'git+https://example.org/agent@refs/tags/v1.2.3', digest: { gitCommit: 'c'.repeat(40) } },
    { name: 'package-lock.json', digest: { sha256: 'e'.repeat(64) } },
  ])
  t.strictSame(runDetails, { builder: { id: 'urn:builder', version: { node: 'v24.0.0' } } })
  t.end()
})

t.test('a trial says that it is one', (t) => {
  const { buildDefinition } = JSON.parse(provenance({ ...INPUT, tag: undefined, source: undefined })).predicate
  t.strictSame(buildDefinition.externalParameters, { version: '1.2.3', trial: true })
  t.strictSame(buildDefinition.resolvedDependencies[0], { name: 'source', digest: { gitCommit: 'c'.repeat(40) } })
  t.end()
})

t.test('the order of the files does not count', (t) => {
  t.equal(provenance({ ...INPUT, files: [...FILES].reverse() }), provenance(INPUT))
  t.end()
})

t.test('the documentation explains the type of the build', (t) => {
  t.match(readFileSync('docs/release.md', 'utf8'), BUILD_TYPE)
  t.end()
})
