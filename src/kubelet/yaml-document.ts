/** Results of `yaml.ts`. Types only. */
import type { FieldPath } from './field-path.ts'
import type { Position } from './text-position.ts'

export interface YamlDocument {
  readonly value: unknown
  /** Duplicate keys, which kubelet silently accepts. */
  readonly remarks: readonly string[]
}

export interface LocatedYaml extends YamlDocument {
  readonly repeated: readonly { readonly path: FieldPath; readonly position: Position }[]
  /** Position of the key at this path, or of a list's item. */
  locate(path: FieldPath): Position | undefined
}

export interface YamlFailure {
  readonly ok: false
  /** With line and column if known; never with the text itself, which may hold a secret. */
  readonly detail: string
  readonly position: Position | undefined
}
