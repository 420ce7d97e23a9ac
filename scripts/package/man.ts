/**
 * The man pages: kubelet-cfg-agent(8), the daemon and its commands, and kubelet-cfg-agent-config(5), its configuration. Commands, flags and
 * settings come from the table of the command line; only what no table knows (files, signals) is written here. Pure.
 */

import { EXIT } from '../../src/cli/command.ts'
import { PROGRAM } from '../../src/cli/help-notes.ts'
import { CONFIG_API_VERSION, CONFIG_KIND } from '../../src/settings/resolve-settings.ts'
import { SETTING_GROUPS } from '../../src/settings/setting.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { capitalise } from '../../src/values/capitalise.ts'
import { bold, example, italic, type PageHead, page, paragraph, section, subsection, term } from './roff.ts'
import { COMMAND_ROWS, type CommandRow, type FlagRow, HELP_FLAG, SETTING_ROWS, type SettingRow, VERSION_FLAG } from './surface.ts'

export const CONFIG_PAGE = `${PROGRAM}-config`
const STATE = SETTINGS.dynamicConfigDir.initial

export interface Edition {
  readonly version: string
  /** ISO, the day alone. */
  readonly date: string
}

export function programPage(edition: Edition): string {
  const settingFlags = COMMAND_ROWS.find(({ name }) => name === 'run')?.flags ?? []
  return page(
    head(PROGRAM, 8, edition),
    section('Name', paragraph(`${PROGRAM} - change the configuration of this kubelet through the Kubernetes API`)),
    section('Synopsis', paragraph(`\`${PROGRAM}\` command [flags]`)),
    section(
      'Description',
      paragraph(
        `\`${PROGRAM}\` runs beside kubelet. It follows the ConfigMap that is assigned to this node, keeps a checkpoint of it, checks it, restarts kubelet ` +
          'with it, promotes it to last-known-good after a trial of healthy running, and rolls back what fails. What happens is reported on the Node, as events, as ' +
          'metrics and in the journal.',
      ),
      paragraph(
        'Kubelet finds its config without the agent: the drop-in of its unit reads one file, and without that file kubelet starts with its local config.',
      ),
    ),
    section('Commands', ...groupsOf(COMMAND_ROWS).map(([group, rows]) => subsection(group, ...rows.map(describeCommand)))),
    section('Flags of every command', flagTerm(HELP_FLAG), flagTerm(VERSION_FLAG)),
    section(
      'Settings as flags',
      paragraph(
        `\`${PROGRAM} run\` takes all of them; the commands that look at the node or ask something of it take those that say where things are. Each is a variable and a key ` +
          `of the config file as well: see \`${CONFIG_PAGE}\`(5).`,
      ),
      ...SETTING_GROUPS.map((group) =>
        subsection(
          group,
          ...settingFlags.filter(({ setting }) => setting !== undefined && SETTINGS[setting].group === group).map(flagTerm),
        ),
      ),
    ),
    section(
      'Signals',
      term(bold('SIGTERM, SIGINT'), 'End at a safe point and leave kubelet as it is.'),
      term(bold('SIGHUP'), 'Reread the settings. What cannot change while the agent runs is named in the journal.'),
    ),
    section(
      'Exit status',
      term(bold(String(EXIT.fine)), 'Fine.'),
      term(bold(String(EXIT.failed)), 'Failed; the message says what to do.'),
      term(bold(String(EXIT.usage)), 'Wrong flags or settings; all of them are named.'),
      paragraph('The commands that judge or compare say with 1 what they found, and with 2 that they could not tell: see each of them.'),
    ),
    section(
      'Files',
      term(italic(SETTINGS.config.initial), `Settings, see \`${CONFIG_PAGE}\`(5).`),
      term(italic('/etc/default/kubelet-cfg-agent, /etc/sysconfig/kubelet-cfg-agent'), 'Environment of the service, in deb and in rpm.'),
      term(
        italic(`${STATE}/`),
        'Checkpoints, records and history. Removing the package leaves it; purging the deb deletes it, except for the checkpoint that a running kubelet was started with.',
      ),
      term(italic(SETTINGS.envFile.initial), 'What kubelet starts with next. Absent: its local config.'),
      term(italic(`${SETTINGS.runtimeDir.initial}/`), 'What is worth knowing only until the next boot.'),
      term(italic('kubelet.service.d/90-kubelet-cfg-agent.conf'), "The drop-in of kubelet's unit, in the distribution's folder for units."),
    ),
    section('See also', paragraph(`\`${CONFIG_PAGE}\`(5), \`systemctl\`(1), \`journalctl\`(1), \`systemd.exec\`(5)`)),
  )
}

export function configPage(edition: Edition): string {
  return page(
    head(CONFIG_PAGE, 5, edition),
    section('Name', paragraph(`${CONFIG_PAGE} - configuration of ${PROGRAM}`)),
    section('Synopsis', paragraph(`\`${SETTINGS.config.initial}\``)),
    section(
      'Description',
      paragraph(
        'Each setting is a flag, a variable of the environment and a key of the config file. Flags win over the environment, and that over the file. ' +
          'A name that is not known is an error, which says the nearest known one.',
      ),
      paragraph(`The file is YAML. It need not exist, unless \`--config\` names it. It begins with these two lines:`),
      example([`apiVersion: ${CONFIG_API_VERSION}`, `kind: ${CONFIG_KIND}`]),
      paragraph(
        'Durations are written as Kubernetes writes them: `10m`, `1m30s`, `250ms`. Paths are absolute. A setting that may be empty is written as "".',
      ),
      paragraph(
        `Variables may stand in the file that the service takes its environment from, \`/etc/default/${PROGRAM}\` (deb) or \`/etc/sysconfig/${PROGRAM}\` (rpm). The commands do not read ` +
          `that: a setting that they have to know, such as a directory, belongs into the config file.`,
      ),
      paragraph(
        'SIGHUP makes a running agent reread file and flags. Settings marked with * take effect then, the others at the next start.',
      ),
    ),
    section(
      'Settings',
      ...SETTING_GROUPS.map((group) => subsection(group, ...SETTING_ROWS.filter((row) => row.group === group).map(describeSettingRow))),
    ),
    section('Example', example([`apiVersion: ${CONFIG_API_VERSION}`, `kind: ${CONFIG_KIND}`, 'trialDuration: 30m', 'spread: 10m'])),
    section('See also', paragraph(`\`${PROGRAM}\`(8)`)),
  )
}

function head(name: string, number: number, { version, date }: Edition): PageHead {
  return { name, section: number, date, source: `${PROGRAM} ${version}`, manual: number === 8 ? 'System administration' : 'File formats' }
}

function groupsOf(rows: readonly CommandRow[]): [string, CommandRow[]][] {
  const names = [...new Set(rows.map(({ group }) => group))]
  return names.map((name) => [name, rows.filter(({ group }) => group === name)])
}

function describeCommand({ name, description, arguments: taken, flags, examples, exits }: CommandRow): string {
  const own = flags.filter(({ setting }) => setting === undefined)
  const options = own.map((flag) => `${spell(flag)}: ${flag.help}.`)
  const operands = taken.map(({ placeholder, help }) => `\`${placeholder}\`: ${help}.`)
  const codes = exits.length === 0 ? [] : [`Exits with ${exits.map(([code, meaning]) => `${code}: ${meaning}`).join('; ')}.`]
  const words = [
    name,
    ...taken.map(({ placeholder, required }) => (required ? placeholder : `[${placeholder}]`)),
    ...(own.length === 0 ? [] : ['[flags]']),
  ]
  const shown = examples.map(([line, effect]) => `\`${PROGRAM} ${line}\`: ${effect}.`)
  return term(bold(words.join(' ')), description, ...operands, ...options, ...codes, ...shown)
}

/** In backquotes, for a paragraph. */
function spell({ flag, short, placeholder }: FlagRow): string {
  const names = [short, flag].flatMap((name) => (name === undefined ? [] : [`\`${name}\``])).join(', ')
  return placeholder === undefined ? names : `${names} ${placeholder}`
}

function flagTerm({ flag, short, placeholder, help }: FlagRow): string {
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
