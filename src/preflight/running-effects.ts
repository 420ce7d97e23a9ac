// SPDX-License-Identifier: Apache-2.0
/**
 * For `check`: the parts of the config that kubelet runs which have no effect on this node,
 * although nothing refuses them. Pure.
 */
import { collectFlags } from './change/kubelet-flags.ts'
import type { RunningKubelet } from './configz/ask-configz.ts'
import { wordSkipped } from './drop-ins/check-drop-ins.ts'
import type { DropInsHere } from './drop-ins/read-drop-ins.ts'
import { describeShutdown } from './node/check-shutdown.ts'
import { NodeView } from './node/node-view.ts'
import { NOTHING_NEEDED, type SurroundingNeeds, type Surroundings } from './node/surroundings.ts'

export interface RunningEffects {
  /** Why no shutdown waits for pods, and what to do. undefined: it does, or is not to. */
  readonly shutdown: string | undefined
  /** Files that kubelet does not read, and what to do. */
  readonly skipped: readonly string[]
  /** Somebody has to approve its serving certificate. */
  readonly asksForCertificate: boolean
}

export const EFFECT_NEEDS: SurroundingNeeds = { ...NOTHING_NEEDED, logind: true }

export function describeEffects(
  { unit, config, version }: RunningKubelet,
  dropIns: DropInsHere | undefined,
  found: Surroundings,
): RunningEffects {
  const flags = collectFlags(unit.command?.words ?? [])
  const view = config && new NodeView(config, { version, flags, folder: '/', files: [] })
  const skipped = dropIns?.kind === 'usable' ? (dropIns.skipped ?? []) : []
  return {
    shutdown: view && describeShutdown(view, found),
    skipped: skipped.map(wordSkipped).map(({ problem, advice }) => `${problem}; ${advice}`),
    asksForCertificate: view?.is('serverTLSBootstrap') === true,
  }
}
