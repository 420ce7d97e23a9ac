/** What reading YAML comes to. Types only; `yaml.ts` reads it. */
export interface YamlDocument {
  readonly value: unknown
  /** What kubelet takes without a word, and people want to hear of: equal keys. */
  readonly remarks: readonly string[]
}
/** Both from 1. */
export interface YamlPlace {
  readonly line: number
  readonly column: number
}
export interface LocatedYaml extends YamlDocument {
  readonly repeated: readonly { readonly path: YamlPath; readonly position: YamlPlace }[]
  /** Where the key of this path stands, or the item of a list. */
  locate(path: YamlPath): YamlPlace | undefined
}
export interface YamlFailure {
  readonly ok: false
  /** With line and column where they are known; never with the text itself, which may hold a secret. */
  readonly detail: string
  readonly position: YamlPlace | undefined
}
export type YamlPath = readonly (string | number)[]
