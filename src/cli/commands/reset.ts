/**
 * `reset`: returns the node to its local config and holds it there until `resume`, for use when the
 * assignment cannot be corrected in the cluster.
 */
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../command.ts'

export const resetCommand: NodeCommand = {
  name: 'reset',
  takes: 'node',
  group: 'Control',
  summary: 'return to the local config until resume',
  description:
    'Returns this node to the config that kubelet was provisioned with. The node ignores what the cluster assigns until resume. ' +
    'Last-known-good and previous become local too, so the trial after resume has local as its only fallback. Kubelet is restarted if it runs another config.',
  options: [],
  examples: [['reset', 'take this node out of dynamic configuration']],
  execute: reset,
}

async function reset({ terminal, requests, requestWriter, agent }: CommandContext): Promise<ExitCode> {
  const before = requests.read().hold
  if (before === 'local') {
    terminal.out('Already held on the local config; kubelet-cfg-agent resume ends this.\n')
    return EXIT.fine
  }
  requestWriter.requestHold('local')
  if (before === 'paused') terminal.out('This replaces the earlier pause.\n')
  terminal.out('Reset: kubelet returns to its local config, and is restarted if it runs another one.\n')
  terminal.out('What the cluster assigns is ignored until kubelet-cfg-agent resume.\n')
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}
