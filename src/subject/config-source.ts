// SPDX-License-Identifier: Apache-2.0
/**
 * Where a kubelet's config comes from, as types, and how sources are compared and written in
 * messages. A source is compared whole, as upstream does (`checkpoint.EqualRemoteConfigSources`).
 *
 * Upstream's types: `NodeConfigSource` and `NodeConfigStatus`, Kubernetes 1.20
 * `k8s.io/api/core/v1`.
 */
import { anyOf, isText, oneOf, optional, shape, type TypeOf } from '../values/json-shape.ts'

/** A key of a ConfigMap, as `spec.configSource.configMap` of a Node names it: without a version. */
export const isConfigMapRef = shape({ namespace: isText, name: isText, kubeletConfigKey: isText })
export type ConfigMapRef = TypeOf<typeof isConfigMapRef>

/** One version of a ConfigMap key. `meta/assigned` holds it and the Node status reports it. */
export const isConfigMapSource = shape({
  ...isConfigMapRef.fields,
  uid: isText,
  /** Opaque: compared for equality, never ordered. */
  resourceVersion: isText,
  /**
   * Hash of the config that this node makes of this key, by merging a part over its base or its
   * overlay over either: each result is a version of its own. Absent: kubelet gets the ConfigMap's
   * own bytes.
   */
  overlay: optional(isText),
})
export type ConfigMapSource = TypeOf<typeof isConfigMapSource>

/** Where a kubelet's config comes from. `local` is what kubelet was provisioned with. */
export const isConfigSource = anyOf(oneOf('local'), isConfigMapSource)
export type ConfigSource = TypeOf<typeof isConfigSource>

/** `data` of a ConfigMap: file name to text. `binaryData` is ignored, as upstream does. */
export type ConfigMapData = Readonly<Record<string, string>>

/**
 * SHA-256 in hex of all files of a checkpoint and the key. For local it is LOCAL_CONTENT, whatever
 * the file holds, since the administrator owns that file. A content that cannot be hashed gets a
 * name with a tag, which equals no hash: the functions `name...` make one, and `is...` know it.
 */
export const isContentHash = isText
export type ContentHash = TypeOf<typeof isContentHash>

export const LOCAL_CONTENT: ContentHash = 'local'
const MISSING = 'missing:'
const OTHER = 'other:'

/**
 * Names the content of a process whose checkpoint was gone when it was first seen: the version on
 * its command line still says which content it is, once the checkpoint is there again.
 */
export function nameMissing({ uid, resourceVersion, overlay, kubeletConfigKey }: CheckpointFile): ContentHash {
  return `${MISSING}${[uid, resourceVersion, ...(overlay === undefined ? [] : [overlay]), kubeletConfigKey].join('/')}`
}

export function isMissing(content: ContentHash): boolean {
  return content.startsWith(MISSING)
}

/**
 * Names the content of a source whose checkpoint is lost, which may come back with other content.
 * Never that of a process, not even of one that was started from the same checkpoint.
 */
export function nameLost(source: ConfigSource): ContentHash {
  return `lost:${describeSource(source)}`
}

/**
 * Names the content of another key of a checkpoint whose files have this content: its hash has
 * changed with them, and is not known.
 */
export function nameOfKey(content: ContentHash, source: ConfigSource): ContentHash {
  return `${content}/${describeSource(source)}`
}

/**
 * Names the content of a config file that the agent replaces: it was changed after the process had
 * started.
 */
export function nameEarlier(invocationId: string): ContentHash {
  return `before:${invocationId}`
}

/**
 * Names the content of a config file that is neither local nor the agent's. undefined: kubelet was
 * given none.
 */
export function nameOther(configPath: string | undefined): ContentHash {
  return `${OTHER}${configPath ?? 'none'}`
}

/** An administrator started kubelet with it. */
export function isOther(content: ContentHash): boolean {
  return content.startsWith(OTHER)
}

/** A source together with what is on disk for it. */
export interface HeldSource {
  readonly source: ConfigSource
  /** undefined: the checkpoint is missing or incomplete. Local always has content. */
  readonly content: ContentHash | undefined
  /**
   * The disk does not return the checkpoint at present. It cannot be used, but it is not recorded
   * as lost.
   */
  readonly unreadable?: boolean
  /**
   * The checkpoint is gone. Kubelet starts with the file in place, which holds the content, but the
   * config can be no fallback.
   */
  readonly onlyInPlace?: boolean
}

export interface CheckpointInfo {
  readonly uid: string
  readonly resourceVersion: string
  /** Set for a checkpoint with an overlay. */
  readonly overlay?: string | undefined
  readonly savedAtMs: number
}

/** The parts of a source that name a file on disk. */
export type CheckpointFile = Pick<ConfigMapSource, 'uid' | 'resourceVersion' | 'kubeletConfigKey' | 'overlay'>

export const LOCAL: HeldSource = { source: 'local', content: LOCAL_CONTENT }

export function sameRef(a: ConfigMapRef, b: ConfigMapRef): boolean {
  return a.namespace === b.namespace && a.name === b.name && a.kubeletConfigKey === b.kubeletConfigKey
}

export function sameSource(a: ConfigSource, b: ConfigSource): boolean {
  if (a === 'local' || b === 'local') return a === b
  return sameRef(a, b) && sameVersion(a, b)
}

type Version = Pick<ConfigMapSource, 'uid' | 'resourceVersion' | 'overlay'>

/** The same checkpoint, whichever of its keys kubelet reads. */
export function sameVersion(a: 'local' | Version, b: 'local' | Version): boolean {
  return a !== 'local' && b !== 'local' && a.uid === b.uid && a.resourceVersion === b.resourceVersion && a.overlay === b.overlay
}

/** The ConfigMap as the cluster has it, without this node's overlay. */
export function withoutOverlay({ overlay: _, ...source }: ConfigMapSource): ConfigMapSource {
  return source
}

/**
 * For logs and messages: `local`, `kube-system/my-config:kubelet@212`, or
 * `kube-system/my-config:kubelet@212+merged-3f9a0c11`.
 */
export function describeSource(source: ConfigSource): string {
  if (source === 'local') return 'local'
  return `${describeRef(source)}@${describeVersion(source)}`
}

/** `kube-system/my-config:kubelet`: a ConfigMap key without a version. */
export function describeRef({ namespace, name, kubeletConfigKey }: ConfigMapRef): string {
  return `${namespace}/${name}:${kubeletConfigKey}`
}

export function describeVersion({
  resourceVersion,
  overlay,
}: {
  readonly resourceVersion: string
  readonly overlay?: string | undefined
}): string {
  return overlay === undefined ? resourceVersion : `${resourceVersion}+merged-${overlay.slice(0, SHOWN)}`
}

/** How many characters of a hash messages show. */
const SHOWN = 8
