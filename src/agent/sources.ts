/** Comparing and wording config sources. A source is compared whole, as upstream does (`checkpoint.EqualRemoteConfigSources`). */
import type { Desired } from './desired.ts'
import type { ConfigMapRef, ConfigSource, HeldSource } from './model.ts'
import { LOCAL_CONTENT } from './model.ts'

export const LOCAL: HeldSource = { source: 'local', content: LOCAL_CONTENT }

export function sameRef(a: ConfigMapRef, b: ConfigMapRef): boolean {
  return a.namespace === b.namespace && a.name === b.name && a.kubeletConfigKey === b.kubeletConfigKey
}

export function sameSource(a: ConfigSource, b: ConfigSource): boolean {
  if (a === 'local' || b === 'local') return a === b
  return sameRef(a, b) && a.uid === b.uid && a.resourceVersion === b.resourceVersion
}

/** The same checkpoint, whichever of its keys kubelet reads. */
export function sameVersion(a: ConfigSource, b: ConfigSource): boolean {
  return a !== 'local' && b !== 'local' && a.uid === b.uid && a.resourceVersion === b.resourceVersion
}

/** undefined: the cluster has not said, or what it said has no version to name. */
export function resolveDesired(desired: Desired): ConfigSource | undefined {
  if (desired.kind === 'local') return 'local'
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  const { uid, resourceVersion } = desired.object
  return { ...desired.ref, uid, resourceVersion }
}

/** For the log and for people: `local`, or `kube-system/my-config:kubelet@212`. */
export function describeSource(source: ConfigSource): string {
  if (source === 'local') return 'local'
  return `${source.namespace}/${source.name}:${source.kubeletConfigKey}@${source.resourceVersion}`
}
