/** Every phase once: one that is missing, or that there is none of, does not compile. */
import type { Phase } from '../../src/decision/step.ts'

const ALL: Readonly<Record<Phase, true>> = {
  settled: true,
  'in-trial': true,
  'fallen-back': true,
  refused: true,
  preflight: true,
  drain: true,
  spread: true,
  rollout: true,
  paused: true,
  'kubelet-stopped': true,
  'runtime-down': true,
  restarting: true,
  'restart-limit': true,
  ineffective: true,
  blocked: true,
  'node-at-fault': true,
  unknown: true,
}

export const PHASES = Object.keys(ALL) as Phase[]
