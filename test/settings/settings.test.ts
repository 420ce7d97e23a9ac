// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { ALL_REQUIRED } from '../../src/evidence/kinds.ts'
import { fileKey, flagName, SETTING_NAMES, SETTINGS, showInitial, toPolicy, variableName } from '../../src/settings/settings.ts'
import { defaults } from './settled-settings.ts'

t.test('the table of settings', async (t) => {
  const rows = SETTING_NAMES.map((property) => {
    const { group, commands, changes } = SETTINGS[property]
    return [
      flagName(property),
      variableName(property),
      fileKey(property),
      showInitial(property) || '(none)',
      group,
      commands,
      changes,
    ].join('  ')
  })
  t.matchSnapshot(rows.join('\n'))
})

t.test('every default is a valid value of its kind', async (t) => {
  for (const property of SETTING_NAMES) {
    t.same(SETTINGS[property].kind.parse(showInitial(property)), { ok: true, value: SETTINGS[property].initial }, property)
  }
})

t.test('no two settings share a name', async (t) => {
  t.equal(new Set(SETTING_NAMES.map(flagName)).size, SETTING_NAMES.length)
})

t.test('Node.js takes no flag for itself, as it would take --env-file', async (t) => {
  const program = join(t.testdir({ 'program.mjs': 'console.log(process.argv.length - 2)' }), 'program.mjs')
  const args = SETTING_NAMES.flatMap((property) => [flagName(property), '/no/such/file'])
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  t.equal(stdout.trim(), String(args.length), stderr)
})

t.test('all help texts have one form', async (t) => {
  for (const property of SETTING_NAMES) {
    const { help, initialNote, kind } = SETTINGS[property]
    t.match(help, /^[a-z'/][^\n]*[^.\s]$/, `${property}: begins in lower case, ends without a full stop`)
    if (kind.placeholder !== undefined && showInitial(property) === '')
      t.type(initialNote, 'string', `${property}: explains an empty default`)
  }
})

t.test('the default policy', async (t) => {
  t.same(toPolicy(defaults), {
    trialUs: 600e6,
    startDeadlineUs: 120e6,
    toleranceUs: 60e6,
    crashLimit: 3,
    spreadUs: 120e6,
    restartsPerHour: 6,
    whenRefused: 'stay',
    keepCheckpoints: 10,
    evidence: ALL_REQUIRED,
  })
})
