// SPDX-License-Identifier: Apache-2.0
/** The page docs/settings.md, from the table of settings. Pure. */
import { CONFIG_API_VERSION, CONFIG_KIND } from '../../src/settings/resolve-settings.ts'
import { SETTING_GROUPS } from '../../src/settings/setting-kinds.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { capitalise } from '../../src/values/cut.ts'
import { SETTING_ROWS, type SettingRow } from '../command-line-table.ts'

export function settingsPage(): string {
  const groups = SETTING_GROUPS.map((group) => {
    const rows = SETTING_ROWS.filter((row) => row.group === group).map(tableRow)
    return `## ${group}\n\n${HEADER}\n${rows.join('\n')}\n`
  })
  return `# Settings

<!-- Written by \`npm run docs\` from the table of settings in src/settings. Do not edit. -->

Each setting is a flag of \`kubelet-cfg-agent run\` (\`--trial-duration 30m\`), an environment variable and a key of
the config file. Flags win over the environment, and the environment wins over the file. An unknown name is
an error, which names the nearest known one. A key that is in the file twice is an error, too.

The config file is \`${SETTINGS.config.initial}\`, or the file that \`--config\` names:

\`\`\`yaml settings
apiVersion: ${CONFIG_API_VERSION}
kind: ${CONFIG_KIND}
trialDuration: 30m
\`\`\`

Durations have the format of Kubernetes: \`10m\`, \`1m30s\`, \`250ms\`. Paths are absolute. Lists are separated by
commas; the file also takes a YAML list. Write an empty value as \`""\`.

On SIGHUP (\`systemctl reload kubelet-cfg-agent\`), a running agent rereads its settings. Those with "yes" in
the column SIGHUP take effect then, the others when the agent starts. The reload fails, and changes nothing,
where the file or the environment has a mistake. It reads no flags of the unit's \`ExecStart=\`: use the file.

${groups.join('\n')}`
}

const HEADER = '| Flag, variable and key | Value | Default | SIGHUP | Meaning |\n|---|---|---|---|---|'

function tableRow({ flag, variable, key, placeholder, choices, initial, initialNote, changes, help }: SettingRow): string {
  const names = [flag, variable, ...(key === undefined ? [] : [key])].map(code).join('<br>')
  const value = choices === undefined ? (placeholder ?? 'true or false').replace(/[<>]/g, '') : choices.map(code).join(', ')
  const cells = [names, value, initialNote ?? code(initial), changes === 'live' ? 'yes' : 'no', `${capitalise(help)}.`]
  return `| ${cells.map(escapeCell).join(' | ')} |`
}

function code(text: string): string {
  return `\`${text}\``
}

/** Markdown reads `|` as the end of a cell, and `*` as emphasis outside code. */
function escapeCell(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('*', '\\*')))
    .join('`')
    .replaceAll('|', '\\|')
}
