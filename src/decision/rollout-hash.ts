/** The hash by which a rollout knows what a ConfigMap holds, with what is under it. Pure. */
import { hashConfig, type UnderPart } from '../rollout/config-hash.ts'
import type { FoundConfigMap } from './desired.ts'

export function hashObject({ data, base, bases }: Pick<FoundConfigMap, 'data' | 'base' | 'bases'>, key: string): string {
  if (base === undefined) return hashConfig(data, key)
  const under = (bases?.views ?? []).map(({ ref, object }): UnderPart => {
    if (object.kind !== 'found') return { base: undefined, text: undefined }
    const text = Object.hasOwn(object.data, ref.kubeletConfigKey) ? object.data[ref.kubeletConfigKey] : undefined
    return { base: object.base?.text, text }
  })
  return hashConfig(data, key, { base: base.text, under })
}
