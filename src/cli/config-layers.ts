/**
 * The layers of the config that a command works on. Pure but for the readers that are passed in.
 */
import type { Desired } from '../decision/desired.ts'
import { nameConfigMap } from '../overlay/find-bases.ts'
import { type ConfigLayer, findLayer, listLayers } from '../overlay/list-layers.ts'
import type { MergedObject, MergeReaders } from '../overlay/merge-once.ts'
import type { OverlayView } from '../overlay/view.ts'
import type { Report } from '../preflight/finding.ts'
import type { CommandContext } from './command.ts'

const NO_OVERLAY: OverlayView = { kind: 'none' }

/** @param overlay undefined: it is not applied */
export async function readLayers(
  config: { readonly name: string; readonly key: string },
  object: MergedObject,
  overlay: OverlayView | undefined,
  { readLocalConfig, yaml }: MergeReaders,
): Promise<readonly ConfigLayer[]> {
  const local = object.base === undefined ? undefined : await readLocalConfig()
  return listLayers({ ...config, object, local, overlay: overlay ?? NO_OVERLAY }, yaml)
}

export async function readDesiredLayers(
  desired: Desired | undefined,
  context: Pick<CommandContext, 'readOverlay'> & MergeReaders,
): Promise<readonly ConfigLayer[]> {
  if (desired?.kind !== 'config-map' || desired.object.kind !== 'found') return []
  const { ref, object } = desired
  return readLayers({ name: nameConfigMap(ref), key: ref.kubeletConfigKey }, object, await context.readOverlay(), context)
}

/** The report, whose findings say which layer their field comes from. */
export function nameLayersIn(report: Report, layers: readonly ConfigLayer[]): Report {
  const findings = report.findings.map((finding) => {
    const layer = finding.path.length === 0 ? undefined : findLayer(layers, finding.path)
    return layer === undefined ? finding : { ...finding, layer }
  })
  return { ...report, findings }
}
