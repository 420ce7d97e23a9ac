// SPDX-License-Identifier: Apache-2.0
/**
 * The config that a ConfigMap makes, as far as the cluster knows it: a part is merged over its
 * bases, and where the last of them is the local config of each node, over an empty one. Pure but
 * for what is passed in.
 */

import { BASE_ANNOTATION } from '../../decision/channels.ts'
import type { Base, FoundConfigMap } from '../../decision/desired.ts'
import { evaluateIn } from '../../helper/evaluate-in.ts'
import { mergeOnce } from '../../overlay/apply.ts'
import { type Evaluate, mayCompute } from '../../overlay/computed.ts'
import { readBases } from '../../source/base-chain.ts'
import { readBase, readRollout } from '../../source/channels/metadata.ts'
import { readConfigMapOnce } from '../../source/read-once.ts'
import type { ConfigMapData } from '../../subject/config-source.ts'
import type { NodeShown } from '../../subject/node-shown.ts'
import { EMPTY_LOCAL } from '../open-part.ts'
import type { PluginContext } from './command.ts'
import { type ConfigName, sameName } from './config-index.ts'
import type { ConfigContent } from './config-maps.ts'

export const KEY = 'kubelet'

export type MergedText =
  /** `data`: with the other keys. `isPartial`: each node's local config adds to it. */
  | { readonly ok: true; readonly text: string; readonly data: ConfigMapData; readonly isPartial: boolean }
  | { readonly ok: false; readonly detail: string }

/** A ConfigMap as if it held this. */
export interface Supposed extends ConfigName {
  readonly content: ConfigContent
  /** The other annotations of the ConfigMap. */
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * @param supposed is read in place of the ConfigMap of that name, where that is a base
 * @param node that values are computed from. undefined: they are left to each node
 */
export async function mergeText(
  context: PluginContext,
  { data, base: annotation }: ConfigContent,
  supposed?: Supposed,
  node?: NodeShown,
): Promise<MergedText> {
  const { api, yaml, namespace, helper, monotonicUs, signal } = context
  const own = Object.hasOwn(data, KEY) ? data[KEY] : undefined
  if (own === undefined) return { ok: false, detail: `there is no key ${KEY}` }
  if (annotation === undefined && !mayCompute(own)) return { ok: true, text: own, data, isPartial: false }
  const base = baseOf(annotation)
  if (base?.kind === 'invalid' || (annotation !== undefined && base === undefined))
    return { ok: false, detail: base?.detail ?? 'the base cannot be read' }
  const found: FoundConfigMap = { kind: 'found', uid: '', resourceVersion: '', data, ...(base && { base }) }
  const ref = { namespace, name: '', kubeletConfigKey: KEY }
  const whole = await readBases({ ref }, found, async (under) =>
    supposed !== undefined && sameName(supposed, under) ? viewSupposed(supposed) : readConfigMapOnce(api, under),
  )
  let isPartial = false
  const readLocalConfig = async () => {
    isPartial = true
    return EMPTY_LOCAL
  }
  const evaluateHere = evaluateIn(helper, node, { nowMs: () => monotonicUs() / 1000, signal })
  const evaluate: Evaluate = async (expressions) => {
    isPartial ||= node === undefined
    return evaluateHere(expressions)
  }
  const merged = await mergeOnce({ ...whole, base }, KEY, { readLocalConfig, yaml, evaluate })
  if (!merged.ok) return merged
  const { data: files } = merged.rendered
  return { ok: true, text: files[KEY] ?? '', data: files, isPartial }
}

function baseOf(annotation: string | undefined): Base | undefined {
  return annotation === undefined ? undefined : readBase({ metadata: { annotations: { [BASE_ANNOTATION]: annotation } } })
}

function viewSupposed({ content, annotations }: Supposed): FoundConfigMap {
  const [base, rollout] = [baseOf(content.base), readRollout({ metadata: { annotations } })]
  return { kind: 'found', uid: '', resourceVersion: '', data: content.data, ...(base && { base }), ...(rollout && { rollout }) }
}
