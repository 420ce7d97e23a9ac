// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { readOptions, USAGE } from '../../scripts/release/options.ts'
import { openSigner, readPrimaryFingerprints } from '../../scripts/release/signer.ts'
import { chooseTag } from '../../scripts/release/source.ts'
import { LOADER } from '../typescript/loader.ts'

t.test('without a key, only on request', (t) => {
  t.throws(() => readOptions([]), /say --sign-with KEY, or --unsigned/)
  t.throws(() => readOptions(['--sign-with', 'a@b.example', '--unsigned']), /contradict/)
  t.equal(readOptions(['--unsigned']).signWith, undefined)
  t.equal(readOptions(['--sign-with', 'a@b.example']).signWith, 'a@b.example')
  t.end()
})

t.test('a release builds its packages', (t) => {
  t.throws(() => readOptions(['--unsigned', '--packages', 'dist']), /--packages needs --trial/)
  t.equal(readOptions(['--unsigned', '--trial', '--packages', 'dist']).packages, 'dist')
  t.end()
})

t.test('an address has no password in it', (t) => {
  for (const address of ['https://me:secret@example.org/x', 'https://token@example.org', 'http://example.org', '/srv/git', 'example.org']) {
    t.throws(() => readOptions(['--unsigned', '--source', address]), /--source .* is not an https address/, address)
    t.throws(() => readOptions(['--unsigned', '--url', address]), /--url .* is not an https address/, address)
  }
  t.equal(readOptions(['--unsigned', '--url', 'https://example.org/x']).url, 'https://example.org/x')
  t.end()
})

t.test('the usage names every option', (t) => {
  const source = readFileSync('scripts/release/options.ts', 'utf8')
  const names = [...source.matchAll(/^ {6}'?([a-z-]+)'?: \{ type:/gm)].map(([, name]) => name)
  t.ok(names.length > 5)
  t.ok(readFileSync('docs/release.md', 'utf8').includes(USAGE), 'the documentation shows it')
  for (const name of names) t.match(USAGE, new RegExp(`--${name}\\b`))
  t.end()
})

const FACTS = { version: '1.2.3', dirty: false, tags: ['v1.2.3'], changelog: '# Changelog\n\n## 1.2.3\n', trial: false }

t.test('a release belongs to the tag of its version, on a clean tree', (t) => {
  t.equal(chooseTag(FACTS), 'v1.2.3')
  t.equal(chooseTag({ ...FACTS, tags: ['reviewed', 'v1.2.3'] }), 'v1.2.3')
  t.throws(() => chooseTag({ ...FACTS, dirty: true }), /uncommitted changes/)
  t.throws(() => chooseTag({ ...FACTS, dirty: true, trial: true }), /uncommitted changes/)
  t.throws(() => chooseTag({ ...FACTS, tags: ['v1.2.4'] }), /tag v1\.2\.4, but package\.json has the version 1\.2\.3/)
  t.throws(() => chooseTag({ ...FACTS, tags: ['v1.2.4'], trial: true }), /tag v1\.2\.4/)
  t.throws(() => chooseTag({ ...FACTS, tags: [] }), /no tag v1\.2\.3/)
  t.throws(() => chooseTag({ ...FACTS, changelog: '# Changelog\n\n## 1.2.30\n' }), /no section "## 1\.2\.3"/)
  t.equal(chooseTag({ ...FACTS, tags: [], trial: true }), undefined)
  t.equal(chooseTag({ ...FACTS, trial: true }), undefined, 'a trial of a tagged commit is no release')
  t.end()
})

t.test('a key that is no key id becomes no argument and no macro', async (t) => {
  for (const key of ['--export-secret-keys', '-ofoo@example.org', '%(id)', 'a b', '0x', 'ABCDEF'])
    await t.rejects(openSigner(key), /--sign-with .*: is not/, key)
})

t.test('the fingerprint is that of the primary key, of each key that is found', async (t) => {
  const key = (primary: string, subkey: string) => [
    `sec:u:3072:1:${primary.slice(-16)}:1763900000:::u:::scESC:::+:::23::0:`,
    `fpr:::::::::${primary}:`,
    'uid:u::::1763900000::AAAA::Release <release@example.org>::::::::::0:',
    `ssb:u:3072:1:${subkey.slice(-16)}:1763900000::::::e:::+:::23:`,
    `fpr:::::::::${subkey}:`,
  ]
  const [one, two] = ['A'.repeat(40), 'B'.repeat(40)]
  t.same(readPrimaryFingerprints(key(one, 'C'.repeat(40)).join('\n')), [one])
  t.same(readPrimaryFingerprints([...key(one, 'C'.repeat(40)), ...key(two, 'D'.repeat(40))].join('\n')), [one, two])
  t.same(readPrimaryFingerprints(''), [])
})

t.test('what is missing is said before the build', async (t) => {
  const home = t.testdir()
  const failed = (args: readonly string[]) => {
    try {
      const env = { ...process.env, GNUPGHOME: home, PATH: home }
      execFileSync(process.execPath, ['--import', LOADER, 'scripts/release/main.ts', ...args], { env, encoding: 'utf8', stdio: 'pipe' })
      return 'it passed'
    } catch (error) {
      return String((error as { stderr?: unknown }).stderr)
    }
  }
  t.match(failed([]), /^say --sign-with KEY/)
  t.match(failed(['--unsigned']), /^not found: npm, git, .*createrepo_c.*; on Debian 12: apt-get install .*createrepo-c/)
})
