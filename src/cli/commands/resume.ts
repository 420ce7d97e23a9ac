/** `resume`: ends `pause` and `reset`. */
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../command.ts'

export const resumeCommand: NodeCommand = {
  name: 'resume',
  takes: 'node',
  group: 'Ask',
  summary: 'end pause and reset',
  description: 'Lets this node follow what the cluster assigns again, after pause or reset.',
  options: [],
  examples: [['resume', 'when the work is done']],
  execute: resume,
}

async function resume({ terminal, requests, ask, agent }: CommandContext): Promise<ExitCode> {
  const before = requests.read().hold
  if (before === 'none') {
    terminal.out('Nothing to resume: this node is neither paused nor reset.\n')
    return EXIT.fine
  }
  ask.clearHold()
  terminal.out(`Resumed from ${before === 'paused' ? 'pause' : 'reset'}: this node follows what the cluster assigns.\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}
