/** The annotation that makes a ConfigMap a part, and names what the part is merged over. Pure. */
import { BASE_ANNOTATION } from '../../decision/channels.ts'
import type { Base } from '../../decision/desired.ts'
import { quote } from '../../values/kubernetes-names.ts'
import { readConfigMapName } from './config-map-name.ts'
import { metadataOf } from './metadata.ts'

/** @returns undefined: the ConfigMap holds a whole config */
export function readBase(configMap: unknown): Base | undefined {
  const metadata = metadataOf(configMap)
  // A part must never count as a whole config, so what cannot be read is not "no annotation".
  if (metadata === undefined) return { kind: 'invalid', text: '', detail: 'labels or annotations of the ConfigMap are not maps of strings' }
  const text = metadata.annotations[BASE_ANNOTATION]
  if (text === undefined) return undefined
  if (text === 'local') return { kind: 'local', text }
  const reading = readConfigMapName(text)
  if (reading.ok) {
    const { namespace, name, key } = reading
    return { kind: 'config-map', text, ref: { namespace, name, kubeletConfigKey: key } }
  }
  const detail = `annotation ${BASE_ANNOTATION} of the ConfigMap: ${quote(text)} is neither local nor NAMESPACE/NAME[:KEY]`
  return { kind: 'invalid', text, detail }
}
