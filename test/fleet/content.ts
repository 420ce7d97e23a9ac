// SPDX-License-Identifier: Apache-2.0
/**
 * Contents of a config, and what becomes of a node that starts one. What happens to a node follows
 * from its uid, so it is the same at each try.
 */
import { createHash } from 'node:crypto'
import { MINUTE_US, SECOND_US } from '../../src/values/durations.ts'

export interface Content {
  readonly hash: string
  readonly nature: Nature
}

export type Nature =
  | { readonly kind: 'good' }
  /** Kubelet fails with it, on this share of the nodes of this size, so long after its start. */
  | { readonly kind: 'fails'; readonly share: number; readonly afterUs: number; readonly size?: Size }
  /** The node never answers again. */
  | { readonly kind: 'kills'; readonly share: number; readonly afterUs: number }
  /**
   * The trial passes, and from then on the Node is NotReady: no evidence was asked for that tells.
   */
  | { readonly kind: 'sickens'; readonly share: number; readonly afterUs: number }

/** From a text that computes values, nodes of each size make another config. */
export const SIZES = ['small', 'medium', 'large'] as const
export type Size = (typeof SIZES)[number]

export function sizeOf(nodeUid: string): Size {
  return SIZES[Math.floor(shareOf(`size ${nodeUid}`) * SIZES.length)] ?? 'small'
}

type Fate = { readonly kind: 'works' } | { readonly kind: 'fails' | 'kills' | 'sickens'; readonly afterUs: number }

export const TRIAL_US = 10 * MINUTE_US
export const CLAIM_SECONDS = 900

export function contentOf(name: string, nature: Nature): Content {
  return { hash: createHash('sha256').update(name).digest('hex'), nature }
}

export function fateOf({ hash, nature }: Content, nodeUid: string): Fate {
  if (nature.kind === 'good') return { kind: 'works' }
  if (nature.kind === 'fails' && nature.size !== undefined && sizeOf(nodeUid) !== nature.size) return { kind: 'works' }
  return shareOf(`fate ${hash} ${nodeUid}`) < nature.share ? { kind: nature.kind, afterUs: nature.afterUs } : { kind: 'works' }
}

/** In [0, 1). */
export function shareOf(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48
}

export function describe({ hash, nature }: Content): string {
  const name = hash.slice(0, 8)
  if (nature.kind === 'good') return `${name} (good)`
  return `${name} (${nature.kind} on ${nature.share * 100} % after ${nature.afterUs / SECOND_US} s)`
}
