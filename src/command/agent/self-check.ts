// SPDX-License-Identifier: Apache-2.0
/**
 * The self-check: unit, drop-in, the config that kubelet runs, rights and node, one finding each.
 * `check` prints the findings, and the agent logs them when it starts. Pure.
 */

import { dirname, isAbsolute, normalize } from 'node:path'
import type { MachineFacts, MachineFactsResult } from '../../kubelet/node-facts.ts'
import type { ActivationState } from '../../ports/activation.ts'
import type { Log } from '../../ports/log.ts'
import { describeSource, describeVersion } from '../../subject/config-source.ts'
import type { KnownUnit, UnitActivity, UnitState, WiringProblem } from '../../subject/unit-state.ts'
import { asArguments, flagValue } from '../../systemd/command-line.ts'
import { isKubeletInside } from '../../systemd/distribution.ts'
import type { CommandContext } from './command.ts'
import type { PathNeed, PathRight, Vantage } from './rights.ts'

/** Questions to the API server. `grants`: the rights that it gives the agent. */
type ClusterTopic = 'api server' | 'identity' | 'assignment' | 'grants'

type NodeTopic = 'settings' | 'unit' | 'distribution' | 'drop-in' | 'kubelet' | 'runtime' | 'rights' | 'node' | 'agent'

/** Parts of the running config that have no effect. */
type EffectTopic = 'shutdown' | 'config-dir' | 'certificate'

export interface SelfCheckResult {
  readonly topic: NodeTopic | ClusterTopic | EffectTopic
  /** `fail`: the agent cannot work like this. */
  readonly level: 'ok' | 'warn' | 'fail'
  readonly text: string
}

export interface SelfCheckFacts {
  readonly unitName: string
  readonly envFile: string
  readonly kubeconfig: string
  readonly unit: UnitState
  /** undefined: not read, since the unit is not wired. */
  readonly activation: ActivationState | undefined
  readonly rights: readonly PathRight[]
  /**
   * The kubeconfig that kubelet uses in place of the agent's. undefined: the same, or none is
   * known.
   */
  readonly otherKubeconfig?: string | undefined
  readonly vantage: Vantage
  readonly uid: number
  readonly nodeFacts: MachineFactsResult
  readonly runtimeDoubt?: string | undefined
}

export function listFindings(facts: SelfCheckFacts): readonly SelfCheckResult[] {
  const { unit } = facts
  const node = checkNode(facts.nodeFacts)
  if (unit.kind === 'unknown') {
    const text = `cannot get the state of ${facts.unitName} from systemd: ${unit.detail}`
    return [{ topic: 'unit', level: 'fail', text }, checkRights(facts), node]
  }
  if (unit.activity === 'not-found') {
    const text = `systemd does not know ${facts.unitName}: install kubelet, or name its unit with --kubelet-unit`
    return [{ topic: 'unit', level: 'fail', text }, checkRights(facts), node]
  }
  return [
    checkUnit(facts.unitName, unit),
    ...checkHazards(facts.unitName, unit),
    ...checkDistribution(unit),
    checkWiring(facts, unit),
    checkKubelet(facts, unit),
    ...(facts.runtimeDoubt === undefined ? [] : [{ topic: 'runtime', level: 'warn', text: facts.runtimeDoubt } as const]),
    checkRights(facts),
    node,
  ]
}

function checkUnit(unitName: string, { activity, summary }: KnownUnit): SelfCheckResult {
  const { level, text } = ACTIVITIES[activity]
  return { topic: 'unit', level, text: `${unitName} ${text}: ${summary}` }
}

const ACTIVITIES: Readonly<Record<UnitActivity, Pick<SelfCheckResult, 'level' | 'text'>>> = {
  running: { level: 'ok', text: 'is running' },
  starting: { level: 'ok', text: 'is starting' },
  'auto-restart': { level: 'warn', text: 'exited and waits for its automatic restart' },
  queued: { level: 'ok', text: 'is about to be started by systemd' },
  stopped: { level: 'warn', text: 'is stopped, and stays so until somebody starts it; its next start uses the activated config' },
  exited: { level: 'warn', text: 'ended without an error, and systemd does not start it again' },
  'left-down': { level: 'warn', text: 'is down, since a unit that it requires failed' },
  failed: { level: 'warn', text: 'failed: systemd does not restart it any more' },
  stopping: { level: 'ok', text: 'is stopping, as it does in a restart' },
  'not-found': { level: 'fail', text: 'does not exist' },
}

/** Settings of the unit with which systemd may leave kubelet down though nobody stopped it. */
function checkHazards(unitName: string, { hazards }: KnownUnit): SelfCheckResult[] {
  if (hazards === undefined) return []
  const { requires, bindsTo, restart } = hazards
  const found = [
    ...requires.map((name) => `Requires=${name}: systemd leaves kubelet down if ${name} fails when kubelet is restarted`),
    ...bindsTo.map((name) => `BindsTo=${name}: systemd stops kubelet when ${name} ends`),
    ...(restart === 'always' ? [] : [`Restart=${restart || 'no'}: systemd does not start kubelet again after every exit`]),
  ]
  const out = 'while a config is assigned, the agent starts it again'
  return found.map((text) => ({ topic: 'unit', level: 'warn', text: `${unitName} has ${text}; ${out}` }))
}

/** Nothing is said of a unit that looks like none. */
function checkDistribution({ distribution, wiring }: KnownUnit): SelfCheckResult[] {
  if (distribution === undefined) return []
  const { name, fits, owner, remark } = distribution
  // A drop-in is used only where it was asked for.
  const isOther = wiring.kind === 'ready' && wiring.activation !== fits && !wiring.laysOverLocal
  const other = isOther ? `, and ${wiring.activation} is used` : ''
  const what =
    owner === undefined ? `${fits === undefined ? 'no activation' : `activation ${fits}`} fits${other}` : `${owner} owns kubelet's config`
  const text = `looks like ${name}: ${what}${remark === undefined ? '' : `; ${remark}`}`
  return [{ topic: 'distribution', level: fits !== undefined && other === '' ? 'ok' : 'warn', text }]
}

function checkWiring({ unitName, envFile }: SelfCheckFacts, { wiring }: KnownUnit): SelfCheckResult {
  if (wiring.kind === 'broken') {
    return { topic: 'drop-in', level: 'fail', text: `${wiring.detail}: ${describeRemedy(wiring.reason, unitName, envFile)}` }
  }
  const text = wiring.laysOverLocal
    ? `kubelet has --config-dir: the agent adds ${wiring.path} (kubelet 1.32 or later), and removes it for the local config`
    : wiring.replacesLocalFile
      ? `${unitName} names its config file: the agent replaces ${wiring.path}, and restores it for the local config`
      : `${unitName} gets its config through ${wiring.path}`
  return { topic: 'drop-in', level: 'ok', text }
}

function describeRemedy(problem: WiringProblem, unitName: string, envFile: string): string {
  switch (problem) {
    case 'masked':
      return `run systemctl unmask ${unitName}, then systemctl start ${unitName}`
    case 'drop-in-missing':
      return `add a drop-in to ${unitName} with EnvironmentFile=-${envFile} in [Service], then systemctl daemon-reload`
    case 'daemon-reload-needed':
      return 'run systemctl daemon-reload'
    case 'overridden':
      return `remove the setting that overrides the drop-in (systemctl cat ${unitName} shows it)`
    case 'flag-wins':
      return `remove the flag that wins (systemctl cat ${unitName} shows it)`
    case 'no-config-argument':
      return 'start kubelet from a unit of its own, with the flag --config'
    case 'no-config-dir':
      return 'start kubelet with the flag --config-dir (k3s: set kubeletConfigDir), or change the setting activation'
    case 'dynamic-config-dir':
      return "remove kubelet's flag --dynamic-config-dir, or remove this agent: the two would work against each other"
    case 'owned-by-operator':
      return 'remove this agent from this node'
  }
}

function checkKubelet({ activation }: SelfCheckFacts, { process }: KnownUnit): SelfCheckResult {
  const next = describeNext(activation)
  switch (process.kind) {
    case 'none':
      return { topic: 'kubelet', level: 'warn', text: `no kubelet process${next}` }
    case 'unknown':
      return { topic: 'kubelet', level: 'warn', text: `cannot tell what kubelet runs: ${process.detail}${next}` }
    case 'checkpoint': {
      const file = `${process.uid}/${describeVersion(process)}/${process.key}`
      return { topic: 'kubelet', level: 'ok', text: `process ${process.pid} runs the checkpoint ${file}${next}` }
    }
    case 'other': {
      const what = process.configPath ?? 'without a config file'
      return { topic: 'kubelet', level: 'ok', text: `process ${process.pid} runs ${what}${next}` }
    }
  }
}

function describeNext(activation: ActivationState | undefined): string {
  switch (activation?.kind) {
    case undefined:
      return ''
    case 'local':
      return '; the next start uses its local config'
    case 'checkpoint':
      return `; the next start uses ${describeSource(activation.source)}`
    case 'unknown':
      return `; cannot tell what the next start uses: ${activation.detail}`
  }
}

/** One line for all rights: those that are refused, or that all are granted. */
function checkRights(facts: SelfCheckFacts): SelfCheckResult {
  const { level, text } = judgeRights(facts)
  return { topic: 'rights', level, text: `${text}${describeVantage(facts.vantage)}` }
}

function describeVantage(vantage: Vantage): string {
  switch (vantage.kind) {
    case 'own':
      return ''
    case 'agent':
      return `; seen from the sandbox of the running agent (pid ${vantage.pid})`
    case 'outside':
      return `; seen from outside of the sandbox of the agent: ${vantage.why}`
  }
}

function judgeRights({ rights, uid, kubeconfig, otherKubeconfig }: SelfCheckFacts): Pick<SelfCheckResult, 'level' | 'text'> {
  const refused = rights.filter((right) => right.state === 'refused' || (right.state === 'missing' && right.need === 'execute'))
  const list = (listed: readonly PathRight[]) => listed.map(({ path, need, detail }) => `cannot ${need} ${path} (${detail})`).join('; ')
  if (refused.length > 0) return { level: 'fail', text: list(refused) }
  // Kubelet has joined the cluster already: the agent's file does not come by itself.
  if (otherKubeconfig !== undefined && rights.some(({ path, state }) => path === kubeconfig && state === 'missing')) {
    const remedy = 'set kubeconfig to it, or to another one for this cluster'
    return { level: 'fail', text: `${kubeconfig} is not there, and kubelet uses ${otherKubeconfig}: ${remedy}` }
  }
  if (uid !== 0) return { level: 'warn', text: `uid ${uid}, not root: systemd may refuse to restart kubelet` }
  const absent = rights.filter((right) => right.state === 'missing' && right.need === 'read')
  if (absent.length > 0) {
    return { level: 'warn', text: `${absent.map(({ path }) => path).join(', ')}: not there yet; the agent waits for it` }
  }
  const writable = rights.filter((right) => right.need === 'write').map(({ path }) => path)
  return { level: 'ok', text: `root; may write ${writable.join(', ')}` }
}

function checkNode(result: MachineFactsResult): SelfCheckResult {
  if (!result.ok) return { topic: 'node', level: 'warn', text: `cannot read facts about the machine: ${result.detail}` }
  return { topic: 'node', level: 'ok', text: describeFacts(result.facts) }
}

/** The readers of the self-check; a CommandContext satisfies it. */
type SelfCheckSources = Pick<
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

/**
 * One line, such as `Debian GNU/Linux 12, kernel 6.1.0, 4 CPUs (x64), 15.6 GiB memory, no swap`.
 */
function describeFacts({ os, kernel, cpus, architecture, memoryBytes, swapBytes }: MachineFacts): string {
  const swap = swapBytes === 0 ? 'no swap' : `${gibibytes(swapBytes)} swap`
  return `${os}, kernel ${kernel}, ${cpus} ${cpus === 1 ? 'CPU' : 'CPUs'} (${architecture}), ${gibibytes(memoryBytes)} memory, ${swap}`
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`
}
