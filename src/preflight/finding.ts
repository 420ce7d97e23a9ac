/**
 * What preflight has to say of a candidate: findings, each about one place of the config, and the report they add up to. Data only. Every part of
 * preflight returns findings; nothing but the report decides what becomes of the candidate.
 */

import type { FieldPath } from '../kubelet/field-path.ts'

/** The rule of the findings that say what waits for a drained node. */
export const REQUIRE_DRAIN = 'policy/require-drain'

/** `refuse`: kubelet must not get it. `warn`: it works, but hardly as meant. `info`: good to know. */
export type Severity = 'refuse' | 'warn' | 'info'

/** Both from 1; columns count UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

export interface Finding {
  /** Which check speaks: stable, lower case, as in `fields/unknown-key`, `node/reserved-memory`, `policy/guarded`. */
  readonly rule: string
  readonly severity: Severity
  /** Which of the two error texts of the Node status a refusal shows: kubelet could not read it, or would not take it. */
  readonly reason: 'load' | 'validate'
  readonly path: FieldPath
  /** undefined: of the whole document, or of a field that is not there. */
  readonly position: Position | undefined
  /** What is wrong, in one line, without the value where it could be a secret. */
  readonly problem: string
  /** What to do about it, in one line. */
  readonly advice: string | undefined
}

/** What one part of preflight came to. `unjudged`: it could not tell, and the others decide. */
export interface PartResult {
  /** As in `kubelet`, `fields`, `node`, `change`. */
  readonly part: string
  readonly outcome: 'accepted' | 'refused' | 'unjudged'
  /** What it went by, or why it could not tell: `kubelet 1.20.2 loaded and validated it in 140 ms`. */
  readonly detail: string
}

export interface Report {
  readonly outcome: 'accepted' | 'refused' | 'unjudged'
  /** The most severe first, then in the order of the text. */
  readonly findings: readonly Finding[]
  readonly parts: readonly PartResult[]
}
