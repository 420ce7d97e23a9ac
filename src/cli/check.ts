/** `check`: the self-check that the agent does at its start, without the agent. Also gathers the facts for both. */
import { dirname } from 'node:path'
import type { Log } from '../ports/log.ts'
import { CONFIG_API_VERSION } from '../settings/resolve-settings.ts'
import { type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues, OUTPUT } from './command.ts'
import type { PathNeed } from './rights.ts'
import { listFindings, type SelfCheckResult } from './self-check.ts'
import { alignColumns, type Tone } from './terminal.ts'

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
  terminal.out(options.output === 'json' ? `${JSON.stringify(document, null, 2)}\n` : renderFindings(findings, terminal.color))
  return findings.some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.fine
}

const TONES: Readonly<Record<SelfCheckResult['level'], Tone>> = { ok: 'good', warn: 'warning', fail: 'bad' }

export function renderFindings(findings: readonly SelfCheckResult[], color: boolean): string {
  const rows = findings.map(({ level, topic, text }) => [{ text: level, tone: TONES[level] }, topic, text])
  return `${alignColumns(rows, color).join('\n')}\n`
}

/** What the agent checks itself with; a CommandContext is one. */
export type SelfCheckEyes = Pick<CommandContext, 'settings' | 'unit' | 'activation' | 'rights' | 'uid' | 'nodeFacts'>

export async function gatherFindings(eyes: SelfCheckEyes): Promise<readonly SelfCheckResult[]> {
  const { settings } = eyes
  const [unit, nodeFacts] = await Promise.all([eyes.unit.observe(), eyes.nodeFacts()])
  const wiring = unit.kind === 'known' && unit.wiring.kind === 'ready' ? unit.wiring : undefined
  const activated = dirname(wiring?.path ?? settings.envFile)
  const writable = new Set([settings.dynamicConfigDir, settings.runtimeDir, activated])
  const needs: PathNeed[] = [
    ...[...writable].map((path): PathNeed => ({ path, need: 'write' })),
    { path: settings.manifestDir ?? settings.kubeconfig, need: 'read' },
    { path: settings.systemctl, need: 'execute' },
  ]
  return listFindings({
    unitName: settings.kubeletUnit,
    envFile: settings.envFile,
    unit,
    activation: wiring && eyes.activation.read(wiring),
    rights: eyes.rights(needs),
    uid: eyes.uid,
    nodeFacts,
  })
}

/** At the start of the agent. */
export function logFindings(findings: readonly SelfCheckResult[], log: Log): void {
  for (const { topic, level, text } of findings) {
    const line = `${topic}: ${text}`
    if (level === 'ok') log.info(line)
    else if (level === 'warn') log.warn(line)
    else log.error(line)
  }
}
