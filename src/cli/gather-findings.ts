/** The self-check of the agent and of `check`: collects the facts that it needs, and logs what it finds. */
import { dirname } from 'node:path'
import type { Log } from '../ports/log.ts'
import type { CommandContext } from './command.ts'
import type { PathNeed } from './rights.ts'
import { listFindings, type SelfCheckResult } from './self-check.ts'

/** What the agent checks itself with; a CommandContext is one. */
export type SelfCheckEyes = Pick<CommandContext, 'settings' | 'unit' | 'activation' | 'rights' | 'uid' | 'nodeFacts'>

export async function gatherFindings(eyes: SelfCheckEyes): Promise<readonly SelfCheckResult[]> {
  const { settings } = eyes
  const [unit, nodeFacts] = await Promise.all([eyes.unit.observe(), eyes.nodeFacts()])
  const wiring = unit.kind === 'known' && unit.wiring.kind === 'ready' ? unit.wiring : undefined
  const activated = dirname(wiring?.activation === 'file' ? wiring.configPath : settings.envFile)
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
