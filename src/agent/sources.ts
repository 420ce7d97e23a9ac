/** Comparing and wording config sources. A source is compared whole, as upstream does (`checkpoint.EqualRemoteConfigSources`). */
import type { Desired, FoundConfigMap } from './desired.ts'
import type { ConfigMapRef, ConfigMapSource, ConfigSource, HeldSource } from './model.ts'
import { LOCAL_CONTENT } from './model.ts'

export const LOCAL: HeldSource = { source: 'local', content: LOCAL_CONTENT }

export function sameRef(a: ConfigMapRef, b: ConfigMapRef): boolean {
  return a.namespace === b.namespace && a.name === b.name && a.kubeletConfigKey === b.kubeletConfigKey
}

export function sameSource(a: ConfigSource, b: ConfigSource): boolean {
  if (a === 'local' || b === 'local') return a === b
  return sameRef(a, b) && sameVersion(a, b)
}

/** The same checkpoint, or the same rendering of it, whichever of its keys kubelet reads. */
export function sameVersion(a: ConfigSource, b: ConfigSource): boolean {
  return a !== 'local' && b !== 'local' && a.uid === b.uid && a.resourceVersion === b.resourceVersion && a.overlay === b.overlay
}

/** The ConfigMap as it came, whatever this node lays over it. */
export function withoutOverlay({ overlay: _, ...source }: ConfigMapSource): ConfigMapSource {
  return source
}

/** undefined: the cluster has not said, or what it said has no version to name. */
export function resolveDesired(desired: Desired): ConfigSource | undefined {
  if (desired.kind === 'local') return 'local'
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  return sourceOf(desired.ref, desired.object)
}

export function sourceOf(ref: ConfigMapRef, { uid, resourceVersion, rendered }: FoundConfigMap): ConfigMapSource {
  return { ...ref, uid, resourceVersion, ...(rendered && { overlay: rendered.overlay }) }
}

/** For the log and for people: `local`, `kube-system/my-config:kubelet@212`, or `kube-system/my-config:kubelet@212+overlay-3f9a0c11`. */
export function describeSource(source: ConfigSource): string {
  if (source === 'local') return 'local'
  return `${source.namespace}/${source.name}:${source.kubeletConfigKey}@${describeVersion(source)}`
}

export function describeVersion({
  resourceVersion,
  overlay,
}: {
  readonly resourceVersion: string
  readonly overlay?: string | undefined
}): string {
  return overlay === undefined ? resourceVersion : `${resourceVersion}+overlay-${overlay.slice(0, SHOWN)}`
}

/** As much of a hash as people compare. */
const SHOWN = 8
