// SPDX-License-Identifier: Apache-2.0
/**
 * `set-aside`: kubelet's unit runs this before each start of kubelet (`ExecStartPre=-`), unless the
 * agent has said that every state file fits. It asks neither the API server nor the journal.
 */
import { errorMessage } from '../../../values/errors.ts'
import { EXIT, type ExitCode } from '../../command.ts'
import { plainText } from '../../terminal.ts'
import type { CommandContext, NodeCommand } from '../command.ts'

export const setAsideCommand: NodeCommand = {
  name: 'set-aside',
  takes: 'node',
  // The unit gives all that it needs as flags.
  isLenient: 'with-flags',
  group: 'Run',
  summary: "set aside a state file of kubelet's managers with which kubelet would not start",
  description:
    "Kubelet's unit runs this before it starts kubelet. A cpu_manager_state or memory_manager_state in the root directory of kubelet " +
    'with which kubelet would not start, such as that of another policy, is renamed to NAME.set-aside-N next to it. The last three ' +
    'are kept. A file that fits, or that cannot be judged, stays as it is. A kubelet that is running may write the file anew.',
  options: [],
  examples: [['set-aside', 'before kubelet starts, with what it would start with now']],
  execute: setAside,
}

async function setAside({ findUnfitStates, setStateAside, terminal }: CommandContext): Promise<ExitCode> {
  let exit: ExitCode = EXIT.fine
  for (const state of await findUnfitStates()) {
    try {
      const to = setStateAside(state)
      terminal.out(`${plainText(state.why)}: kubelet would not start with it. It is ${plainText(to)} now\n`)
    } catch (error) {
      exit = EXIT.failed
      terminal.err(`kubelet-cfg-agent set-aside: ${plainText(`${state.why}, and it cannot be set aside: ${errorMessage(error)}`)}\n`)
    }
  }
  return exit
}
