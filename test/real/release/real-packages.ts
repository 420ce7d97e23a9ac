// SPDX-License-Identifier: Apache-2.0
/**
 * A signed trial of a release of the packages that `npm run package` has made, and not of small
 * ones as in the tests: what it publishes, in each of its places, is what was built. Only where
 * there are such packages, and where the tree is as it was committed, since a release refuses
 * another.
 */
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSums } from '../../../scripts/release/checksums.ts'
import { makeScratch, run } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { withThrowAwayKeys } from './throw-away-keys.ts'

const ROOT = join(import.meta.dirname, '../../..')
const DIST = join(ROOT, 'dist')
const MAIN = 'scripts/release/main.ts'

export async function addRealPackagesScenario(): Promise<void> {
  if (!existsSync(join(DIST, 'SHA256SUMS'))) return
  const { stdout: changes } = await run('git', ['status', '--porcelain'], { cwd: ROOT })
  if (changes !== '') {
    console.log('uncommitted changes: the scenario of a release of the packages in dist is left out')
    return
  }
  scenario('release: the packages that were built are those that are released', (step) => {
    const home = makeScratch()
    return withThrowAwayKeys(home, async ({ ours }) => {
      const output = join(home, 'release')
      const env = { GNUPGHOME: join(home, 'keys') }
      const built = parseSums(await readFile(join(DIST, 'SHA256SUMS'), 'utf8'))
      const inOutput = async (file: string, ...args: readonly string[]) => (await run(file, args, { cwd: output, env })).stdout
      const named = (suffix: string) => [...built.keys()].filter((name) => name.endsWith(suffix))
      await step('a signed trial of a release is made of them', async () => {
        const args = ['--import', 'tsx', MAIN, '--trial', '--packages', 'dist', '--sign-with', ours.fingerprint, '--output', output]
        await run(process.execPath, args, { cwd: ROOT, env })
      })
      await step('its sums are signed and right, and have those of each package', async () => {
        await inOutput('gpg', '--batch', '--verify', 'SHA256SUMS.asc', 'SHA256SUMS')
        await inOutput('sha256sum', '--check', '--strict', '--quiet', 'SHA256SUMS')
        const released = parseSums(await readFile(join(output, 'SHA256SUMS'), 'utf8'))
        assert(named('.deb').length === 2 && named('.rpm').length === 2 && named('.tar.gz').length > 0, [...built.keys()].join(' '))
        for (const [name, sha256] of built) assert.equal(released.get(name), sha256, name)
      })
      await step('so does the provenance, which names the commit', async () => {
        const { subject, predicate } = JSON.parse(await readFile(join(output, 'provenance.intoto.json'), 'utf8'))
        const digests = new Map(subject.map((each: { name: string; digest: { sha256: string } }) => [each.name, each.digest.sha256]))
        assert.deepEqual([...digests].sort(), [...built].sort())
        const head = (await run('git', ['rev-parse', 'HEAD'], { cwd: ROOT })).stdout.trim()
        assert.equal(predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit, head)
      })
      await step('the repository of apt has the debs, byte for byte', async () => {
        for (const architecture of ['amd64', 'arm64']) {
          const index = await readFile(join(output, `apt/dists/stable/main/binary-${architecture}/Packages`), 'utf8')
          const deb = named(`_${architecture}.deb`)[0] ?? ''
          assert.equal(/^SHA256: (\S+)$/m.exec(index)?.[1], built.get(deb))
          const path = /^Filename: (\S+)$/m.exec(index)?.[1] ?? ''
          assert.equal((await inOutput('sha256sum', join('apt', path))).split(' ')[0], built.get(deb))
        }
      })
      await step('that of dnf has the rpms, whose signature alone is new', async () => {
        const facts = (rpm: string) => inOutput('rpm', '--query', '--package', '--queryformat', '%{SHA256HEADER} %{PAYLOADDIGEST}', rpm)
        assert.deepEqual((await readdir(join(output, 'yum/Packages'))).sort(), named('.rpm').sort())
        for (const rpm of named('.rpm')) assert.equal(await facts(join('yum/Packages', rpm)), await facts(rpm))
      })
    })
  })
}
