/**
 * `status`: what is assigned, active, last-known-good and previous, from the agent's directory and
 * systemd. Works without API server and without agent; changes nothing.
 */

import { type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from '../../command.ts'
import { explain } from '../explain.ts'
import { formatJson } from '../../format-json.ts'
import { documentReported } from '../reported.ts'
import { documentOverlay, documentStatus, type StatusDocument } from '../status-document.ts'
import { findMerged, type LayerReaders } from '../status-layers.ts'
import { renderStatus } from '../status-text.ts'

export const statusCommand: NodeCommand = {
  name: 'status',
  takes: 'node',
  group: 'Inspect',
  summary: 'show what this node runs, what it should run, and the trial',
  description:
    'Shows what is assigned, active, last-known-good and previous, the remaining time of a trial, verdicts and the error. For a config ' +
    'that this node merges, it shows which layer each field comes from. Reads the ' +
    "agent's directory and systemd, and shows what the agent reported last. Needs neither the API server nor a running agent, and " +
    'changes nothing.',
  options: [OUTPUT],
  examples: [
    ['status', 'print a table'],
    ["status -o json | jq -r '.assigned.name'", 'get one field in a script'],
  ],
  execute: showStatus,
}

async function showStatus(context: CommandContext, options: OptionValues): Promise<ExitCode> {
  const { terminal } = context
  const status = await gatherStatus(context)
  terminal.out(options.output === 'json' ? formatJson(status) : renderStatus(status, terminal.color))
  return EXIT.fine
}

type StatusSources = Pick<CommandContext, 'observe' | 'agent' | 'lastReport' | 'readOverlay' | 'readMisread'> & LayerReaders

export async function gatherStatus(context: StatusSources): Promise<StatusDocument> {
  const snapshot = await context.observe()
  const agent = context.agent()
  const reported = documentReported(context.lastReport(snapshot.now.bootId), snapshot, agent)
  const overlay = documentOverlay(await context.readOverlay())
  const merged = await findMerged(snapshot, context)
  const misread = (await context.readMisread()) ?? null
  return { ...documentStatus(snapshot, explain(snapshot), agent, reported, merged), overlay, misread }
}
