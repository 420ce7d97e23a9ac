// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { COMMAND_ROWS, SETTING_ROWS } from '../../scripts/command-line-table.ts'
import { configPage, programPage } from '../../scripts/package/man.ts'
import { completerPage, pluginPage } from '../../scripts/package/man-plugin.ts'
import { example, paragraph, term } from '../../scripts/package/roff.ts'
import { COMMANDS } from '../../src/command/agent/command-list.ts'
import { GLOBAL_OPTIONS } from '../../src/command/plugin/options.ts'
import { PLUGIN_PROGRAM } from '../../src/command/plugin/program.ts'
import { CONFIG_LABEL } from '../../src/decision/channels.ts'
import { STATUS_ANNOTATION } from '../../src/report/annotation.ts'
import { STATE_LABEL } from '../../src/report/channels.ts'
import { CONDITION_TYPE, DEGRADED_TYPE } from '../../src/report/reasons.ts'
import { SETTING_NAMES } from '../../src/settings/settings.ts'

const EDITION = { version: '1.2.3', date: '2026-11-21' }
const PAGES = {
  'kubelet-cfg-agent.8': programPage(EDITION),
  'kubelet-cfg-agent-config.5': configPage(EDITION),
  'kubectl-kubelet_config.1': pluginPage(EDITION),
  'kubectl_complete-kubelet_config.1': completerPage(EDITION),
}

/** The text of a page without escapes. */
const plain = (page: string) =>
  page
    .replace(/\\f[BIP]/g, '')
    .replaceAll('\\-', '-')
    .replace(/\\\((..)/g, (_, name: string) => ({ aq: "'", dq: '"', rs: '\\', ga: '`' })[name] ?? name)

t.test('the tables have every command and every setting', async (t) => {
  t.same(
    COMMAND_ROWS.map(({ name }) => name),
    COMMANDS.map(({ name }) => name),
  )
  t.same(SETTING_ROWS.map(({ property }) => property).sort(), [...SETTING_NAMES].sort())
})

t.test('kubelet-cfg-agent(8) has every command with its texts, and every flag', async (t) => {
  const text = plain(PAGES['kubelet-cfg-agent.8'])
  for (const { name, arguments: taken, description, flags, examples } of COMMAND_ROWS) {
    t.match(text, new RegExp(`^${name}( [^\\n]*)?( \\[flags\\])?\\n`, 'm'), name)
    for (const { placeholder, help } of taken) t.ok(text.includes(`${placeholder}: ${help}`), `${placeholder} of ${name}`)
    t.ok(text.includes(description), `the description of ${name}`)
    for (const { flag } of flags) t.ok(text.includes(flag), `${flag} of ${name}`)
    for (const [line] of examples) t.ok(text.includes(`kubelet-cfg-agent ${line}`), line)
  }
})

t.test('kubelet-cfg-agent(8) names what is on the Node', async (t) => {
  const text = plain(PAGES['kubelet-cfg-agent.8'])
  for (const name of [CONFIG_LABEL, STATE_LABEL, STATUS_ANNOTATION, CONDITION_TYPE, DEGRADED_TYPE]) t.ok(text.includes(name), name)
  t.ok(text.includes('nothing is activated, restarted or rolled back, even if kubelet crashes'), 'what a pause costs')
})

t.test('kubectl-kubelet_config(1) has every command of the plugin with its texts, and every flag', async (t) => {
  const text = plain(PAGES['kubectl-kubelet_config.1'])
  for (const { name, description, options, examples } of PLUGIN_PROGRAM.commands) {
    t.match(text, new RegExp(`^${name}( [^\\n]*)?\\n`, 'm'), name)
    t.ok(text.includes(description), `the description of ${name}`)
    for (const option of options) t.ok(text.includes(`--${option.name}`), `${option.name} of ${name}`)
    for (const [line] of examples) t.ok(text.includes(`kubectl kubelet-config ${line}`), line)
  }
  for (const { name } of GLOBAL_OPTIONS) t.ok(text.includes(`--${name}`), name)
})

t.test('kubelet-cfg-agent-config(5) has every setting with its names and its default', async (t) => {
  const text = plain(PAGES['kubelet-cfg-agent-config.5'])
  for (const { key, flag, variable, initial, initialNote } of SETTING_ROWS) {
    if (key !== undefined) t.ok(text.includes(`\n${key}: `), key)
    t.ok(text.includes(flag), flag)
    t.ok(text.includes(variable), variable)
    t.ok(text.includes(`Default: ${initialNote ?? initial}.`), `the default of ${flag}`)
  }
})

t.test('text never becomes a request or an escape', async (t) => {
  t.equal(paragraph('.so /etc/passwd'), '.PP\n\\&.so /etc/passwd\n')
  t.equal(paragraph("'tis a \\fB trap"), '.PP\n\\(aqtis a \\(rsfB trap\n')
  t.equal(term('.x', '.y'), '.TP\n\\&.x\n\\&.y\n')
  t.match(example(['.z']), /\n\\&\.z\n/)
})

const hasMan = spawnSync('man', ['--version']).status === 0
t.test('man formats both without a warning', { skip: hasMan ? false : 'man is not installed' }, async (t) => {
  const directory = t.testdir(PAGES)
  for (const name of Object.keys(PAGES)) {
    const args = ['--warnings', '--encoding=UTF-8', '--local-file', join(directory, name)]
    const { stdout, stderr } = spawnSync('man', args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '100' } })
    t.equal(stderr, '', name)
    t.match(stdout, /EXIT STATUS|SETTINGS|FLAGS OF EVERY COMMAND|SYNOPSIS/, name)
  }
})
