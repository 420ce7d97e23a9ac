/**
 * Compares the config that kubelet reports at /configz with the one that it was given, where
 * kubelet has drop-ins. Fields that only a drop-in sets are no differences. Pure.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { decides } from '../../kubelet/field-path.ts'
import { type Comparison, checkSame, type Difference } from '../change/check-same.ts'
import { compareConfigs } from '../change/compare.ts'
import type { KubeletFlags } from '../change/kubelet-flags.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import { EMPTY_LIST, findWinner } from './check-drop-ins.ts'
import type { DropInsHere } from './drop-ins.ts'
import { mergeAround, mergesByPatch } from './merge-drop-ins.ts'

export function compareRunning(
  assigned: KubeletConfig,
  dropIns: DropInsHere | undefined,
  configz: unknown,
  version: KubeletVersion | undefined,
  flags: KubeletFlags,
): Comparison {
  // A file that cannot be read now was changed after kubelet's start.
  if (dropIns?.kind !== 'usable' || !mergesByPatch(version)) return checkSame(assigned, configz, version, flags)
  const { order } = dropIns
  const merged = mergeAround(assigned, order, version)
  const comparison = checkSame(merged, configz, version, flags)
  if (!comparison.ok) return comparison
  const overridden = compareConfigs(assigned, merged, version)
    .filter(({ path, risk }) => risk !== 'none' && decides(assigned, path))
    .map(({ path, before, after }): Difference => {
      const because = findWinner(path, order.above)?.path ?? EMPTY_LIST
      return { path, meant: before, running: after, because }
    })
  return { ok: true, differences: [...comparison.differences, ...overridden] }
}
