// SPDX-License-Identifier: Apache-2.0
/** The generated tables are what `npm run fields` wrote. Needs no network. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { modulesOf, RELEASES } from '../../scripts/fields/releases.ts'
import { isSealed, seal } from '../../scripts/fields/seal.ts'
import { GENERATED } from '../../scripts/fields/write-tables.ts'
import { LAST_IN_TABLES, NEWEST_MINOR, OLDEST_MINOR } from '../../src/kubelet/fields.ts'
import { effectiveConfig } from '../../src/preflight/change/effective.ts'
import { DEPENDENT_DEFAULTS } from '../preflight/change/dependent-defaults.ts'

const ROOT = join(import.meta.dirname, '../..')

t.test('nobody has edited a generated table', async (t) => {
  for (const path of Object.values(GENERATED)) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    t.ok(isSealed(text), `${path} was edited by hand: put the change into scripts/fields, and run npm run fields`)
    for (const release of RELEASES) t.ok(text.includes(` ${modulesOf(release).get('k8s.io/kubernetes')}`), `${path} names its source`)
  }
})

t.test('a seal shows a changed row, a removed row and a changed version', async (t) => {
  const text = seal(['Every field.', 'Read from v1.36.3.'], 'const TABLE = {\n  port: 10250,\n  maxPods: 110,\n}\n')
  t.ok(isSealed(text))
  t.notOk(isSealed(text.replace('110', '120')))
  t.notOk(isSealed(text.replace('  maxPods: 110,\n', '')))
  t.notOk(isSealed(text.replace('v1.36.3', 'v1.36.4')))
  t.notOk(isSealed('const TABLE = {}\n'))
})

t.test('the tables cover every minor that is released, and the next where it has a pre-release', async (t) => {
  t.strictSame(
    RELEASES.map(({ minor }) => minor),
    Array.from({ length: LAST_IN_TABLES.minor + 1 - OLDEST_MINOR }, (_, index) => OLDEST_MINOR + index),
  )
  t.ok([NEWEST_MINOR, NEWEST_MINOR + 1].includes(LAST_IN_TABLES.minor))
  for (const { minor, patch } of RELEASES) t.equal(typeof patch === 'number', minor <= NEWEST_MINOR, `1.${minor}.${patch}`)
  t.equal(`1.${RELEASES.at(-1)?.minor}.${RELEASES.at(-1)?.patch}`, LAST_IN_TABLES.version)
})

t.test('every default that depends on other fields is filled in, from the minor on that has it', async (t) => {
  for (const [path, [first]] of Object.entries(DEPENDENT_DEFAULTS)) {
    const since = first?.[0] ?? 0
    // The gates that some of them depend on.
    const featureGates = { KubeletCrashLoopBackOffMax: true, KubeletEnsureSecretPulledImages: true }
    for (const minor of [since, NEWEST_MINOR])
      t.match(effectiveConfig({ featureGates }, { major: 1, minor, patch: 0 }).get(path), { isDefault: true }, `${path} in 1.${minor}`)
  }
})
