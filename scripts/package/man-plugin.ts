/** The man page kubectl-kubelet_config(1), from the table of the plugin's commands. Pure. */
import type { CommandOption } from '../../src/cli/command.ts'
import { describeOption } from '../../src/cli/help-notes.ts'
import { type PluginCommand, PROGRAM } from '../../src/plugin/command.ts'
import { PLUGIN_COMMANDS } from '../../src/plugin/command-list.ts'
import { GLOBAL_OPTIONS } from '../../src/plugin/global-options.ts'
import { usageOf } from '../../src/plugin/help.ts'
import { COMPLETER, PLUGIN } from '../../src/plugin/plugin-name.ts'
import { capitalise } from '../../src/values/cut.ts'
import type { Edition } from './man.ts'
import { bold, italic, page, paragraph, section, subsection, term } from './roff.ts'

export function pluginPage({ version, date }: Edition): string {
  const groups = [...new Set(PLUGIN_COMMANDS.map(({ group }) => group))]
  return page(
    { name: PLUGIN, section: 1, date, source: `kubelet-cfg-agent ${version}`, manual: 'User commands' },
    section('Name', paragraph(`${PLUGIN} - show and change the configs of the kubelets of a cluster`)),
    section('Synopsis', paragraph(`\`${PROGRAM}\` command [flags]`)),
    section(
      'Description',
      paragraph(
        `kubectl starts this program for \`${PROGRAM}\`. It takes the current context of the kubeconfig, and talks to the API ` +
          'server alone. Its nodes run kubelet-cfg-agent, whose conditions and annotation it reads.',
      ),
      paragraph(`kubectl starts \`${COMPLETER}\`, the same program, to complete its command line.`),
    ),
    section(
      'Commands',
      ...groups.map((group) => subsection(group, ...PLUGIN_COMMANDS.filter((command) => command.group === group).map(describe))),
    ),
    section('Flags of every command', ...GLOBAL_OPTIONS.map(flagTerm)),
    section(
      'Environment',
      term(bold('KUBECONFIG'), 'Paths of kubeconfig files, with a colon between.'),
      term(bold('NO_COLOR'), 'No colours, whatever it holds. There are colours only on a terminal.'),
    ),
    section('See also', paragraph('`kubectl`(1), `kubelet-cfg-agent`(8)')),
  )
}

/**
 * The page of the second program. No `.so` of the first: a deb gets a symbolic link for that, and
 * an rpm a file.
 */
export function completerPage({ version, date }: Edition): string {
  return page(
    { name: COMPLETER, section: 1, date, source: `kubelet-cfg-agent ${version}`, manual: 'User commands' },
    section('Name', paragraph(`${COMPLETER} - complete the command line of kubectl kubelet-config`)),
    section('Synopsis', paragraph(`\`${COMPLETER}\` word...`)),
    section(
      'Description',
      paragraph(
        'kubectl starts it when somebody presses Tab. It prints a suggestion a line for the last word, then a colon and a number ' +
          'that says what the shell may add. Names of Nodes and ConfigMaps come from the API server.',
      ),
    ),
    section('See also', paragraph(`\`${PLUGIN}\`(1)`)),
  )
}

function describe(command: PluginCommand): string {
  const { description, options, exits = {}, examples } = command
  const codes = Object.entries(exits).map(([code, meaning]) => `${code}: ${meaning}`)
  return term(
    bold(`${usageOf(command)}${options.length === 0 ? '' : ' [flags]'}`),
    description,
    ...options.map((option) => `${nameFlag(option)}: ${describeOption(option)}.`),
    ...(codes.length === 0 ? [] : [`Exits with ${codes.join('; ')}.`]),
    ...examples.map(([line, effect]) => `\`${PROGRAM} ${line}\`: ${effect}.`),
  )
}

function nameFlag({ name, short, kind }: CommandOption): string {
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].map((each) => `\`${each}\``).join(', ')
  return kind.placeholder === undefined ? names : `${names} ${kind.placeholder}`
}

function flagTerm(option: CommandOption): string {
  const { name, short, kind } = option
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].map(bold).join(', ')
  return term(kind.placeholder === undefined ? names : `${names} ${italic(kind.placeholder)}`, `${capitalise(describeOption(option))}.`)
}
