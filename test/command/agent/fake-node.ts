// SPDX-License-Identifier: Apache-2.0
/**
 * A fake node for commands: it is in the state of a snapshot, and records what commands write and
 * request.
 */

import { Evaluator } from '../../../src/cel/evaluator.ts'
import type { AgentCommand, AgentPresence, CommandContext } from '../../../src/command/agent/command.ts'
import { reportFailure } from '../../../src/command/run-program.ts'
import type { Hold } from '../../../src/decision/records.ts'
import type { Snapshot } from '../../../src/decision/snapshot.ts'
import type { MachineFactsResult } from '../../../src/kubelet/node-facts.ts'
import { inspectWith } from '../../../src/preflight/inspect.ts'
import { NOTHING_KNOWN } from '../../../src/preflight/node/surroundings.ts'
import { listParts } from '../../../src/preflight/parts.ts'
import { describeChanges } from '../../../src/preflight/policy/check-policy.ts'
import type { HistoryReading } from '../../../src/report/history.ts'
import { describeSource } from '../../../src/subject/config-source.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'
import { snapshot } from '../../report/build.ts'
import { defaults } from '../../settings/settled-settings.ts'

const OPEN = { base: 'open', allow: [], deny: [], requireDrain: [] } as const
/** Nothing is known about the machine, and it has no kubelet. */
const PARTS = listParts({
  surroundings: async () => NOTHING_KNOWN,
  policy: () => OPEN,
  guardsOff: () => [],
  judge: { judge: async () => ({ kind: 'unjudged', detail: 'there is no kubelet' }), forget: () => {} },
  signal: new AbortController().signal,
})

/** The kubelet that runs on it. */
const RUNNING = { major: 1, minor: 34, patch: 1 }

export interface FakeNode {
  readonly context: CommandContext
  /** The requests and changes of the command, as in `hold paused`. */
  readonly actions: string[]
  out(): string
  err(): string
}

export interface FakeNodeFields {
  readonly snapshot?: Snapshot
  readonly hold?: Hold
  readonly agent?: AgentPresence
  readonly history?: HistoryReading
  readonly color?: boolean
  readonly uid?: number
  readonly context?: Partial<CommandContext>
}

export const machine: MachineFactsResult = {
  ok: true,
  facts: {
    memoryBytes: 16 * 2 ** 30,
    memoryAvailableBytes: 12 * 2 ** 30,
    swapBytes: 0,
    cpus: 4,
    architecture: 'x64',
    os: 'Debian GNU/Linux 12 (bookworm)',
    kernel: '6.1.0',
  },
}

const evaluateFor: CommandContext['evaluateFor'] = (node) => async (expressions) => new Evaluator().evaluate({ expressions, node })

export function fakeNode(fields: FakeNodeFields = {}): FakeNode {
  const actions: string[] = []
  const written = { out: '', err: '' }
  const base = fields.snapshot ?? snapshot()
  const seen = { ...base, requests: { ...base.requests, hold: fields.hold ?? base.requests.hold } }
  const context: CommandContext = {
    settings: defaults,
    terminal: {
      out: (text) => {
        written.out += text
      },
      err: (text) => {
        written.err += text
      },
      color: fields.color ?? false,
      width: undefined,
    },
    observe: async (desired) => (desired === undefined ? seen : { ...seen, desired }),
    fetchDesired: async () => base.desired,
    readOverlay: async () => ({ kind: 'none' }),
    readInstanceConfig: async () => ({ kind: 'none' }),
    readLocalConfig: async () => ({ kind: 'unknown', detail: 'this machine has no kubelet' }),
    ...{ evaluate: evaluateFor(undefined), evaluateFor },
    api: { request: async ({ path }) => ({ kind: 'unreachable', detail: `${path}: no connection` }) },
    nodeName: () => 'node-1',
    wallMs: () => Date.parse('2026-11-29T12:00:00Z'),
    readConfigz: async () => ({ kind: 'unreachable', detail: 'no connection' }),
    readMisread: async () => undefined,
    readEffects: async () => undefined,
    checkpoints: { data: () => undefined },
    files: { read: () => undefined },
    readInput: async () => ({ kind: 'unreadable', code: 'ENOENT' }),
    ask: async () => 'nobody',
    yaml: IN_PLACE,
    inspect: inspectWith(
      PARTS,
      async (_, { version, from, unknownKeys = 'warn' }) => ({
        kubelet: undefined,
        version,
        from: from === 'running' ? RUNNING : from,
        node: undefined,
        unknownKeys,
      }),
      IN_PLACE,
    ),
    compare: async (before, after, version) => describeChanges(before, after, version, OPEN),
    mergeHere: async (config) => ({ config, order: undefined }),
    runningVersion: async () => undefined,
    version: '1.2.3',
    unit: { observe: async () => seen.unit },
    activation: { read: () => ({ kind: 'local', since: undefined }) },
    requests: { read: () => seen.requests },
    requestWriter: {
      requestHold: (hold, force) => void actions.push(`hold ${hold}${force === true ? ' by force' : ''}`),
      clearHold: () => void actions.push('no hold'),
      requestRollback: (content) => void actions.push(`roll back ${content}`),
      requestRetry: () => void actions.push('retry'),
      requestPromote: (content) => void actions.push(`promote ${content}`),
    },
    findUnfitStates: async () => ({ states: [], kubeletPid: 0 }),
    setStateAside: ({ file }) => `${file}.set-aside-1`,
    takeOver: async () => ({
      kind: 'taken',
      activation: {
        activate: (target) => void actions.push(`activate ${describeSource(target)}`),
        withdraw: (extent) => void (extent === 'everything' && actions.push('withdraw everything')),
      },
      end: () => void actions.push('end'),
    }),
    history: { read: () => fields.history ?? { transitions: [], skipped: 0 } },
    lastReport: () => undefined,
    agent: () => fields.agent ?? { kind: 'running', pid: 812 },
    service: async () => ({ kind: 'known', enabled: 'disabled', phase: 'down', summary: 'inactive (dead)' }),
    credentialFiles: () => [],
    rights: (needs) => needs.map((need) => ({ ...need, state: 'granted', detail: '' })),
    vantage: () => ({ kind: 'own' }),
    uid: fields.uid ?? 0,
    nodeFacts: async () => machine,
    runtimeDoubt: async () => undefined,
    ...fields.context,
  }
  return { context, actions, out: () => written.out, err: () => written.err }
}

/** Runs a command; options that are not given have their defaults. */
export async function execute(
  command: AgentCommand,
  node: FakeNode,
  options: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<number> {
  if (command.takes !== 'node') throw new Error(`${command.name} does not use the node`)
  const initial = Object.fromEntries(command.options.map(({ name, initial }) => [name, initial]))
  const line = { options: { ...initial, ...options }, args, shared: {} }
  const name = `kubelet-cfg-agent ${command.name}`
  return reportFailure(name, command, node.context.terminal, () => command.execute(node.context, line))
}
