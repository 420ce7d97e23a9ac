/**
 * What a command of the command line is, and what it is given of the world. A command is data and one function; `program.ts` turns the
 * data into a parser and into help. Commands touch neither files nor systemd themselves, so that fakes can stand in for both.
 */

import type { ContentHash } from '../decision/config-source.ts'
import type { Desired } from '../decision/desired.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { NodeFactsResult } from '../kubelet/describe-facts.ts'
import type { OverlayView } from '../overlay/view.ts'
import type { Activation } from '../ports/activation.ts'
import type { Files } from '../ports/files.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Checkpoints, OperatorRequests } from '../ports/store.ts'
import type { Unit } from '../ports/unit.ts'
import type { Compare, Inspect } from '../preflight/inspection.ts'
import type { HistoryReading } from '../report/history-lines.ts'
import type { SettingsResolution } from '../settings/resolve-settings.ts'
import { choiceKind, type Kind } from '../settings/setting-kinds.ts'
import type { Settings } from '../settings/settings.ts'
import type { InputReading } from './read-input.ts'
import type { PathNeed, PathRight } from './rights.ts'
import type { Terminal } from './terminal.ts'

export const EXIT = { fine: 0, failed: 1, usage: 2 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export type Command = PlainCommand | NodeCommand | RunCommand

/** Needs nothing of the node, not even valid settings. */
export interface PlainCommand extends CommandText {
  readonly takes: 'nothing'
  execute(terminal: Terminal, build: BuildInfo): ExitCode
}

/** Looks at the node, or leaves a request on it. Takes the flags that say where things are. */
export interface NodeCommand extends CommandText {
  readonly takes: 'node'
  execute(context: CommandContext, options: OptionValues, args: ArgumentValues): Promise<ExitCode>
}

/** The agent itself. Takes every flag. */
export interface RunCommand extends CommandText {
  readonly takes: 'all'
  execute(start: AgentStart, runAgent: RunAgent): Promise<ExitCode>
}

interface CommandText {
  readonly name: string
  /** Heading in the list of commands. */
  readonly group: 'The agent' | 'Look' | 'Judge' | 'Ask' | 'Remove'
  /** One line, for the list of commands. */
  readonly summary: string
  readonly description: string
  /** In their order; absent: it takes none. Those that may be left out come last. */
  readonly arguments?: readonly CommandArgument[]
  readonly options: readonly CommandOption[]
  /** What its exit codes say, where 1 is an answer and no failure: then whatever goes wrong is 2. */
  readonly exits?: Readonly<Record<ExitCode, string>>
  /** What stands after the command's name, and what it does. */
  readonly examples: readonly (readonly [string, string])[]
}

/** An option of one command, besides settings. */
export interface CommandOption {
  /** `output` for `--output`. */
  readonly name: string
  readonly short?: string
  readonly kind: Kind<string> | Kind<number> | Kind<boolean>
  readonly initial: string
  readonly help: string
}
/** By name; every option has a value, which its kind has accepted. */
export type OptionValues = Readonly<Record<string, string>>

/** What stands after the command's name, besides options. Its placeholder is what people see of it. */
export interface CommandArgument {
  readonly name: string
  readonly kind: Kind<string> & { readonly placeholder: string }
  readonly required: boolean
  readonly help: string
}
/** By name; undefined: it was left out. */
export type ArgumentValues = Readonly<Record<string, string | undefined>>

export const OUTPUT: CommandOption = {
  name: 'output',
  short: 'o',
  kind: choiceKind('table', 'json'),
  initial: 'table',
  help: 'for people, or for programs',
}

export interface BuildInfo {
  readonly version: string
  /** As in `node 24.1.0, linux/x64`. */
  readonly platform: string
}

/** What `run` starts the agent with. */
export interface AgentStart {
  readonly settings: Settings
  /** The same flags with the environment and the config file of now: for SIGHUP. */
  reread(): SettingsResolution
}
export type RunAgent = (start: AgentStart) => Promise<ExitCode>

/** The node as a command sees it. Nothing but `ask` and `takeOver` changes anything. */
export interface CommandContext {
  readonly settings: Settings
  readonly terminal: Terminal
  /** The agent's own look around, over stores that only read. Nothing is known of what the cluster wants but what is passed in. */
  observe(desired?: Desired): Promise<Snapshot>
  /** Asks the cluster (or the directory of manifests) once, and lays this node's overlay over what it says. */
  askDesired(): Promise<Desired>
  /** This node's overlay as it is now. */
  readOverlay(): Promise<OverlayView>
  readonly api: Pick<KubeApi, 'request'>
  nodeName(): string
  readonly checkpoints: Pick<Checkpoints, 'data'>
  readonly files: Pick<Files, 'read'>
  /** @param path undefined: standard input */
  readInput(path: string | undefined, limitBytes: number): Promise<InputReading>
  readonly inspect: Inspect
  readonly compare: Compare
  /** Of this program. */
  readonly version: string
  readonly unit: Pick<Unit, 'observe'>
  readonly activation: Pick<Activation, 'read'>
  readonly requests: Pick<OperatorRequests, 'read'>
  readonly ask: OperatorAsks
  /** For `release` alone. */
  takeOver(): TakeOver
  readonly history: HistoryReader
  agent(): AgentPresence
  rights(needs: readonly PathNeed[]): readonly PathRight[]
  /** Of this process. */
  readonly uid: number
  nodeFacts(): Promise<NodeFactsResult>
}

/** The writing half of OperatorRequests. Durable when it returns. */
export interface OperatorAsks {
  requestHold(hold: 'paused' | 'local'): void
  clearHold(): void
  requestRollback(content: ContentHash): void
  requestRetry(): void
}

/** The node without an agent: the lock is held, so that none starts meanwhile, and what kubelet starts with next may be changed. */
export type TakeOver =
  | { readonly kind: 'taken'; readonly activation: Pick<Activation, 'activate' | 'withdraw'>; end(): void }
  /** An agent runs, or whether one does cannot be told. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** No agent ever wrote anything here. */
  | { readonly kind: 'untouched' }

export interface HistoryReader {
  read(): HistoryReading
}

/** Whether an agent holds the directory's lock. */
export type AgentPresence =
  | { readonly kind: 'running'; readonly pid: number | undefined }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly detail: string }

/** When a request takes effect. */
export function describeReach(agent: AgentPresence): string {
  switch (agent.kind) {
    case 'running':
      return `The running agent${agent.pid === undefined ? '' : ` (pid ${agent.pid})`} takes this up at once.`
    case 'absent':
      return 'No agent is running: this applies when it starts next.'
    case 'unknown':
      return `Whether an agent is running cannot be told (${agent.detail}): this applies at once, or when it starts next.`
  }
}
