/** `reset`: puts the node on its local config and holds it there, until `resume`. The way out when the cluster cannot be corrected. */
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../command.ts'

export const resetCommand: NodeCommand = {
  name: 'reset',
  takes: 'node',
  group: 'Ask',
  summary: 'go to the local config and stay there until resume',
  description:
    'Returns this node to the config that kubelet was provisioned with, and holds it there whatever the cluster assigns, until resume. ' +
    'Last-known-good becomes local too. Kubelet is restarted if it runs something else.',
  options: [],
  examples: [['reset', 'take this node out of dynamic configuration']],
  execute: reset,
}

async function reset({ terminal, requests, ask, agent }: CommandContext): Promise<ExitCode> {
  const before = requests.read().hold
  if (before === 'local') {
    terminal.out('Already held on the local config; kubelet-cfg-agent resume ends it.\n')
    return EXIT.fine
  }
  ask.requestHold('local')
  if (before === 'paused') terminal.out('This takes the place of the earlier pause.\n')
  terminal.out('Reset: kubelet goes to its local config, and is restarted if it runs another.\n')
  terminal.out('What the cluster assigns is ignored until kubelet-cfg-agent resume.\n')
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}
