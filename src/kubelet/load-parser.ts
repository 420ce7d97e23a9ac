/** Loads the YAML parser only for texts that need it. */
import { looksLikeJson, type YamlParser } from './decode.ts'

/** The parser costs memory that only YAML is worth. */
export async function loadParser(text: string): Promise<YamlParser> {
  if (looksLikeJson(text)) return () => ({ ok: false, detail: 'not read as YAML' })
  return (await import('./yaml.ts')).parseDocument
}
