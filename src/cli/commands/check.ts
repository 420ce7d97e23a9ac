/** `check`: the self-check that the agent does at its start, without the agent. */

import { CONFIG_API_VERSION } from '../../settings/resolve-settings.ts'
import { type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from '../command.ts'
import { formatJson } from '../format-json.ts'
import { gatherFindings } from '../gather-findings.ts'
import type { SelfCheckResult } from '../self-check.ts'
import { alignColumns, type Tone } from '../terminal.ts'

export const checkCommand: NodeCommand = {
  name: 'check',
  takes: 'node',
  group: 'Look',
  summary: 'check unit, drop-in, rights and node, one line each',
  description:
    "Checks whether the agent can do its work on this node: kubelet's unit, the drop-in, what kubelet runs, rights, the machine.",
  options: [OUTPUT],
  examples: [['check', 'after installation; exits with 1 if something has to be corrected']],
  execute: check,
}

async function check(context: CommandContext, options: OptionValues): Promise<ExitCode> {
  const { terminal } = context
  const findings = await gatherFindings(context)
  const document = { apiVersion: CONFIG_API_VERSION, kind: 'SelfCheck', findings }
  terminal.out(options.output === 'json' ? formatJson(document) : renderFindings(findings, terminal.color))
  return findings.some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.fine
}

const TONES: Readonly<Record<SelfCheckResult['level'], Tone>> = { ok: 'good', warn: 'warning', fail: 'bad' }

export function renderFindings(findings: readonly SelfCheckResult[], color: boolean): string {
  const rows = findings.map(({ level, topic, text }) => [{ text: level, tone: TONES[level] }, topic, text])
  return `${alignColumns(rows, color).join('\n')}\n`
}
