/**
 * The checks around a change of the config: preflight before it, draining where a field requires
 * it, and afterwards a comparison with the config that kubelet reports. The rules
 * (`main-inspection.ts`) are loaded with the first config that is checked.
 */
import { setTimeout as after } from 'node:timers/promises'
import { findBasePath } from './decision/base-config.ts'
import type { ClientIdentity } from './kube/access.ts'
import type { Stores } from './main-stores.ts'
import type { ContainerRuntime } from './ports/container-runtime.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import type { DrainProbe } from './ports/probes.ts'
import { AgentPreflight } from './preflight/agent-preflight.ts'
import { EffectCheck } from './preflight/effect-check.ts'
import { checkFallback } from './preflight/fallback-check.ts'
import type { Counters } from './report/counters.ts'
import { toChangePolicy } from './settings/preflight-settings.ts'
import type { Settings } from './settings/settings.ts'
import { NodeDrain } from './source/drain.ts'

export interface PreflightWorld {
  /** Some of them change while the agent runs. */
  readonly settings: () => Settings
  readonly stores: Stores
  readonly runtime: ContainerRuntime
  readonly nodeName: string
  readonly kubeconfig: ClientIdentity
  /**
   * undefined: assignments come from a directory; what only the API server knows is not checked.
   */
  readonly api: KubeApi | undefined
  readonly counters: Pick<Counters, 'checked' | 'compared'>
  readonly log: Log
  /** Called when a check has a new result. */
  readonly onChange: () => void
  readonly signal: AbortSignal
}

export function openPreflight({ settings, stores, runtime, nodeName, kubeconfig, api, counters, log, onChange, signal }: PreflightWorld) {
  const { clock } = stores
  const configz = { kubeconfig, api: api ?? NO_SERVER, nodeName: () => nodeName }
  const inspection = lazily(async () =>
    (await import('./main-inspection.ts')).openInspection({ settings, stores, runtime, configz, signal }),
  )
  const preflight = new AgentPreflight({
    inspect: async (candidate, ended) => (await inspection()).checkCandidate(candidate, ended),
    decode: (candidate) => checkFallback(candidate, stores.yaml, async (fallback) => (await inspection()).remarkOnFallback(fallback)),
    settings: () => [toChangePolicy(settings()), settings().guardsOff, settings().preflight, settings().unknownFields],
    forget: () =>
      void inspection().then(
        ({ forget }) => forget(),
        () => {},
      ),
    onDone: onChange,
    onTimed: (seconds) => counters.checked(seconds),
    clock,
    sleep: (ms) => after(ms, undefined, { ref: false }),
  })
  const drain: DrainProbe = api === undefined ? { isDrained: () => undefined } : new NodeDrain(api, nodeName, clock, onChange)
  const effect =
    api &&
    new EffectCheck({
      ask: async (unit) => (await inspection()).readConfigz(unit),
      compare: async (...seen) => (await inspection()).compareConfigz(...seen),
      findPath: (unit, snapshot) => findBasePath(stores.checkpoints, unit, snapshot),
      onCompared: (differences) => counters.compared(differences),
      log,
      clock,
    })
  return { preflight, drain, effect }
}

/** Assignments come from a directory. */
const NO_SERVER: Pick<KubeApi, 'request'> = { request: async () => ({ kind: 'unreachable', detail: 'no API server is used' }) }

/**
 * Makes it once. After a failure the next call tries again: a package upgrade may have completed.
 */
function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}
