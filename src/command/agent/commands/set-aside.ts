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
    'are kept. A file that fits, or that cannot be judged, stays as it is, and so does each file while kubelet runs.',
  options: [],
  examples: [['set-aside', 'before kubelet starts, with what it would start with now']],
  execute: setAside,
}

async function setAside({ findUnfitStates, setStateAside, settings, terminal }: CommandContext): Promise<ExitCode> {
  let exit: ExitCode = EXIT.fine
  const { states, kubeletPid } = await findUnfitStates()
  for (const state of states) {
    const unfit = `${plainText(state.why)}: kubelet would not start with it`
    // A kubelet that runs would write it anew, or forget which containers have which CPUs.
    if (kubeletPid !== 0) {
      exit = EXIT.failed
      const todo = `drain the node, stop ${settings.kubeletUnit}, and delete the file or run this again`
      terminal.err(`kubelet-cfg-agent set-aside: ${unfit}. It stays, since kubelet runs with it (process ${kubeletPid}): ${todo}\n`)
      continue
    }
    try {
      terminal.out(`${unfit}. It is ${plainText(setStateAside(state))} now\n`)
    } catch (error) {
      exit = EXIT.failed
      terminal.err(`kubelet-cfg-agent set-aside: ${plainText(`${state.why}, and it cannot be set aside: ${errorMessage(error)}`)}\n`)
    }
  }
  return exit
}
