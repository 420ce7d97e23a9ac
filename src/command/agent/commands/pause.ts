/**
 * `pause`: requests that nothing is activated or rolled back, and kubelet not restarted, until
 * `resume`.
 */
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../../command.ts'

export const pauseCommand: NodeCommand = {
  name: 'pause',
  takes: 'node',
  group: 'Control',
  summary: 'stop activations, restarts and rollbacks until resume',
  description:
    'Keeps this node as it is: until resume, no config is activated, kubelet is not restarted and nothing is rolled back. ' +
    'The agent still saves and reports what the cluster assigns. A pause survives restarts of the agent and of the node.',
  options: [],
  examples: [['pause', 'before you work on this node']],
  execute: pause,
}

async function pause({ terminal, requests, requestWriter, agent }: CommandContext): Promise<ExitCode> {
  const before = requests.read().hold
  if (before === 'paused') {
    terminal.out('Already paused; kubelet-cfg-agent resume ends the pause.\n')
    return EXIT.fine
  }
  requestWriter.requestHold('paused')
  if (before === 'local') terminal.out('This replaces the earlier reset: the node is no longer held on its local config.\n')
  terminal.out('Paused: no config is activated, kubelet is not restarted and nothing is rolled back until kubelet-cfg-agent resume.\n')
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}
