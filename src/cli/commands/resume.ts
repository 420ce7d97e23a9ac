/** `resume`: ends `pause` and `reset`. */
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../command.ts'

export const resumeCommand: NodeCommand = {
  name: 'resume',
  takes: 'node',
  group: 'Control',
  summary: 'end pause and reset',
  description: 'Ends pause and reset: this node follows what the cluster assigns again.',
  options: [],
  examples: [['resume', 'when your work on the node is done']],
  execute: resume,
}

async function resume({ terminal, requests, requestWriter, agent }: CommandContext): Promise<ExitCode> {
  const before = requests.read().hold
  if (before === 'none') {
    terminal.out('Nothing to resume: this node is neither paused nor reset.\n')
    return EXIT.fine
  }
  requestWriter.clearHold()
  terminal.out(`Resumed from ${before === 'paused' ? 'pause' : 'reset'}: this node follows what the cluster assigns again.\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}
