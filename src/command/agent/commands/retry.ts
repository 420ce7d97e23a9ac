/** `retry`: drops verdicts, so the agent tries the assigned config again. */
import { describeSource } from '../../../decision/config-source.ts'
import { type CommandContext, describeReach, EXIT, type ExitCode, type NodeCommand } from '../../command.ts'
import { describePauseHere } from '../pause-line.ts'
import { plainText } from '../../terminal.ts'

export const retryCommand: NodeCommand = {
  name: 'retry',
  takes: 'node',
  group: 'Control',
  summary: 'drop verdicts and try the assigned config again',
  description:
    'Drops the verdicts on this node. The agent then tries the assigned config again, even if it was refused, failed or was rolled back. ' +
    'Takes no veto in a rollout back: raise retry in its plan.',
  options: [],
  examples: [['retry', 'after you removed a cause outside the config']],
  execute: retry,
}

async function retry({ terminal, observe, requestWriter, agent }: CommandContext): Promise<ExitCode> {
  const snapshot = await observe()
  const { verdicts, requests } = snapshot
  // Requested even if no verdict is on disk: an agent whose disk is full keeps verdicts in memory.
  requestWriter.requestRetry()
  if (verdicts.size === 0) terminal.out('No verdict is recorded; the agent drops any that it could not write.\n')
  for (const { source, state, reason, detail } of verdicts.values()) {
    terminal.out(`Requested to drop the ${state} verdict on ${describeSource(source)} (${reason}: ${plainText(detail)}).\n`)
  }
  const consequence = 'no config is tried'
  const hold =
    requests.hold === 'local'
      ? `This node is held on its local config: ${consequence} until kubelet-cfg-agent resume.`
      : describePauseHere(snapshot, consequence)
  if (hold !== undefined) terminal.out(`${hold}\n`)
  terminal.out(`${describeReach(agent())}\n`)
  return EXIT.fine
}
