/**
 * Applies a change policy to changes. Pure. `deny` overrides `allow`, and `allow` overrides the
 * base policy. A denied change is refused with the name of its rule. The order of patterns and
 * changes does not matter. `requireDrain` forbids nothing: it only makes a change wait for a
 * drained node.
 */

import type { FieldPath } from '../../kubelet/field-path.ts'
import { formatPath } from '../../kubelet/field-path.ts'
import type { Change } from '../change/change.ts'
import { rowAt } from '../change/field-rows.ts'
import { RISKS } from '../change/risk-classes.ts'
import type { ConfigDocument } from '../document.ts'
import type { Finding } from '../finding.ts'
import { locateNearest } from '../locate.ts'
import { isHarmless } from './harmless-fields.ts'
import { matchesPattern, mayMatchPattern, patternFor } from './patterns.ts'

/** All patterns pass `checkPattern`. */
export interface ChangePolicy {
  readonly base: BasePolicy
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly requireDrain: readonly string[]
}
export type BasePolicy = 'open' | 'guarded'

export interface PolicyVerdict {
  readonly findings: readonly Finding[]
  /** Without denied changes, in their order. */
  readonly requiresDrain: readonly FieldPath[]
}

export function checkPolicy(changes: readonly Change[], policy: ChangePolicy, document?: Pick<ConfigDocument, 'locate'>): PolicyVerdict {
  const findings: Finding[] = []
  const requiresDrain: FieldPath[] = []
  for (const each of changes) {
    const change = underPolicy(each, policy)
    const decision = decideChange(change, policy)
    if (decision.outcome === 'denied') findings.push(toFinding(change, decision, policy, document))
    else if (decision.outcome === 'drain') requiresDrain.push(change.path)
  }
  return { findings, requiresDrain }
}

export function restricts({ base, deny, requireDrain }: ChangePolicy): boolean {
  return base !== 'open' || deny.length > 0 || requireDrain.length > 0
}

/**
 * Local belongs to the administrator: no policy forbids it. Draining is for the pods, and where
 * nothing says what changes, it is not waited for.
 */
export function toLocalPolicy({ requireDrain }: ChangePolicy, basePath: string | undefined): ChangePolicy {
  return { base: 'open', allow: [], deny: [], requireDrain: basePath === undefined ? [] : requireDrain }
}

/**
 * A change as a policy takes it. Where one restricts, a field that no table has is of unknown risk:
 * that kubelet ignores it is only what the tables and the parser of this agent say.
 */
export function underPolicy(change: Change, policy: ChangePolicy): Change {
  return restricts(policy) && rowAt(change.path) === undefined ? { ...change, risk: 'unknown' } : change
}

/**
 * `rule` is such as `policy/deny[2]`, counted from 0; undefined: none matches. `pattern` is the
 * matching one; undefined: the field is not among those that the base policy allows.
 */
export type ChangeDecision =
  | { readonly outcome: 'allowed'; readonly rule: undefined }
  | { readonly outcome: 'denied' | 'drain'; readonly rule: string; readonly pattern: string | undefined }

export function decideChange(change: Pick<Change, 'path' | 'risk'>, { base, allow, deny, requireDrain }: ChangePolicy): ChangeDecision {
  const isAllowed = allow.some((pattern) => matchesPattern(pattern, change))
  const denied = deny.findIndex((pattern) => mayMatchPattern(pattern, change, isAllowed))
  if (denied >= 0) return { outcome: 'denied', rule: `policy/deny[${denied}]`, pattern: deny[denied] }
  if (base === 'guarded' && !isAllowed && !isHarmless(rowAt(change.path)?.name))
    return { outcome: 'denied', rule: 'policy/guarded', pattern: undefined }
  const drained = requireDrain.findIndex((pattern) => mayMatchPattern(pattern, change, false))
  if (drained >= 0) return { outcome: 'drain', rule: `policy/requireDrain[${drained}]`, pattern: requireDrain[drained] }
  return { outcome: 'allowed', rule: undefined }
}

function toFinding(
  change: Change,
  { rule, pattern }: Exclude<ChangeDecision, { outcome: 'allowed' }>,
  policy: ChangePolicy,
  document: Pick<ConfigDocument, 'locate'> | undefined,
): Finding {
  const { path, risk } = change
  const name = formatPath(path)
  const why = pattern === undefined ? 'the policy guarded does not allow it' : `denyChanges contains ${pattern}`
  const allowing = patternFor(change)
  const helps = decideChange(change, { ...policy, allow: [...policy.allow, allowing] }).outcome !== 'denied'
  const remedy = helps ? `add ${allowing === name ? 'it' : allowing} to allowChanges` : `remove ${pattern} from denyChanges`
  return {
    rule,
    severity: 'refuse',
    reason: 'validate',
    path,
    position: locateNearest(document, path),
    problem: `${name} must not change on this node: ${why}; ${RISKS[risk]}`,
    advice: `leave ${name} as it is, or ${remedy} in the agent's settings`,
  }
}
