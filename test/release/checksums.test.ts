// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { formatSums, parseSums } from '../../scripts/release/checksums.ts'
import { digestTree } from '../../scripts/release/files.ts'

const part = fc.stringMatching(/^[\w+~-][\w.+~-]*$/)
const file = fc.record({
  path: fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
  sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
  size: fc.nat(),
})
const files = fc.uniqueArray(file, { selector: ({ path }) => path, minLength: 1 })

t.test('what is written is read again, whatever the order', (t) => {
  fc.assert(
    fc.property(files, (some) => {
      const text = formatSums(some)
      return formatSums([...some].reverse()) === text && some.every(({ path, sha256 }) => parseSums(text).get(path) === sha256)
    }),
  )
  t.end()
})

t.test('a path that leaves the directory or breaks a line is refused, in either direction', (t) => {
  const sha256 = 'a'.repeat(64)
  for (const path of ['../x', '/etc/passwd', 'a/../../x', '.git/config', 'a\nb', 'a b', '', 'a//b', 'a/']) {
    t.throws(() => formatSums([{ path, sha256, size: 1 }]), /SHA256SUMS/, JSON.stringify(path))
    t.throws(() => parseSums(`${sha256}  ${path}\n`), /not a line/, JSON.stringify(path))
  }
  t.throws(() => parseSums(`${sha256.slice(1)}  a\n`), /not a line/)
  t.end()
})

t.test('sha256sum takes it', async (t) => {
  const directory = t.testdir()
  for (const [path, text] of Object.entries({ 'one.deb': '1', 'apt/dists/stable/Release': 'R\n', 'apt/dists/stable/x~1+b': '' })) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const sums = formatSums(await digestTree(directory))
  writeFileSync(join(directory, 'SHA256SUMS'), sums)
  const out = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: directory, encoding: 'utf8' })
  t.equal(out, 'apt/dists/stable/Release: OK\napt/dists/stable/x~1+b: OK\none.deb: OK\n')
})
