/** `resume`: ends `pause` and `reset`. */

import { errorMessage } from '../../../values/errors.ts'
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../../command.ts'
import { describePauseHere } from '../pause-line.ts'

export const resumeCommand: NodeCommand = {
  name: 'resume',
  takes: 'node',
  group: 'Control',
  summary: 'end pause and reset',
  description:
    'Ends pause and reset: this node follows what the cluster assigns again. A pause of the cluster stays, and is named: it ends ' +
    'when its annotation is removed.',
  options: [],
  examples: [['resume', 'when your work on the node is done']],
  execute: resume,
}

async function resume({ terminal, requests, requestWriter, observe, agent }: CommandContext): Promise<ExitCode> {
  const before = requests.read().hold
  if (before !== 'none') requestWriter.clearHold()
  const pause = await describeClusterPause(observe)
  if (before === 'none') {
    terminal.out(
      pause === undefined ? 'Nothing to resume: this node is neither paused nor reset.\n' : `Nothing to resume on this node. ${pause}\n`,
    )
    return EXIT.fine
  }
  const follows = pause === undefined ? ': this node follows what the cluster assigns again.' : `. ${pause}`
  terminal.out(`Resumed from ${before === 'paused' ? 'pause' : 'reset'}${follows}\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}

/** The hold has ended by then, whatever can be read of the rest. */
async function describeClusterPause(observe: CommandContext['observe']): Promise<string | undefined> {
  try {
    const seen = await observe()
    return describePauseHere({ ...seen, requests: { ...seen.requests, hold: 'none' } }, 'no other config is activated')
  } catch (error) {
    return `Whether the cluster pauses it is not known: ${errorMessage(error)}`
  }
}
