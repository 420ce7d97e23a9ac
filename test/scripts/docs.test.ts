// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import t from 'tap'
import { SETTING_ROWS } from '../../scripts/command-line-table.ts'
import { settingsPage } from '../../scripts/docs/settings-page.ts'

t.test('docs/settings.md is up to date: npm run docs writes it', async (t) => {
  t.equal(readFileSync('docs/settings.md', 'utf8'), settingsPage())
})

t.test('docs/settings.md has every setting with its names and its default', async (t) => {
  const lines = settingsPage().split('\n')
  for (const { flag, variable, key, initial, initialNote, changes } of SETTING_ROWS) {
    const line = lines.find((candidate) => candidate.startsWith(`| \`${flag}\``)) ?? ''
    t.equal(line.split(' | ').length, 5, `${flag} has one row of five cells`)
    for (const text of [variable, key ?? '', initialNote ?? `\`${initial}\``]) t.ok(line.includes(text), `${flag}: ${text}`)
    t.ok(line.includes(changes === 'live' ? ' | yes | ' : ' | no | '), `${flag}: SIGHUP`)
  }
})
