// SPDX-License-Identifier: Apache-2.0
/** The commands of the agent, and how they reach the node. */
import type { LockHolder } from '../../checkpoint/lock.ts'
import type { Desired } from '../../decision/desired.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import type { MachineFactsResult } from '../../kubelet/node-facts.ts'
import type { YamlReader } from '../../kubelet/yaml-document.ts'
import type { Evaluate } from '../../overlay/computed.ts'
import type { OverlayView } from '../../overlay/read-overlay.ts'
import type { Activation } from '../../ports/activation.ts'
import type { LocalConfigView } from '../../ports/assignment-source.ts'
import type { Files } from '../../ports/files.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { ConfigzAnswer } from '../../ports/preflight.ts'
import type { Checkpoints, OperatorRequests } from '../../ports/store.ts'
import type { Unit } from '../../ports/unit.ts'
import type { Difference } from '../../preflight/change/check-same.ts'
import type { Compare, Inspect, MergeHere } from '../../preflight/inspection.ts'
import type { KubeletVersion } from '../../preflight/kubelet-version.ts'
import type { UnfitState } from '../../preflight/node/check-states.ts'
import type { RunningEffects } from '../../preflight/running-effects.ts'
import type { HistoryReading } from '../../report/history.ts'
import type { LastReport } from '../../report/last-report.ts'
import type { SettingsResolution } from '../../settings/resolve-settings.ts'
import type { Settings } from '../../settings/settings.ts'
import type { ContentHash } from '../../subject/config-source.ts'
import type { NodeShown } from '../../subject/node-shown.ts'
import type { KnownUnit } from '../../subject/unit-state.ts'
import type { AgentService } from '../../systemd/agent-service.ts'
import type { Command, ExitCode } from '../command.ts'
import type { Consent } from '../consent.ts'
import type { PlainCommand } from '../plain-commands.ts'
import type { InputReading } from '../read-input.ts'
import type { Terminal } from '../terminal.ts'
import type { PathNeed, PathRight, Vantage } from './rights.ts'

export type AgentCommand = PlainCommand | NodeCommand | RunCommand

/** Reads the state of the node, or leaves a request on it. Takes the flags for paths and names. */
export interface NodeCommand extends Command<CommandContext> {
  readonly takes: 'node'
  /**
   * The command runs also with settings with which the agent does not start, if those that commands
   * take can be used. `with-flags`: where flags are given, these alone have to be usable.
   */
  readonly isLenient?: 'without-flags' | 'with-flags'
}

/** The agent itself, which is passed in. Takes every flag. */
export interface RunCommand extends Command<{ readonly start: AgentStart; readonly runAgent: RunAgent }> {
  readonly takes: 'all'
}

/** The parts that `run` passes to the agent. */
export interface AgentStart {
  readonly settings: Settings
  /**
   * Resolves the settings again from the same flags and the current environment and config file,
   * for SIGHUP.
   */
  reread(): Promise<SettingsResolution>
}
export type RunAgent = (start: AgentStart) => Promise<ExitCode>

/**
 * A command's access to the node. Only `requestWriter`, `setStateAside` and `takeOver` change
 * anything.
 */
export interface CommandContext {
  readonly settings: Settings
  readonly terminal: Terminal
  /**
   * Observes the node as the agent does, through read-only stores. The assignment of the cluster is
   * known only if it is passed in.
   */
  observe(desired?: Desired): Promise<Snapshot>
  /**
   * Reads the assignment from the cluster (or the directory of manifests) once, merges a part over
   * its base, and applies this node's overlay.
   */
  fetchDesired(): Promise<Desired>
  /** Reads this node's overlay. */
  readOverlay(): Promise<OverlayView>
  /** kubeadm's patch for this node. */
  readInstanceConfig(): Promise<OverlayView>
  /** Reads the local config, also where the agent has put another file in its place. */
  readLocalConfig(): Promise<LocalConfigView>
  /** Computes values for this node. On a machine that is none, expressions are only read. */
  readonly evaluate: Evaluate
  /** @param node undefined: expressions are only read */
  evaluateFor(node: NodeShown | undefined): Evaluate
  /** Milliseconds since 1970, by this machine's clock. */
  wallMs(): number
  readonly api: Pick<KubeApi, 'request'>
  nodeName(): string | Promise<string>
  /** Asks for `/configz` of the node's kubelet. */
  readConfigz(): Promise<ConfigzAnswer>
  /**
   * Where the effective config that kubelet logged at its start differs from what this program
   * makes of the files and flags. undefined: kubelet did not log it (before 1.37), or the journal
   * cannot be read.
   */
  readMisread(): Promise<readonly Difference[] | undefined>
  /**
   * The effects of the config that kubelet runs. undefined: no kubelet runs, or it is not known.
   */
  readEffects(): Promise<RunningEffects | undefined>
  readonly checkpoints: Pick<Checkpoints, 'data'>
  readonly files: Pick<Files, 'read'>
  /** @param path undefined: standard input */
  readInput(path: string | undefined, limitBytes: number): Promise<InputReading>
  ask(question: string): Promise<Consent>
  /** Parses texts as the agent does. */
  readonly yaml: YamlReader
  readonly inspect: Inspect
  readonly compare: Compare
  readonly mergeHere: MergeHere
  /** The version of the kubelet that runs here. undefined: not known. */
  runningVersion(): Promise<KubeletVersion | undefined>
  /** This program's. */
  readonly version: string
  readonly unit: Pick<Unit, 'observe'>
  readonly activation: Pick<Activation, 'read'>
  readonly requests: Pick<OperatorRequests, 'read'>
  readonly requestWriter: OperatorRequestWriter
  /**
   * Finds the state files of kubelet's managers with which kubelet would not start now.
   * `kubeletPid`: of the kubelet that runs. 0: none does.
   */
  findUnfitStates(): Promise<{ readonly states: readonly UnfitState[]; readonly kubeletPid: number }>
  /** Renames such a file. Returns its new name. Only for `set-aside`. */
  setStateAside(state: Pick<UnfitState, 'file'>): string
  /** Only for `release`. */
  takeOver(): Promise<TakeOver>
  readonly history: HistoryReader
  /** The last report of an agent in this boot. undefined: there is none. */
  lastReport(bootId: string): LastReport | undefined
  agent(): AgentPresence
  /** The state of the agent's own unit, from systemd. Never rejects. */
  service(): Promise<AgentService>
  /** The files that the kubeconfig names besides itself. */
  credentialFiles(): readonly PathNeed[]
  /** As `vantage` sees them. */
  rights(needs: readonly PathNeed[]): readonly PathRight[]
  vantage(): Vantage
  /** This process's. */
  readonly uid: number
  nodeFacts(): Promise<MachineFactsResult>
  /** Who besides root could be, or use, the container runtime of kubelet. undefined: nobody. */
  runtimeDoubt(unit: KnownUnit): Promise<string | undefined>
}

/** Writes what OperatorRequests reads. Each request is durable when the method returns. */
interface OperatorRequestWriter {
  /** @param force as `Requests.force` */
  requestHold(hold: 'paused' | 'local', force?: boolean): void
  clearHold(): void
  requestRollback(content: ContentHash): void
  requestRetry(): void
  requestPromote(content: ContentHash): void
}

/**
 * Whether this process replaces the agent: it holds the lock, so no agent starts meanwhile, and it
 * may change kubelet's next start.
 */
export type TakeOver =
  | { readonly kind: 'taken'; readonly activation: Pick<Activation, 'activate' | 'withdraw'>; end(): void }
  /** An agent is running, or it is unknown whether one is. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** No agent ever wrote anything on this node, or what it wrote is gone. */
  | { readonly kind: 'untouched' }

interface HistoryReader {
  read(): HistoryReading
}

/** Whether an agent holds the directory's lock. */
export type AgentPresence = LockHolder
