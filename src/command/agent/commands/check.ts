// SPDX-License-Identifier: Apache-2.0
/** `check`: the self-check that the agent makes when it starts, and what the API server says. */

import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { AGENT_UNIT, type AgentService } from '../../../systemd/agent-service.ts'
import { type CommandLine, EXIT, type ExitCode, OUTPUT, switchOption } from '../../command.ts'
import { alignColumns, formatJson, type Tone } from '../../terminal.ts'
import { checkCluster } from '../check-cluster.ts'
import { checkEffects } from '../check-effects.ts'
import type { AgentPresence, CommandContext, NodeCommand } from '../command.ts'
import { gatherFindings, type SelfCheckResult } from '../self-check.ts'

/** A command runs only with valid settings: see `invoke`. */
const SETTINGS_ALONE: readonly SelfCheckResult[] = [{ topic: 'settings', level: 'ok', text: 'valid' }]

export const checkCommand: NodeCommand = {
  name: 'check',
  takes: 'node',
  group: 'Inspect',
  summary: 'check agent, unit, drop-in, kubelet, files, API server and rights',
  description:
    "Checks whether the agent can work on this node: whether it runs, kubelet's unit, the distribution that it looks like, the " +
    'drop-in, the config that kubelet runs and what of it has no effect, the files that the agent needs, and the machine. Asks the API server who the agent is, ' +
    'whether the assigned config can be read, and which rights are missing. Files are checked from the sandbox of the running agent; ' +
    'where none runs, from outside. One line each. Changes nothing. A file in deploy/ is in ' +
    '/usr/share/doc/kubelet-cfg-agent/examples/ where the package is installed.',
  options: [OUTPUT, switchOption('settings', 'check only the settings, as systemctl reload does before the agent rereads them')],
  examples: [
    ['check', 'after installation; exits with 1 if a check fails'],
    ['check --settings', 'after an edit of the settings; exits with 2 if one is invalid'],
  ],
  execute: check,
}

async function check(context: CommandContext, { options }: CommandLine): Promise<ExitCode> {
  const { terminal } = context
  const findings = options.settings === 'true' ? SETTINGS_ALONE : await checkAll(context)
  const document = { apiVersion: CONFIG_API_VERSION, kind: 'SelfCheck', findings }
  terminal.out(options.output === 'json' ? formatJson(document) : renderSelfCheck(findings, terminal.color))
  return findings.some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.fine
}

async function checkAll(context: CommandContext): Promise<readonly SelfCheckResult[]> {
  const parts = [gatherFindings(context), checkEffects(context), checkCluster(context)]
  const [agent, ...others] = await Promise.all([checkAgent(context), ...parts])
  return [agent, ...others.flat()]
}

const WITHOUT_DIRECTORY = 'is running, and its directory was removed: systemctl restart kubelet-cfg-agent'

/** systemd is asked only where no agent is seen. */
async function checkAgent({ agent, service, settings }: CommandContext): Promise<SelfCheckResult> {
  const seen = agent()
  if (seen.kind === 'running' && seen.isWithoutDirectory) return { topic: 'agent', level: 'fail', text: WITHOUT_DIRECTORY }
  if (seen.kind === 'running')
    return { topic: 'agent', level: 'ok', text: `is running${seen.pid === undefined ? '' : ` (pid ${seen.pid})`}` }
  return { topic: 'agent', ...judgeService(await service(), seen, settings.dynamicConfigDir) }
}

type Judged = Pick<SelfCheckResult, 'level' | 'text'>

/**
 * Without an agent, a node stays with a config that fails. That is a fault only where the service
 * is meant to run: `check` comes before its first start too, and while it is masked.
 */
function judgeService(service: AgentService, agent: Exclude<AgentPresence, { kind: 'running' }>, directory: string): Judged {
  const isSeen = agent.kind === 'absent'
  const unsure = isSeen ? undefined : `cannot tell whether it is running: ${agent.detail}`
  if (service.kind !== 'known') {
    const why = service.kind === 'absent' ? `systemd does not know ${AGENT_UNIT}` : `systemd does not say why: ${service.detail}`
    return { level: 'warn', text: unsure ?? `is not running${service.kind === 'absent' ? ': ' : '; '}${why}` }
  }
  const { enabled, phase, summary } = service
  switch (phase) {
    case 'active': {
      const elsewhere = `does not use ${directory}, although ${AGENT_UNIT} is ${summary}: its settings may be other ones than those of this command`
      return { level: 'warn', text: unsure ?? elsewhere }
    }
    case 'starting':
      return { level: 'warn', text: `is starting: ${AGENT_UNIT} is ${summary}` }
    case 'down':
      break
  }
  if (/^enabled/.test(enabled)) {
    const what = `is not running: ${AGENT_UNIT} is ${enabled} and ${summary}`
    return {
      level: 'fail',
      text: `${what}; systemctl start kubelet-cfg-agent starts it, and journalctl -u kubelet-cfg-agent says why it ended`,
    }
  }
  if (enabled === 'masked') return { level: 'warn', text: `is not running: ${AGENT_UNIT} is masked, and systemd does not start it` }
  return { level: 'warn', text: 'is not running: systemctl enable --now kubelet-cfg-agent starts it' }
}

const TONES: Readonly<Record<SelfCheckResult['level'], Tone>> = { ok: 'good', warn: 'warning', fail: 'bad' }

export function renderSelfCheck(findings: readonly SelfCheckResult[], color: boolean): string {
  const rows = findings.map(({ level, topic, text }) => [{ text: level, tone: TONES[level] }, topic, text])
  return `${alignColumns(rows, color).join('\n')}\n`
}
