// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { controlField, packagesIndex, releaseFile } from '../../scripts/release/apt-index.ts'

const CONTROL = `Package: agent
Version: 1.2.3
Architecture: amd64
Description: what it does
 and more
 .
 of it
`
const deb = (path: string, control = CONTROL) => ({ path, control, size: 7, sha256: 'd'.repeat(64) })

t.test('Packages has a paragraph a package, with where it is and its digest', (t) => {
  const index = packagesIndex([deb('pool/main/b.deb'), deb('pool/main/a.deb')])
  const digest = `Size: 7\nSHA256: ${'d'.repeat(64)}\n`
  t.equal(index, `${CONTROL}Filename: pool/main/a.deb\n${digest}\n${CONTROL}Filename: pool/main/b.deb\n${digest}`)
  t.end()
})

t.test('a control file cannot say where the package is, nor smuggle in another one', (t) => {
  for (const control of [`${CONTROL}Filename: elsewhere\n`, `${CONTROL}sha256: ${'e'.repeat(64)}\n`, `${CONTROL}\nPackage: bash\n`]) {
    t.throws(() => packagesIndex([deb('pool/main/a.deb', control)]), /pool\/main\/a\.deb: not a control file/)
  }
  t.end()
})

t.test('a field of a control file', (t) => {
  t.equal(controlField(CONTROL, 'Architecture'), 'amd64')
  t.equal(controlField(CONTROL, 'architecture'), 'amd64')
  t.equal(controlField(CONTROL, 'more'), undefined, 'the text of another field is none')
  t.end()
})

t.test('Release names each index with size and digest, and the time of the commit', (t) => {
  const indices = ['main/binary-arm64/Packages', 'main/binary-amd64/Packages'].map((path, index) => ({
    path,
    size: index + 10,
    sha256: String(index).repeat(64),
  }))
  const input = { origin: 'agent', suite: 'stable', component: 'main', description: 'what it does', epoch: 1_795_000_000, indices }
  const text = releaseFile({ ...input, architectures: ['arm64', 'amd64'] })
  t.equal(
    text,
    `Origin: agent
Label: agent
Suite: stable
Codename: stable
Date: Wed, 18 Nov 2026 11:06:40 UTC
Architectures: amd64 arm64
Components: main
Description: what it does
Acquire-By-Hash: yes
SHA256:
 ${'1'.repeat(64)} 11 main/binary-amd64/Packages
 ${'0'.repeat(64)} 10 main/binary-arm64/Packages
`,
  )
  t.equal(releaseFile({ ...input, architectures: ['amd64', 'arm64'], indices: [...indices].reverse() }), text)
  t.end()
})
