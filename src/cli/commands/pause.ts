/** `pause`: asks that nothing be activated and kubelet not be restarted, until `resume`. */
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../command.ts'

export const pauseCommand: NodeCommand = {
  name: 'pause',
  takes: 'node',
  group: 'Ask',
  summary: 'activate and restart nothing until resume',
  description:
    'Holds this node where it is: nothing is activated, kubelet is not restarted and nothing is rolled back, until resume. What the ' +
    'cluster assigns meanwhile is still saved and reported. Outlives restarts of the agent and of the node.',
  options: [],
  examples: [['pause', 'before work on this node']],
  execute: pause,
}

async function pause({ terminal, requests, ask, agent }: CommandContext): Promise<ExitCode> {
  const before = requests.read().hold
  if (before === 'paused') {
    terminal.out('Already paused; kubelet-cfg-agent resume ends it.\n')
    return EXIT.fine
  }
  ask.requestHold('paused')
  if (before === 'local') terminal.out('This takes the place of the earlier reset: the node is no longer held on its local config.\n')
  terminal.out('Paused: nothing is activated and kubelet is not restarted until kubelet-cfg-agent resume.\n')
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}
