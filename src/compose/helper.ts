// SPDX-License-Identifier: Apache-2.0
/**
 * The helper as a process: answers what the agent asks on standard input, and ends with it. Holds
 * what the agent itself does without: the rules of preflight, and the client that asks for
 * `/configz`.
 */
import { createInterface } from 'node:readline'
import type { Computation, Computations } from '../cel/computation.ts'
import { DurableFiles } from '../checkpoint/files.ts'
import { NodeDisk } from '../checkpoint/node-disk.ts'
import { HelperServer } from '../helper/server.ts'
import { within } from '../helper/time-limit.ts'
import { BoundedYaml } from '../kubelet/bounded-yaml.ts'
import { readMachineFacts } from '../kubelet/node-facts.ts'
import type { PreflightRequest } from '../ports/preflight.ts'
import { checkFallback } from '../preflight/document.ts'
import type { VersionAnswer } from '../preflight/kubelet/judgement.ts'
import { answerTimeZone } from '../rollout/time-zone.ts'
import type { Settings } from '../settings/settings.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { BootClock } from '../systemd/boot-clock.ts'
import { AGENT_VERSION } from './kube-api.ts'
import { openBeside } from './node.ts'
import { openInspection } from './preflight.ts'

/** The context that the agent sends with each request. */
export interface HelperContext {
  /** The version of the agent. */
  readonly version: string
  readonly settings: Settings
  readonly standIn: readonly string[]
  readonly yamlChild: string
}

/** The machine of the plugin is no node: it has values computed, and nothing else. */
type Context = HelperContext | { readonly version: string }

/** Longer than anybody waits for the answer: by then, whoever asked is gone. */
const EVALUATE_MS = 15_000

const openEvaluator = async () => new (await import('../cel/evaluator.ts')).Evaluator()

/** @param context as it is now */
function openNode(context: () => Context, signal: AbortSignal) {
  const onNode = (): HelperContext => {
    const latest = context()
    if ('settings' in latest) return latest
    throw new Error('there are no settings of a node')
  }
  const { settings: atStart, yamlChild, standIn } = onNode()
  const yaml = new BoundedYaml({ child: yamlChild })
  const beside = openBeside(atStart, { clock: new BootClock(), yaml, standIn })
  // Writes what kubelets have judged.
  const stores = { ...beside.stores, files: new DurableFiles(new NodeDisk()) }
  return { yaml, inspection: openInspection({ ...beside, settings: () => onNode().settings, stores, signal, versions: memory }) }
}

const memory = new Map<string, VersionAnswer>()
const server = new HelperServer<Context>({
  version: AGENT_VERSION,
  open(context, signal) {
    let opened: ReturnType<typeof openNode> | undefined
    const node = () => {
      opened ??= openNode(context, signal)
      return opened
    }
    return {
      warm: (_, binary: string | undefined) =>
        node()
          .inspection.versionOf(binary)
          .then(() => null),
      check: (stopped, candidate: PreflightRequest) => node().inspection.checkCandidate(candidate, stopped),
      fallback: (_, candidate: PreflightRequest) => {
        const { inspection, yaml } = node()
        return checkFallback(candidate, yaml, (fallback) => inspection.remarkOnFallback(fallback))
      },
      configz: (_, unit: KnownUnit) => node().inspection.readRunningConfig(unit),
      compare: (_, configz: unknown, unit: KnownUnit, path: string | undefined) =>
        node().inspection.compareConfigz(configz, unit, path ?? undefined),
      facts: () => readMachineFacts(),
      evaluate: async (_, computation: Computation) => {
        const evaluator = await openEvaluator()
        return within(EVALUATE_MS, () => evaluator.evaluate(computation))
      },
      evaluateEach: async (_, { expressions, nodes }: Computations) => {
        const evaluator = await openEvaluator()
        return within(EVALUATE_MS, () => nodes.map((node) => evaluator.evaluate({ expressions, node })))
      },
      timeZone: (_, ...asked: Parameters<typeof answerTimeZone>) => answerTimeZone(...asked),
      forget: () => {
        node().inspection.forget()
        return null
      },
    }
  },
  memory,
  write: (reply) => void process.stdout.write(`${JSON.stringify(reply)}\n`),
  exit: (afterMs) => (afterMs === 0 ? process.exit(0) : void setTimeout(() => process.exit(0), afterMs).unref()),
})

// Only for this process.
delete process.env.NODE_COMPILE_CACHE
// The agent that asked is gone.
process.stdout.on('error', () => process.exit(1))
process.title = 'kubelet-cfg-agent helper'
const end = () => server.end()
createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  .on('line', (line) => server.hear(line))
  .on('close', end)
// systemd signals all processes of the agent's unit when it stops that.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end)
