/**
 * Kubelet's unit as the next start of kubelet uses it. Pure. Preflight asks about the kubelet on
 * disk, and that one gets the flags that the unit has now: a person may have corrected them for an
 * upgrade while the process that runs has its earlier ones.
 */
import type { KnownUnit, KubeletCommand } from '../decision/unit-state.ts'
import type { TargetKubelet } from './inspection.ts'

export function asOfNextStart(unit: KnownUnit): KnownUnit {
  const { command } = unit
  if (command?.nextWords === undefined) return unit
  const { nextWords, ...others } = command
  return { ...unit, command: { ...others, words: nextWords } }
}

export function targetOf({ path, words, incomplete, ownEnvironment }: KubeletCommand): TargetKubelet {
  return { binary: path, flags: words, incomplete, ownEnvironment }
}
