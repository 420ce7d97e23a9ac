// SPDX-License-Identifier: Apache-2.0
/**
 * One agent as it ships, on a node that is simulated: its loop, decision, records, watches and
 * reports are those of src/, composed as in src/compose/agent.ts; its disk, kubelet and systemd are
 * those of the tests, in memory. Preflight answers as late as kubelet's own binary does. What a
 * trial proves is taken as proven, so the questions about that are not asked.
 */
import { setTimeout as after } from 'node:timers/promises'
import { Loop } from '../../src/agent/loop.ts'
import { paceBy, Waker } from '../../src/agent/waker.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { openReporting, type SharedParts } from '../../src/compose/agent-parts.ts'
import { AGENT_VERSION, openKubeApi } from '../../src/compose/kube-api.ts'
import type { Phase } from '../../src/decision/phases.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Log } from '../../src/ports/log.ts'
import { countRejections } from '../../src/report/counters.ts'
import { answerTimeZone } from '../../src/rollout/time-zone.ts'
import { type Settings, toPolicy } from '../../src/settings/settings.ts'
import { toChannelSettings } from '../../src/settings/source-settings.ts'
import { ClusterSource } from '../../src/source/cluster-source.ts'
import type { AskTimeZone } from '../../src/source/rollout/rollout-time.ts'
import { RolloutWorker } from '../../src/source/rollout/rollout-worker.ts'
import { CRASHES, SmallWorld } from '../../test/agent/small-world.ts'
import { viewOf } from '../fleet/cluster.ts'
import { textOf } from './contents.ts'
import { CountedApi, type Tally } from './counted-api.ts'
import { SlowPreflight } from './slow-preflight.ts'

/** How soon the agent hears that kubelet's process ended or began: by a signal of systemd. */
const HEARS_MS = 100

export interface StormAgent {
  /** Of its last wait. */
  phase(): Phase | undefined
  /** Kubelet exits, and again after each start with the same config. */
  turn(): void
}

interface AgentWorld {
  readonly nodeName: string
  readonly kubeconfig: string
  readonly settings: () => Settings
  readonly clock: Clock
  readonly tally: Tally
  readonly log: Log
}

export async function startStormAgent({ nodeName, kubeconfig, settings, clock, tally, log }: AgentWorld): Promise<StormAgent> {
  const api = new CountedApi(openKubeApi(viewOf(kubeconfig), { userAgent: `kubelet-cfg-agent/${AGENT_VERSION}` }), tally)
  const node = new SmallWorld({ nodeName })
  const passTime = (): void => node.advance(clock.now().monotonicUs - node.nowUs)
  passTime()
  const waker = new Waker()
  const wake = (): void => waker.wake()
  node.checks = new SlowPreflight(textOf('refused'), wake)
  const pace = paceBy(clock)
  // The reports take no other stores.
  const stores = { files: new DurableFiles(node.disk), clock } as SharedParts['stores']
  const { counters, history, publisher, reporter } = await openReporting({ settings, stores, nodeName, api, pace, log })
  const source = new ClusterSource({
    counters: { watchReconnected: counters.watchReconnected, synced: () => counters.synced(Date.now()) },
    ...{ nodeName, api, pace, log, channels: toChannelSettings(settings()) },
    onNode: (...seen) => publisher?.nodeObserved(...seen),
    ready: async () => publisher?.start(),
  })
  node.assignment = source
  const askTimeZone: AskTimeZone = async (...asked) => answerTimeZone(...asked)
  node.rollout = new RolloutWorker({ nodeName, api, pace, clock, log, store: node.runtime, askTimeZone, counters, onChange: wake })
  let phase: Phase | undefined
  const loop = new Loop({
    observation: { ...node.observationPorts(), policy: () => toPolicy(settings()), clock },
    effects: { ...node.effectPorts(), history: countRejections(history, counters), clock },
    observer: {
      decided(snapshot, step) {
        if (step.kind === 'wait') phase = step.phase
        reporter.decided(snapshot, step)
      },
      turned: (...seen) => reporter.turned(...seen),
    },
    log,
  })
  await new Promise<void>((resolve) =>
    source.start(() => {
      if (source.desired().kind === 'config-map') resolve()
      wake()
    }),
  )
  void turnForever()
  void listen()
  return {
    phase: () => phase,
    turn() {
      node.behaveWith(textOf('turned'), CRASHES)
      node.unit.kill()
    },
  }

  async function turnForever(): Promise<void> {
    const { signal } = new AbortController()
    for (;;) {
      passTime()
      const step = await loop.pass()
      if (step.kind === 'wait') await waker.sleepUntil(step.untilUs, clock, signal)
    }
  }

  async function listen(): Promise<void> {
    for (let heard = node.unit.state; ; await after(HEARS_MS)) {
      passTime()
      if (node.unit.state !== heard) wake()
      heard = node.unit.state
    }
  }
}
