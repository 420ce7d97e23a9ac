// SPDX-License-Identifier: Apache-2.0
/**
 * The contents that the ConfigMaps of a storm have, and what becomes of each on a node. Pure: each
 * process makes the same texts for itself.
 */
import { payload } from '../world/objects.ts'

const HEALTHZ_PORT = 10_248

/**
 * `turned`: kubelet is well with it until the bench says otherwise, as where something outside that
 * it needs goes away.
 */
const CONTENT_NAMES = ['first', 'refused', 'turned', 'low', 'high'] as const
export type ContentName = (typeof CONTENT_NAMES)[number]

export function textOf(name: ContentName): string {
  return payload(CONTENT_NAMES.indexOf(name), HEALTHZ_PORT)
}
