// SPDX-License-Identifier: Apache-2.0
/**
 * The installed configuration: /etc/kubelet-cfg-agent/config.yaml and the service's environment
 * file, with every setting in a comment with its default. An uncommented line changes nothing until
 * its value is edited. Pure.
 */
import { CONFIG_API_VERSION, CONFIG_KIND } from '../../src/settings/resolve-settings.ts'
import { SETTING_GROUPS } from '../../src/settings/setting-kinds.ts'
import { SETTING_ROWS, type SettingRow } from '../command-line-table.ts'
import { CONFIG_PAGE } from './man.ts'

export function defaultConfigFile(): string {
  const groups = SETTING_GROUPS.map((group) => {
    const rows = SETTING_ROWS.filter((row) => row.group === group).flatMap(describeKey)
    return `\n## ${group}\n${rows.join('')}`
  })
  return `# Settings of kubelet-cfg-agent with their defaults, see ${CONFIG_PAGE}(5).
# Settings marked with * take effect on \`systemctl reload kubelet-cfg-agent\`, the others when the agent starts.
apiVersion: ${CONFIG_API_VERSION}
kind: ${CONFIG_KIND}
${groups.join('')}`
}

export function defaultEnvironmentFile(): string {
  const lines = SETTING_ROWS.map(({ variable, initial }) => `#${variable}=${initial}\n`)
  return `# Environment of kubelet-cfg-agent.service. Settings in this file win over /etc/kubelet-cfg-agent/config.yaml, see ${CONFIG_PAGE}(5).
# Only the service reads this file. Put settings that \`kubelet-cfg-agent status\` and the other commands need as well into config.yaml.
${lines.join('')}`
}

function describeKey({ key, help, initial, initialNote, choices, list, changes }: SettingRow): string[] {
  if (key === undefined) return []
  const note = initialNote === undefined ? '' : `; default: ${initialNote}`
  const among = choices === undefined ? '' : ` (${choices.join(', ')})`
  return [`\n# ${help}${among}${note}${changes === 'live' ? ' *' : ''}\n#${key}: ${list ? `[${initial}]` : scalar(initial)}\n`]
}

/** Quotes a value that is empty or contains a colon: YAML would read these as something else. */
function scalar(value: string): string {
  return value === '' || value.includes(':') ? JSON.stringify(value) : value
}
