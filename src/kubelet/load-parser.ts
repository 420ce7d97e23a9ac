/** Loads the YAML parser only for texts that need it: it takes memory. */
import { looksLikeJson, type YamlParser } from './decode.ts'

export async function loadParser(text: string): Promise<YamlParser> {
  if (looksLikeJson(text)) return () => ({ ok: false, detail: 'not read as YAML' })
  return (await import('./yaml.ts')).parseDocument
}
