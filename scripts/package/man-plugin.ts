// SPDX-License-Identifier: Apache-2.0
/** The man page kubectl-kubelet_config(1), from the table of the plugin's commands. Pure. */
import { PLUGIN_NAME } from '../../src/command/plugin/command.ts'
import { COMPLETER, PLUGIN } from '../../src/command/plugin/plugin-name.ts'
import { PLUGIN_ROWS } from '../command-line-table.ts'
import { describeCommand, type Edition, flagTerm, groupsOf } from './man.ts'
import { bold, page, paragraph, section, subsection, term } from './roff.ts'

export function pluginPage({ version, date }: Edition): string {
  return page(
    { name: PLUGIN, section: 1, date, source: `kubelet-cfg-agent ${version}`, manual: 'User commands' },
    section('Name', paragraph(`${PLUGIN} - show and change the configs of the kubelets of a cluster`)),
    section('Synopsis', paragraph(`\`${PLUGIN_NAME}\` command [flags]`)),
    section(
      'Description',
      paragraph(
        `kubectl starts this program for \`${PLUGIN_NAME}\`. It takes the current context of the kubeconfig, and talks to the API ` +
          'server alone. Its nodes run kubelet-cfg-agent, whose conditions and annotation it reads.',
      ),
      paragraph(`kubectl starts \`${COMPLETER}\`, the same program, to complete its command line.`),
    ),
    section(
      'Commands',
      ...groupsOf(PLUGIN_ROWS).map(([group, rows]) => subsection(group, ...rows.map((row) => describeCommand(PLUGIN_NAME, row)))),
    ),
    section('Flags of every command', ...(PLUGIN_ROWS[0]?.flags ?? []).filter(({ group }) => group !== undefined).map(flagTerm)),
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
