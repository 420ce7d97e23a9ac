/** Decodes the text of a KubeletConfiguration, with limits on what its YAML may cost. Pure. */
import { type Decoded, decodeConfig, looksLikeJson } from './decode.ts'
import type { YamlReader } from './yaml-document.ts'

export async function decodeText(text: string, yaml: Pick<YamlReader, 'first'>, signal?: AbortSignal): Promise<Decoded> {
  if (text.trim() === '' || looksLikeJson(text)) return decodeConfig(text, () => ({ ok: false, detail: 'not read as YAML' }))
  const parsed = await yaml.first(text, signal)
  return decodeConfig(text, () => parsed)
}
