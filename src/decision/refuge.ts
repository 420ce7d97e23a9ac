// SPDX-License-Identifier: Apache-2.0
/**
 * Where kubelet goes while the config that it should run cannot be had, and whether its process
 * must end for that. Pure.
 */
import { sameSource } from '../subject/config-source.ts'
import type { ReadyWiring } from '../subject/unit-state.ts'
import type { Action } from './step.ts'
import type { Candidate, Target, TargetSituation } from './target.ts'
import { findVerdict, isOfFailure } from './verdict.ts'
import { failedLately } from './wait.ts'
import { failsNow } from './worth-keeping.ts'

/**
 * Activates the first config without a verdict that can be activated now, and is not in place
 * already: local has none here, whatever preflight said. The target itself only where it needs no
 * preflight: local, what runs, or last-known-good.
 */
export function findRefuge(situation: TargetSituation, wiring: ReadyWiring, next: Pick<Candidate, 'source'>): Action | undefined {
  const { snapshot, target, candidates } = situation
  const isKnown = target.source === 'local' || isRunning(situation) || target.content === snapshot.lastKnownGood.content
  const mayBe = ({ verdict, source, content }: Candidate) =>
    verdict === undefined && !sameSource(source, next.source) && (isKnown || content !== target.content)
  const refuges = candidates.filter(mayBe)
  const steps = refuges.map(({ source }) => ({ kind: 'activate', target: source, fallback: undefined, wiring }) as const)
  return steps.find((step) => !failedLately(snapshot, step))
}

/**
 * Whether the process must end although the target cannot be had. The running config was condemned,
 * or the target is a fallback, whose assigned config failed; and the target does not run already.
 * Or what runs hangs: nothing condemns that while another config, or another kubelet, starts next.
 */
export function mustLeaveProcess(situation: TargetSituation, next: Pick<Target, 'key'>): boolean {
  const { snapshot, unit, target } = situation
  const { running, health } = snapshot
  const hangs = running.kind === 'known' && running.key !== next.key && failsNow(snapshot)
  if (isRunning(situation)) return hangs && !target.atFault
  const content = running.kind === 'known' ? running.content : health?.lastProcess?.content
  return hangs || target.fallback || (content !== undefined && isOfFailure(findVerdict(snapshot, content, unit)))
}

export function isRunning({ snapshot: { running }, target }: TargetSituation): boolean {
  return running.kind === 'known' && running.content === target.content
}
