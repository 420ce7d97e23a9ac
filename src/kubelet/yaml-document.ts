/** Results of parsing YAML, and what parses a text that comes from outside. Types only. */
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
  /** Kubelet may take the text, and read another value from it. */
  readonly unjudged?: true | undefined
}

export type LocatedReading = ({ readonly ok: true } & LocatedYaml) | YamlFailure
export type DocumentsReading = { readonly ok: true; readonly documents: readonly YamlDocument[] } | YamlFailure

/**
 * Parses what others wrote, with limits of time and memory. A text that exceeds them gets a failure
 * that says so. Rejects only where the text is not at fault, so that a later call may work.
 * Adapter: `bounded-yaml.ts`.
 */
export interface YamlReader {
  /** The first document of a text that kubelet reads too: only what both take alike. */
  first(text: string, signal?: AbortSignal): Promise<LocatedReading>
  /** The first document of any YAML, for a text of which kubelet gets at most what is rendered. */
  firstOfAny(text: string, signal?: AbortSignal): Promise<LocatedReading>
  /** All documents of any YAML that are not empty. */
  all(text: string, signal?: AbortSignal): Promise<DocumentsReading>
}
