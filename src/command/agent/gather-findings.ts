/** The self-check of the agent and of `check`: gathers the facts and logs the findings. */
import { dirname, isAbsolute, normalize } from 'node:path'
import type { UnitState } from '../../decision/unit-state.ts'
import type { Log } from '../../ports/log.ts'
import { asArguments, flagValue } from '../../systemd/flags.ts'
import { isKubeletInside } from '../../systemd/kubelet-inside.ts'
import type { CommandContext } from '../command.ts'
import type { PathNeed } from './rights.ts'
import { listFindings, type SelfCheckResult } from './self-check.ts'

/** What the self-check reads from; a CommandContext satisfies it. */
export type SelfCheckSources = Pick<
  CommandContext,
  'settings' | 'unit' | 'activation' | 'credentialFiles' | 'rights' | 'vantage' | 'uid' | 'nodeFacts' | 'runtimeDoubt'
>

export async function gatherFindings(sources: SelfCheckSources): Promise<readonly SelfCheckResult[]> {
  const { settings } = sources
  const [unit, nodeFacts] = await Promise.all([sources.unit.observe(), sources.nodeFacts()])
  const wiring = unit.kind === 'known' && unit.wiring.kind === 'ready' ? unit.wiring : undefined
  const activated = dirname(wiring?.path ?? settings.envFile)
  const writable = new Set([settings.dynamicConfigDir, settings.runtimeDir, activated])
  const { manifestDir, kubeconfig, metricsTextfile, systemctl } = settings
  const needs: PathNeed[] = [
    ...[...writable].map((path): PathNeed => ({ path, need: 'write' })),
    ...(metricsTextfile === undefined ? [] : [{ path: dirname(metricsTextfile), need: 'write', mustExist: true } as const]),
    ...(manifestDir === undefined
      ? [{ path: kubeconfig, need: 'read' } as const, ...sources.credentialFiles()]
      : [{ path: manifestDir, need: 'read' } as const]),
    { path: systemctl, need: 'execute' },
  ]
  return listFindings({
    unitName: settings.kubeletUnit,
    envFile: settings.envFile,
    kubeconfig,
    unit,
    activation: wiring && sources.activation.read(wiring),
    rights: sources.rights(needs),
    otherKubeconfig: findOtherKubeconfig(sources, unit),
    vantage: sources.vantage(),
    uid: sources.uid,
    nodeFacts,
    runtimeDoubt: unit.kind === 'known' && unit.activity !== 'not-found' ? await sources.runtimeDoubt(unit) : undefined,
  })
}

/**
 * The kubeconfig that kubelet is started with, if it is there and not the agent's. A relative path
 * belongs to a directory that is not known. The flags of a program that kubelet is a part of are
 * others.
 */
function findOtherKubeconfig({ settings, rights }: SelfCheckSources, unit: UnitState): string | undefined {
  if (unit.kind === 'unknown' || isKubeletInside(unit.command)) return undefined
  const path = flagValue(asArguments(unit.command?.words ?? []), 'kubeconfig')
  if (path === undefined || !isAbsolute(path) || normalize(path) === normalize(settings.kubeconfig)) return undefined
  const isThere = rights([{ path, need: 'read' }]).every(({ state }) => state !== 'missing')
  return isThere ? path : undefined
}

/** For the agent's start. */
export function logFindings(findings: readonly SelfCheckResult[], log: Log): void {
  for (const { topic, level, text } of findings) {
    const line = `${topic}: ${text}`
    if (level === 'ok') log.info(line)
    else if (level === 'warn') log.warn(line)
    else log.error(line)
  }
}
