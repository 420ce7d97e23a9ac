/** `retry`: forgets what configs were found guilty of, so that what is assigned is tried again. */
import { describeSource } from '../../decision/config-source.ts'
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../command.ts'
import { plainText } from '../terminal.ts'

export const retryCommand: NodeCommand = {
  name: 'retry',
  takes: 'node',
  group: 'Ask',
  summary: 'forget failures and try what is assigned again',
  description:
    'Drops the verdicts on this node, so that what is assigned is used again although it was refused, failed or was rolled back.',
  options: [],
  examples: [['retry', 'after the cause, which was not in the config, is mended']],
  execute: retry,
}

async function retry({ terminal, observe, ask, agent }: CommandContext): Promise<ExitCode> {
  const { verdicts, requests } = await observe()
  // Asked for even where none is on disk: an agent whose disk is full holds verdicts in memory.
  ask.requestRetry()
  if (verdicts.size === 0) terminal.out('No verdict is recorded here; the agent drops any it has not been able to write.\n')
  for (const { source, state, reason, detail } of verdicts.values()) {
    terminal.out(`Asked to drop the ${state} verdict on ${describeSource(source)} (${reason}: ${plainText(detail)}).\n`)
  }
  if (requests.hold !== 'none') {
    terminal.out(
      `This node is ${requests.hold === 'paused' ? 'paused' : 'held on its local config'}: nothing is tried before kubelet-cfg-agent resume.\n`,
    )
  }
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}
