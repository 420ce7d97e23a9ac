/** `status`: what is assigned, active and to fall back to, from the directory and systemd. Works without API server and without agent; changes nothing. */

import { type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from '../command.ts'
import { explain } from '../explain.ts'
import { formatJson } from '../format-json.ts'
import { documentOverlay, documentStatus, type StatusDocument } from '../status-document.ts'
import { renderStatus } from '../status-table.ts'

export const statusCommand: NodeCommand = {
  name: 'status',
  takes: 'node',
  group: 'Look',
  summary: 'what this node runs, what it should run, and how its trial stands',
  description:
    'Shows what is assigned, active, last-known-good and previous, the trial with the time left, verdicts and the error. Reads the ' +
    "agent's directory and asks systemd; needs neither the API server nor a running agent, and changes nothing.",
  options: [OUTPUT],
  examples: [
    ['status', 'for people'],
    ["status -o json | jq -r '.assigned.name'", 'for scripts'],
  ],
  execute: showStatus,
}

async function showStatus(context: CommandContext, options: OptionValues): Promise<ExitCode> {
  const { terminal } = context
  const status = await gatherStatus(context)
  terminal.out(options.output === 'json' ? formatJson(status) : renderStatus(status, terminal.color))
  return EXIT.fine
}

export async function gatherStatus(context: Pick<CommandContext, 'observe' | 'agent' | 'readOverlay'>): Promise<StatusDocument> {
  const snapshot = await context.observe()
  return { ...documentStatus(snapshot, explain(snapshot), context.agent()), overlay: documentOverlay(await context.readOverlay()) }
}
