// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run release` as a whole, of a small project with small packages. Without the tools of a
 * release these tests are skipped.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { findTool } from '../../scripts/package/tools.ts'
import { formatSums } from '../../scripts/release/checksums.ts'
import { digestTree } from '../../scripts/release/files.ts'
import { LOADER } from '../typescript/loader.ts'

const MAIN = resolve('scripts/release/main.ts')
const PACKAGE = { name: 'small', version: '1.2.3', description: 'a test', license: 'Apache-2.0', author: 'nobody <nobody@example.org>' }
const SPEC = 'Name: small\nVersion: 1.2.3\nRelease: 1\nSummary: small\nLicense: none\nBuildArch: noarch\n\n%description\nSmall.\n\n%files\n'

const TOOLS = ['git', 'dpkg-deb', 'rpmbuild', 'rpmsign', 'createrepo_c', 'gpg', 'gpg-agent']
const found = await Promise.all(TOOLS.map(findTool))
const skip = found.includes(undefined) ? `not found: ${TOOLS.filter((_, index) => found[index] === undefined)}` : false

t.test('a release', { skip }, async (t) => {
  const home = t.testdir({
    project: {
      'package.json': JSON.stringify(PACKAGE),
      'package-lock.json': '{}',
      packaging: { node: { 'package-lock.json': '{}' }, 'plugin-node': { 'package-lock.json': '{}' } },
      'CHANGELOG.md': '## 1.2.3\n',
    },
    packages: {},
    tree: {
      DEBIAN: { control: 'Package: small\nVersion: 1.2.3\nArchitecture: all\nMaintainer: nobody <n@example.org>\nDescription: x\n' },
    },
    rpm: { 'small.spec': SPEC },
  })
  // The path of a socket is at most 108 bytes long, and there are some in it.
  const keys = mkdtempSync(join(tmpdir(), 'keys-'))
  const at = (...path: string[]) => join(home, ...path)
  // As somebody with settings of their own would run it.
  const env = { ...process.env, GNUPGHOME: keys, SOURCE_DATE_EPOCH: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const run = (cwd: string, file: string, ...args: string[]) => execFileSync(file, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' })
  const git = (...args: string[]) => run(at('project'), 'git', '-c', 'user.name=n', '-c', 'user.email=n@example.org', ...args)
  const release = (...args: string[]) => run(at('project'), process.execPath, '--import', LOADER, MAIN, ...args)
  const trial = (output: string, ...args: string[]) => release('--trial', '--packages', at('packages'), '--output', at(output), ...args)
  const failed = (act: () => string) => {
    try {
      return `it passed: ${act()}`
    } catch (error) {
      return String((error as { stderr?: unknown }).stderr)
    }
  }
  mkdirSync(at('tree/usr/share/small'), { recursive: true })
  run(home, 'dpkg-deb', '--build', 'tree', 'packages/small_1.2.3_all.deb')
  const macros = { _topdir: at('rpm'), _rpmdir: at('packages'), _rpmfilename: 'small-1.2.3-1.noarch.rpm' }
  const defines = Object.entries(macros).flatMap((macro) => ['--define', macro.join(' ')])
  run(home, 'rpmbuild', '--quiet', '-bb', ...defines, 'rpm/small.spec')
  const sums = formatSums(await digestTree(at('packages')))
  writeFileSync(at('packages/SHA256SUMS'), sums)
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')

  t.test('the same commit gives the same bytes', async (t) => {
    trial('one', '--unsigned')
    trial('two', '--unsigned')
    const files = await digestTree(at('one'))
    t.strictSame(await digestTree(at('two')), files)
    const names = files.map(({ path }) => path)
    for (const name of [
      'small_1.2.3_all.deb',
      'provenance.intoto.json',
      'apt/dists/stable/Release',
      'yum/repodata/repomd.xml',
      'SHA256SUMS',
    ])
      t.ok(names.includes(name), name)
    t.notOk(
      names.some((name) => /\.asc$|\.gpg$|InRelease$/.test(name)),
      'nothing is signed',
    )
    const { buildDefinition } = JSON.parse(readFileSync(at('one/provenance.intoto.json'), 'utf8')).predicate
    t.equal(buildDefinition.resolvedDependencies[0].digest.gitCommit, git('rev-parse', 'HEAD').trim())
    t.equal(buildDefinition.internalParameters.SOURCE_DATE_EPOCH, Number(git('log', '-1', '--format=%ct')))
  })

  t.test('signatures are good, and the key is there', async (t) => {
    t.teardown(() => {
      run(home, 'gpgconf', '--kill', 'gpg-agent')
      rmSync(keys, { recursive: true })
    })
    t.match(
      failed(() => trial('signed', '--sign-with', 'n@example.org')),
      /^no secret key n@example\.org in .*keys/,
    )
    // gpg finds the first by the address of the second, too.
    for (const address of ['xn@example.org', 'n@example.org'])
      run(home, 'gpg', '--batch', '--quiet', '--passphrase', '', '--quick-generate-key', address, 'rsa3072', 'sign', '1d')
    t.match(trial('signed', '--sign-with', 'n@example.org'), /^a trial of [0-9a-f]{12}, signed with [0-9A-F]{40}: /)
    const signed = at('signed')
    run(signed, 'sha256sum', '--check', '--strict', '--quiet', 'SHA256SUMS')
    run(signed, 'gpg', '--batch', '--verify', 'SHA256SUMS.asc', 'SHA256SUMS')
    run(signed, 'gpg', '--batch', '--verify', 'apt/dists/stable/InRelease')
    run(signed, 'gpg', '--batch', '--verify', 'apt/dists/stable/Release.gpg', 'apt/dists/stable/Release')
    run(signed, 'gpg', '--batch', '--verify', 'yum/repodata/repomd.xml.asc', 'yum/repodata/repomd.xml')
    const published = run(signed, 'gpg', '--batch', '--with-colons', '--show-keys', 'small.asc')
    t.equal(published.match(/^pub:/gm)?.length, 1)
    t.match(published, /<?n@example\.org/)
    t.notMatch(published, 'xn@example.org')
    const facts = (rpm: string) =>
      run(signed, 'rpm', '--query', '--package', '--queryformat', '%{SHA256HEADER} %{PAYLOADDIGEST} %{RSAHEADER:pgpsig}', rpm).split(' ')
    const [header, payload, ...signature] = facts('yum/Packages/small-1.2.3-1.noarch.rpm')
    t.strictSame(facts('small-1.2.3-1.noarch.rpm'), [header, payload, '(none)'], 'they differ in the signature alone')
    t.match(signature.join(' '), /RSA\/SHA256/)
  })

  t.test('what does not belong to the commit is refused, and leaves nothing', async (t) => {
    const output = at('none')
    appendFileSync(at('packages/small_1.2.3_all.deb'), 'x')
    t.match(
      failed(() => trial('none', '--unsigned')),
      /small_1\.2\.3_all\.deb is not what SHA256SUMS says/,
    )
    rmSync(at('packages/small_1.2.3_all.deb'))
    t.match(
      failed(() => trial('none', '--unsigned')),
      /small_1\.2\.3_all\.deb is missing/,
    )
    writeFileSync(at('project/new'), '')
    t.match(
      failed(() => trial('none', '--unsigned')),
      /uncommitted changes/,
    )
    rmSync(at('project/new'))
    t.match(
      failed(() => release('--unsigned', '--output', output)),
      /the commit has no tag v1\.2\.3|not found: .*on Debian 12/,
    )
    t.notOk(existsSync(output))
  })
})
