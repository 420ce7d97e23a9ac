// SPDX-License-Identifier: Apache-2.0
/**
 * The man pages: kubelet-cfg-agent(8) for the daemon and its commands, kubelet-cfg-agent-config(5)
 * for its configuration. Commands, flags and settings come from the table of the command line; only
 * files, signals and the like are written here. Pure.
 */

import { AGENT_NAME } from '../../src/command/agent/program.ts'
import { EXIT } from '../../src/command/command.ts'
import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION, PAUSED_ANNOTATION } from '../../src/decision/channels.ts'
import { STATUS_ANNOTATION } from '../../src/report/annotation.ts'
import { STATE_LABEL } from '../../src/report/channels.ts'
import { CONDITION_TYPE, DEGRADED_TYPE } from '../../src/report/reasons.ts'
import { CONFIG_API_VERSION, CONFIG_KIND } from '../../src/settings/resolve-settings.ts'
import { SETTING_GROUPS } from '../../src/settings/setting-kinds.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { capitalise } from '../../src/values/cut.ts'
import {
  COMMAND_ROWS,
  type CommandRow,
  type FlagRow,
  HELP_FLAG,
  SETTING_ROWS,
  type SettingRow,
  VERSION_FLAG,
} from '../command-line-table.ts'
import { bold, example, italic, type PageHead, page, paragraph, section, subsection, term } from './roff.ts'

export const CONFIG_PAGE = `${AGENT_NAME}-config`
const STATE = SETTINGS.dynamicConfigDir.initial

/** The labels and annotations that the agent reads and writes on its Node. */
const NODE_TERMS: readonly (readonly [name: string, text: string])[] = [
  [`label ${CONFIG_LABEL}`, 'Names the ConfigMap that is assigned to this node. An administrator sets it; nodes may not.'],
  [`annotation ${CONFIG_SOURCE_ANNOTATION}`, 'Assigns a ConfigMap of any namespace and key, as NAMESPACE/NAME:KEY.'],
  [
    `annotation ${PAUSED_ANNOTATION}`,
    'Any value but `false` and the empty one pauses the node: nothing is activated, restarted or rolled back, even if kubelet crashes.',
  ],
  [
    `condition ${CONDITION_TYPE}`,
    'True: kubelet runs what is assigned, and that has passed its trial here. Its message says what is the matter.',
  ],
  [`condition ${DEGRADED_TYPE}`, 'True: somebody should look. False in trials and for what an operator did on purpose.'],
  [`annotation ${STATUS_ANNOTATION}`, 'The rest of the state, as JSON.'],
  [
    `label ${STATE_LABEL}`,
    'Where `--publish` includes `label`: the last reason of the first condition that does not change by itself, for `kubectl get nodes -L`.',
  ],
]

export interface Edition {
  readonly version: string
  /** The day, as in 2026-11-21. */
  readonly date: string
}

export function programPage(edition: Edition): string {
  const settingFlags = COMMAND_ROWS.find(({ name }) => name === 'run')?.flags ?? []
  return page(
    head(AGENT_NAME, 8, edition),
    section('Name', paragraph(`${AGENT_NAME} - change the configuration of this kubelet through the Kubernetes API`)),
    section('Synopsis', paragraph(`\`${AGENT_NAME}\` command [flags]`)),
    section(
      'Description',
      paragraph(
        `\`${AGENT_NAME}\` runs beside kubelet. It follows the ConfigMap that is assigned to this node, saves a checkpoint of it, ` +
          'checks it, restarts kubelet with it, promotes it to last-known-good after a trial, and rolls it back if it fails. It ' +
          'reports on the Node, as events, as metrics and in the journal.',
      ),
      paragraph(
        'Kubelet does not need the agent to start: the drop-in of its unit reads one file, and without that file kubelet ' +
          'starts with its local config.',
      ),
    ),
    section(
      'Commands',
      ...groupsOf(COMMAND_ROWS).map(([group, rows]) => subsection(group, ...rows.map((row) => describeCommand(AGENT_NAME, row)))),
    ),
    section('Flags of every command', flagTerm(HELP_FLAG), flagTerm(VERSION_FLAG)),
    section(
      'Settings as flags',
      paragraph(
        `\`${AGENT_NAME} run\` takes all settings as flags. The other commands take those for paths and names. Each setting is ` +
          `also a variable and a key of the config file: see \`${CONFIG_PAGE}\`(5).`,
      ),
      ...SETTING_GROUPS.map((group) => subsection(group, ...settingFlags.filter((flag) => flag.group === group).map(flagTerm))),
    ),
    section(
      'On the Node',
      ...NODE_TERMS.map(([name, text]) => term(bold(name), text)),
      paragraph(`\`/usr/share/doc/${AGENT_NAME}/docs/assign.md\` and \`status.md\` there explain them.`),
    ),
    section(
      'Rights',
      paragraph(
        'With its own identity, `/etc/kubernetes/kubelet.conf`, a node may read its Node and write its status. To read the ' +
          'ConfigMaps that a label, an annotation or a default names, it needs `get` and `watch` on them: ' +
          '`rbac/node-configmaps.yaml` among the examples grants it. The channel `selector` needs `list` as well: ' +
          `\`rbac/node-fleet-selector.yaml\`. \`${AGENT_NAME} check\` names each right that is missing, with the file that grants it.`,
      ),
    ),
    section(
      'Signals',
      term(bold('SIGTERM, SIGINT'), 'Stop at a safe point and leave kubelet as it is.'),
      term(bold('SIGHUP'), 'Reread the settings. The journal names changes that need a restart of the agent.'),
    ),
    section(
      'Exit status',
      term(bold(String(EXIT.fine)), 'Success.'),
      term(bold(String(EXIT.failed)), 'Failure; the message says what to do.'),
      term(bold(String(EXIT.usage)), 'Invalid flags or settings; the message names all of them.'),
      paragraph('Commands that check or compare a config exit with 1 for a result and with 2 for a failure: see each command.'),
    ),
    section(
      'Files',
      term(italic(SETTINGS.config.initial), `Settings, see \`${CONFIG_PAGE}\`(5).`),
      term(
        italic('/etc/default/kubelet-cfg-agent, /etc/sysconfig/kubelet-cfg-agent'),
        'Environment of the service, from the deb and from the rpm.',
      ),
      term(
        italic(`${STATE}/`),
        'Checkpoints, records and history. Removing the package keeps the directory. Purging the deb deletes it, except for ' +
          'the checkpoint that a running kubelet was started with.',
      ),
      term(
        italic(SETTINGS.envFile.initial),
        'The config that kubelet starts with next. If the file does not exist, kubelet starts with its local config.',
      ),
      term(italic(`${SETTINGS.runtimeDir.initial}/`), 'State that matters only until the next boot.'),
      term(
        italic('kubelet.service.d/90-kubelet-cfg-agent.conf'),
        "The drop-in of kubelet's unit, in the distribution's directory for units.",
      ),
    ),
    section('See also', paragraph(`\`${CONFIG_PAGE}\`(5), \`systemctl\`(1), \`journalctl\`(1), \`systemd.exec\`(5)`)),
  )
}

export function configPage(edition: Edition): string {
  return page(
    head(CONFIG_PAGE, 5, edition),
    section('Name', paragraph(`${CONFIG_PAGE} - configuration of ${AGENT_NAME}`)),
    section('Synopsis', paragraph(`\`${SETTINGS.config.initial}\``)),
    section(
      'Description',
      paragraph(
        'Each setting is a flag, an environment variable and a key of the config file. Flags win over the environment, and the ' +
          'environment wins over the file. An unknown name is an error, which names the nearest known one.',
      ),
      paragraph(`The file is YAML. It must exist only if \`--config\` names it. It begins with these two lines:`),
      example([`apiVersion: ${CONFIG_API_VERSION}`, `kind: ${CONFIG_KIND}`]),
      paragraph('Durations have the format of Kubernetes: `10m`, `1m30s`, `250ms`. Paths are absolute. Write an empty value as "".'),
      paragraph(
        `The service reads variables from \`/etc/default/${AGENT_NAME}\` (deb) or \`/etc/sysconfig/${AGENT_NAME}\` (rpm). The commands do not read these files. ` +
          'Put settings that they need, such as a directory, into the config file.',
      ),
      paragraph('On SIGHUP, a running agent rereads its settings. Settings marked with * take effect then, the others at the next start.'),
    ),
    section(
      'Settings',
      ...SETTING_GROUPS.map((group) => subsection(group, ...SETTING_ROWS.filter((row) => row.group === group).map(describeSettingRow))),
    ),
    section('Example', example([`apiVersion: ${CONFIG_API_VERSION}`, `kind: ${CONFIG_KIND}`, 'trialDuration: 30m', 'spread: 10m'])),
    section('See also', paragraph(`\`${AGENT_NAME}\`(8)`)),
  )
}

function head(name: string, number: number, { version, date }: Edition): PageHead {
  return {
    name,
    section: number,
    date,
    source: `${AGENT_NAME} ${version}`,
    manual: number === 8 ? 'System administration' : 'File formats',
  }
}

export function groupsOf(rows: readonly CommandRow[]): [string, CommandRow[]][] {
  const names = [...new Set(rows.map(({ group }) => group))]
  return names.map((name) => [name, rows.filter(({ group }) => group === name)])
}

/** @param program as people call it */
export function describeCommand(program: string, { usage, description, arguments: taken, flags, examples, exits }: CommandRow): string {
  const own = flags.filter(({ group }) => group === undefined)
  const options = own.map((flag) => `${nameFlag(flag)}: ${flag.help}.`)
  const operands = taken.flatMap(({ placeholder, help }) => (help === undefined ? [] : [`\`${placeholder}\`: ${help}.`]))
  const codes = exits.length === 0 ? [] : [`Exits with ${exits.map(([code, meaning]) => `${code}: ${meaning}`).join('; ')}.`]
  const exampleTexts = examples.map(([line, effect]) => `\`${program} ${line}\`: ${effect}.`)
  return term(bold(`${usage}${own.length === 0 ? '' : ' [flags]'}`), description, ...operands, ...options, ...codes, ...exampleTexts)
}

/** The names of a flag in backquotes, for a paragraph. */
function nameFlag({ flag, short, placeholder }: FlagRow): string {
  const names = [short, flag].flatMap((name) => (name === undefined ? [] : [`\`${name}\``])).join(', ')
  return placeholder === undefined ? names : `${names} ${placeholder}`
}

export function flagTerm({ flag, short, placeholder, help }: FlagRow): string {
  const names = [short, flag].flatMap((name) => (name === undefined ? [] : [bold(name)])).join(', ')
  return term(placeholder === undefined ? names : `${names} ${italic(placeholder)}`, `${capitalise(help)}.`)
}

function describeSettingRow({ key, flag, variable, placeholder, choices, help, initial, initialNote, changes }: SettingRow): string {
  const value = choices === undefined ? (placeholder ?? 'true or false') : choices.join(', ')
  const name = key === undefined ? bold(flag) : bold(`${key}:`)
  return term(
    `${name} ${italic(value)}${changes === 'live' ? ' *' : ''}`,
    `${capitalise(help)}.`,
    `Default: ${initialNote ?? initial}.`,
    `Flag \`${flag}\`, variable \`${variable}\`${key === undefined ? '. It has no key in the file' : ''}.`,
  )
}
