// SPDX-License-Identifier: Apache-2.0
/** `history`: the transitions of this node, oldest first, so the latest is next to the prompt. */

import type { Transition, TransitionKind } from '../../../decision/records.ts'
import { instantOf } from '../../../report/history.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { countKind } from '../../../settings/setting-kinds.ts'
import { describeSource } from '../../../subject/config-source.ts'
import { type CommandLine, EXIT, type ExitCode, OUTPUT } from '../../command.ts'
import { alignColumns, type Cell, formatJson, headOf, type Tone } from '../../terminal.ts'
import type { CommandContext, NodeCommand } from '../command.ts'
import { documentSource } from '../document-parts.ts'

export const historyCommand: NodeCommand = {
  name: 'history',
  takes: 'node',
  group: 'Inspect',
  summary: 'show the transitions of this node: when, from, to and why',
  description: 'Shows what was assigned, activated, promoted, refused and rolled back on this node, oldest first.',
  options: [
    { name: 'limit', short: 'n', kind: countKind(1, 1_000_000), initial: '20', help: 'show only this many of the latest transitions' },
    OUTPUT,
  ],
  examples: [
    ['history', 'show the latest 20'],
    ['history -n 1000 -o json', 'show all that are kept, for programs'],
  ],
  execute: showHistory,
}

async function showHistory({ history, terminal }: CommandContext, { options }: CommandLine): Promise<ExitCode> {
  const reading = history.read()
  const transitions = reading.transitions.slice(-Number(options.limit))
  if (reading.skipped === 1) terminal.err('1 line of the history cannot be read and is left out\n')
  if (reading.skipped > 1) terminal.err(`${reading.skipped} lines of the history cannot be read and are left out\n`)
  if (options.output === 'json') terminal.out(formatJson(documentHistory(transitions)))
  else terminal.out(renderHistory(transitions, terminal.color))
  return EXIT.fine
}

/** The document of `history -o json`, oldest first. Fields are added, never renamed or removed. */
function documentHistory(transitions: readonly Transition[]) {
  const items = transitions.map((transition) => ({
    at: instantOf(transition).toISOString(),
    /**
     * Nanoseconds since 1970, and more where the clock was ahead before. In hexadecimal they end
     * the name of the event.
     */
    atNs: transition.atNs,
    kind: transition.kind,
    from: transition.from === undefined ? null : documentSource(transition.from),
    to: transition.to === undefined ? null : documentSource(transition.to),
    why: transition.why,
  }))
  return { apiVersion: CONFIG_API_VERSION, kind: 'TransitionList', items }
}

function renderHistory(transitions: readonly Transition[], color: boolean): string {
  if (transitions.length === 0) return 'No transitions yet.\n'
  const header = headOf('TIME', 'WHAT', 'FROM', 'TO', 'WHY')
  const rows = transitions.map((transition): Cell[] => [
    `${instantOf(transition).toISOString().slice(0, 19)}Z`,
    { text: transition.kind, tone: TONES[transition.kind] },
    transition.from === undefined ? '-' : describeSource(transition.from),
    transition.to === undefined ? '-' : describeSource(transition.to),
    transition.why,
  ])
  return `${alignColumns([header, ...rows], color).join('\n')}\n`
}

const TONES: Readonly<Record<TransitionKind, Tone>> = {
  assigned: 'plain',
  restarting: 'plain',
  promoted: 'good',
  rejected: 'bad',
  'rolled-back': 'bad',
  retrying: 'plain',
  'set-aside': 'warning',
  'download-failed': 'bad',
  invalid: 'bad',
  synced: 'plain',
}
