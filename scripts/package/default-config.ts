/**
 * The configuration as it is installed: /etc/kubelet-cfg-agent/config.yaml and the service's environment file, every setting in a comment with
 * its default. Uncommenting any line changes nothing until its value is edited. Pure.
 */
import { CONFIG_API_VERSION, CONFIG_KIND } from '../../src/settings/resolve-settings.ts'
import { SETTING_GROUPS } from '../../src/settings/setting.ts'
import { CONFIG_PAGE } from './man.ts'
import { SETTING_ROWS, type SettingRow } from './surface.ts'

export function defaultConfigFile(): string {
  const groups = SETTING_GROUPS.map((group) => {
    const rows = SETTING_ROWS.filter((row) => row.group === group).flatMap(describeKey)
    return `\n## ${group}\n${rows.join('')}`
  })
  return `# Settings of kubelet-cfg-agent, each with its default: ${CONFIG_PAGE}(5).
# Lines marked with * take effect on \`systemctl reload kubelet-cfg-agent\`, the others when it starts next.
apiVersion: ${CONFIG_API_VERSION}
kind: ${CONFIG_KIND}
${groups.join('')}`
}

export function defaultEnvironmentFile(): string {
  const lines = SETTING_ROWS.map(({ variable, initial }) => `#${variable}=${initial}\n`)
  return `# Environment of kubelet-cfg-agent.service. Settings that stand here win over /etc/kubelet-cfg-agent/config.yaml: ${CONFIG_PAGE}(5).
# Only the service reads this. What \`kubelet-cfg-agent status\` and the other commands have to know as well belongs into config.yaml.
${lines.join('')}`
}

function describeKey({ key, help, initial, initialNote, choices, list, changes }: SettingRow): string[] {
  if (key === undefined) return []
  const note = initialNote === undefined ? '' : `; default: ${initialNote}`
  const among = choices === undefined ? '' : ` (${choices.join(', ')})`
  return [`\n# ${help}${among}${note}${changes === 'live' ? ' *' : ''}\n#${key}: ${list ? `[${initial}]` : scalar(initial)}\n`]
}

/** YAML reads what is plain to us as something else only if it is empty or has a colon. */
function scalar(value: string): string {
  return value === '' || value.includes(':') ? JSON.stringify(value) : value
}
