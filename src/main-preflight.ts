/**
 * The checks around a change of the config: preflight before it, draining where a field requires
 * it, and afterwards a comparison with the config that kubelet reports. The helper has the rules
 * (`main-inspection.ts`).
 */
import { setTimeout as after } from 'node:timers/promises'
import { findBasePath } from './decision/base-config.ts'
import type { Helper } from './helper/helper-process.ts'
import { isComparison, isConfigzAnswer, isNothing, isPreflightResult, isReport } from './helper/protocol.ts'
import type { Stores } from './main-stores.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import type { DrainProbe } from './ports/probes.ts'
import { AgentPreflight } from './preflight/agent-preflight.ts'
import { checkFallback } from './preflight/document.ts'
import { EffectCheck } from './preflight/effect-check.ts'
import type { Counters } from './report/counters.ts'
import { toChangePolicy } from './settings/preflight-settings.ts'
import type { Settings } from './settings/settings.ts'
import { NodeDrain } from './source/drain.ts'

export interface PreflightWorld {
  /** Some of them change while the agent runs. */
  readonly settings: () => Settings
  readonly stores: Stores
  readonly helper: Helper
  readonly nodeName: string
  /**
   * undefined: assignments come from a directory; what only the API server knows is not checked.
   */
  readonly api: KubeApi | undefined
  readonly counters: Pick<Counters, 'checked' | 'compared'>
  readonly log: Log
  /** Called when a check has a new result. */
  readonly onChange: () => void
  /** The agent ends. */
  readonly signal: AbortSignal
}

/** More than all stages of kubelet may take together. */
const CHECK_MS = 120_000
/** A fallback is decoded, at most with the limits of YAML. */
const FALLBACK_MS = 30_000
const CONFIGZ_MS = 30_000

export function openPreflight({ settings, stores, helper, nodeName, api, counters, log, onChange, signal }: PreflightWorld) {
  const { clock } = stores
  const preflight = new AgentPreflight({
    inspect: (candidate, ended) => helper.ask('check', [candidate], { check: isReport, limitMs: CHECK_MS, signal: ended }),
    // A fallback is not held up by a helper that fails: the agent itself decodes it.
    decode: (candidate) =>
      helper
        .ask('fallback', [candidate], { check: isPreflightResult, limitMs: FALLBACK_MS, signal })
        .catch(() => checkFallback(candidate, stores.yaml, async () => [])),
    settings: () => [toChangePolicy(settings()), settings().guardsOff, settings().preflight, settings().unknownFields],
    forget: () => void helper.ask('forget', [], { check: isNothing, limitMs: CHECK_MS, signal }).catch(() => {}),
    onDone: onChange,
    onTimed: (seconds) => counters.checked(seconds),
    clock,
    signal,
    sleep: (ms) => after(ms, undefined, { ref: false }),
  })
  const drain: DrainProbe =
    api === undefined ? { isDrained: () => undefined } : new NodeDrain({ api, nodeName, clock, random: Math.random, onChange })
  const effect =
    api &&
    new EffectCheck({
      ask: (unit) => helper.ask('configz', [unit], { check: isConfigzAnswer, limitMs: CONFIGZ_MS, signal }),
      compare: (...seen) => helper.ask('compare', seen, { check: isComparison, limitMs: CONFIGZ_MS, signal }),
      findPath: (unit, snapshot) => findBasePath(stores.checkpoints, unit, snapshot),
      onCompared: (differences) => counters.compared(differences),
      log,
      clock,
    })
  return { preflight, drain, effect }
}
