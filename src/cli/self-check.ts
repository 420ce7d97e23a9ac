/**
 * What the agent finds when it checks itself: unit, drop-in, what kubelet runs, rights, node; one line each. Said by `check`, and in the
 * log when the agent starts. Pure: facts in, findings out.
 */

import { describeSource, describeVersion } from '../decision/config-source.ts'
import type { UnitState, WiringProblem } from '../decision/unit-state.ts'
import { describeFacts, type NodeFactsResult } from '../kubelet/describe-facts.ts'
import type { ActivationState } from '../ports/activation.ts'
import type { PathRight } from './rights.ts'

export interface SelfCheckResult {
  readonly topic: 'unit' | 'drop-in' | 'kubelet' | 'rights' | 'node'
  /** `fail`: the agent cannot do its work like this. */
  readonly level: 'ok' | 'warn' | 'fail'
  readonly text: string
}

export interface SelfCheckFacts {
  readonly unitName: string
  readonly envFile: string
  readonly unit: UnitState
  /** undefined: not asked, since the unit is not wired. */
  readonly activation: ActivationState | undefined
  readonly rights: readonly PathRight[]
  readonly uid: number
  readonly nodeFacts: NodeFactsResult
}

export function listFindings(facts: SelfCheckFacts): readonly SelfCheckResult[] {
  const { unit } = facts
  const node = checkNode(facts.nodeFacts)
  if (unit.kind === 'unknown') {
    const text = `cannot ask systemd about ${facts.unitName}: ${unit.detail}`
    return [{ topic: 'unit', level: 'fail', text }, checkRights(facts), node]
  }
  if (unit.activity === 'not-found') {
    const text = `systemd knows no ${facts.unitName}: install kubelet, or name its unit with --kubelet-unit`
    return [{ topic: 'unit', level: 'fail', text }, checkRights(facts), node]
  }
  return [checkUnit(facts.unitName, unit), checkWiring(facts, unit), checkKubelet(facts, unit), checkRights(facts), node]
}

type KnownUnit = Extract<UnitState, { kind: 'known' }>

function checkUnit(unitName: string, { activity, summary }: KnownUnit): SelfCheckResult {
  const finding = (level: SelfCheckResult['level'], state: string): SelfCheckResult => ({
    topic: 'unit',
    level,
    text: `${unitName} ${state}: ${summary}`,
  })
  switch (activity) {
    case 'running':
      return finding('ok', 'is running')
    case 'starting':
      return finding('ok', 'is starting')
    case 'auto-restart':
      return finding('warn', 'has exited and waits for its automatic restart')
    case 'stopped':
      return finding('warn', 'was stopped by a person and stays stopped; its next start uses what is activated')
    case 'failed':
      return finding('warn', 'has failed: systemd gave it up')
    case 'stopping':
      return finding('warn', 'is stopping')
    case 'not-found':
      return finding('fail', 'does not exist')
  }
}

function checkWiring({ unitName, envFile }: SelfCheckFacts, { wiring }: KnownUnit): SelfCheckResult {
  if (wiring.kind === 'broken') {
    return { topic: 'drop-in', level: 'fail', text: `${wiring.detail}: ${adviseOn(wiring.reason, unitName, envFile)}` }
  }
  const text = wiring.replacesLocalFile
    ? `${unitName} spells its config out: ${wiring.path} is replaced, and put back for the local config`
    : `${unitName} takes its config through ${wiring.path}`
  return { topic: 'drop-in', level: 'ok', text }
}

function adviseOn(problem: WiringProblem, unitName: string, envFile: string): string {
  switch (problem) {
    case 'drop-in-missing':
      return `add a drop-in to ${unitName} with EnvironmentFile=-${envFile} in [Service], then systemctl daemon-reload`
    case 'daemon-reload-needed':
      return 'run systemctl daemon-reload'
    case 'overridden':
      return `remove the setting that overrides the drop-in (systemctl cat ${unitName} shows it)`
    case 'flag-wins':
      return `remove the flag that wins (systemctl cat ${unitName} shows it)`
    case 'no-config-argument':
      return 'give kubelet a --config to begin with'
    case 'dynamic-config-dir':
      return "remove kubelet's flag --dynamic-config-dir, or do without this agent: two controllers would fight"
  }
}

function checkKubelet({ activation }: SelfCheckFacts, { process }: KnownUnit): SelfCheckResult {
  const next = describeNext(activation)
  switch (process.kind) {
    case 'none':
      return { topic: 'kubelet', level: 'warn', text: `no kubelet process${next}` }
    case 'unknown':
      return { topic: 'kubelet', level: 'warn', text: `what kubelet runs cannot be told: ${process.detail}${next}` }
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
      return `; what the next start uses cannot be told: ${activation.detail}`
  }
}

/** One line for all of them: those that are refused, or else that nothing is. */
function checkRights({ rights, uid }: SelfCheckFacts): SelfCheckResult {
  const refused = rights.filter((right) => right.state === 'refused' || (right.state === 'missing' && right.need === 'execute'))
  const list = (some: readonly PathRight[]) => some.map(({ path, need, detail }) => `cannot ${need} ${path} (${detail})`).join('; ')
  if (refused.length > 0) return { topic: 'rights', level: 'fail', text: list(refused) }
  if (uid !== 0) return { topic: 'rights', level: 'warn', text: `uid ${uid}, not root: systemd may refuse to restart kubelet` }
  const absent = rights.filter((right) => right.state === 'missing' && right.need === 'read')
  if (absent.length > 0) {
    return { topic: 'rights', level: 'warn', text: `${absent.map(({ path }) => path).join(', ')}: not there yet; the agent waits for it` }
  }
  const writable = rights.filter((right) => right.need === 'write').map(({ path }) => path)
  return { topic: 'rights', level: 'ok', text: `root; may write ${writable.join(', ')}` }
}

function checkNode(result: NodeFactsResult): SelfCheckResult {
  if (!result.ok) return { topic: 'node', level: 'warn', text: `facts of the machine cannot be read: ${result.detail}` }
  return { topic: 'node', level: 'ok', text: describeFacts(result.facts) }
}
