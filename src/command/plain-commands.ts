// SPDX-License-Identifier: Apache-2.0
/**
 * The commands of both programs, which need neither a node nor a cluster. A new one is a row in the
 * list. Pure.
 */
import type { Command } from './command.ts'
import type { Terminal } from './terminal.ts'

interface PlainContext {
  readonly terminal: Terminal
  /** How people call the program. */
  readonly program: string
  readonly version: string
  /** As in `node 24.1.0, linux/x64`. */
  readonly platform: string
}
/** The facts about either program that the process which runs it knows. */
export type BuildInfo = Omit<PlainContext, 'program'>

/** Takes no flags but its own. */
export interface PlainCommand extends Command<PlainContext> {
  readonly takes: 'nothing'
}

const versionCommand: PlainCommand = {
  name: 'version',
  takes: 'nothing',
  summary: 'print the version',
  description: 'Prints the version of this program and of the Node.js that runs it.',
  options: [],
  examples: [['version', 'for a report of a fault']],
  async execute({ terminal, program, version, platform }) {
    terminal.out(`${program} ${version} (${platform})\n`)
    return 0
  },
}

/** In the order of the help. */
export const PLAIN_COMMANDS: readonly PlainCommand[] = [versionCommand]
