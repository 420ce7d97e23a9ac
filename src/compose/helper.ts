// SPDX-License-Identifier: Apache-2.0
/**
 * The helper as a process: answers what the agent asks on standard input, and ends with it. Holds
 * what the agent itself does without: the rules of preflight, and the client that asks for
 * `/configz`.
 */
import { createInterface } from 'node:readline'
import type { Computation } from '../cel/computation.ts'
import { DurableFiles } from '../checkpoint/files.ts'
import { NodeDisk } from '../checkpoint/node-disk.ts'
import { HelperServer } from '../helper/server.ts'
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

const memory = new Map<string, VersionAnswer>()
const server = new HelperServer<HelperContext>({
  version: AGENT_VERSION,
  open(context, signal) {
    const { settings: atStart, yamlChild, standIn } = context()
    const yaml = new BoundedYaml({ child: yamlChild })
    const beside = openBeside(atStart, { clock: new BootClock(), yaml, standIn })
    // Writes what kubelets have judged.
    const stores = { ...beside.stores, files: new DurableFiles(new NodeDisk()) }
    const inspection = openInspection({ ...beside, settings: () => context().settings, stores, signal, versions: memory })
    return {
      warm: (_, binary: string | undefined) => inspection.versionOf(binary).then(() => null),
      check: (stopped, candidate: PreflightRequest) => inspection.checkCandidate(candidate, stopped),
      fallback: (_, candidate: PreflightRequest) => checkFallback(candidate, yaml, (fallback) => inspection.remarkOnFallback(fallback)),
      configz: (_, unit: KnownUnit) => inspection.readRunningConfig(unit),
      compare: (_, configz: unknown, unit: KnownUnit, path: string | undefined) =>
        inspection.compareConfigz(configz, unit, path ?? undefined),
      facts: () => readMachineFacts(),
      evaluate: async (_, computation: Computation) => new (await import('../cel/evaluator.ts')).Evaluator().evaluate(computation),
      timeZone: (_, ...asked: Parameters<typeof answerTimeZone>) => answerTimeZone(...asked),
      forget: () => {
        inspection.forget()
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
