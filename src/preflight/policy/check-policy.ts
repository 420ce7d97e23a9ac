/**
 * Applies a change policy to changes. Pure. `deny` overrides `allow`, and `allow` overrides the
 * base policy. A denied change is refused with the name of its rule. The order of patterns and
 * changes does not matter. `requireDrain` forbids nothing: it only makes a change wait for a
 * drained node.
 */

import type { FieldPath } from '../../kubelet/field-path.ts'
import { formatPath } from '../../kubelet/field-path.ts'
import type { Change } from '../change/change.ts'
import { RISKS } from '../change/risk-classes.ts'
import type { ConfigDocument } from '../document.ts'
import type { Finding } from '../finding.ts'
import { locateNearest } from '../locate.ts'
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

/** Fields that can give control of the node to others, or cut it off. */
export const GUARDED: readonly string[] = [
  'staticPodPath',
  'staticPodURL',
  'staticPodURLHeader',
  'authentication',
  'authorization',
  'tls*',
  'address',
  'port',
  'providerID',
  'class:can-cut-api',
  'class:reboot',
]

export function checkPolicy(changes: readonly Change[], policy: ChangePolicy, document?: Pick<ConfigDocument, 'locate'>): PolicyVerdict {
  const findings: Finding[] = []
  const requiresDrain: FieldPath[] = []
  for (const change of changes) {
    const decision = decideChange(change, policy)
    if (decision.outcome === 'denied') findings.push(toFinding(change, decision, document))
    else if (decision.outcome === 'drain') requiresDrain.push(change.path)
  }
  return { findings, requiresDrain }
}

/**
 * `rule` is such as `policy/deny[2]`, counted from 0; undefined: none matches. `pattern` is the
 * matching one.
 */
export type ChangeDecision =
  | { readonly outcome: 'allowed'; readonly rule: undefined }
  | { readonly outcome: 'denied' | 'drain'; readonly rule: string; readonly pattern: string }

export function decideChange(change: Pick<Change, 'path' | 'risk'>, { base, allow, deny, requireDrain }: ChangePolicy): ChangeDecision {
  const applies = (pattern: string) => mayMatchPattern(pattern, change)
  const denied = deny.findIndex(applies)
  if (denied >= 0) return { outcome: 'denied', rule: `policy/deny[${denied}]`, pattern: deny[denied] ?? '' }
  const guarded = base === 'guarded' ? GUARDED.find(applies) : undefined
  if (guarded !== undefined && !allow.some((pattern) => matchesPattern(pattern, change)))
    return { outcome: 'denied', rule: 'policy/guarded', pattern: guarded }
  const drained = requireDrain.findIndex(applies)
  if (drained >= 0) return { outcome: 'drain', rule: `policy/requireDrain[${drained}]`, pattern: requireDrain[drained] ?? '' }
  return { outcome: 'allowed', rule: undefined }
}

function toFinding(
  { path, risk }: Change,
  { rule, pattern }: Exclude<ChangeDecision, { outcome: 'allowed' }>,
  document: Pick<ConfigDocument, 'locate'> | undefined,
): Finding {
  const name = formatPath(path)
  const allowing = patternFor({ path, risk })
  const guarded = rule === 'policy/guarded'
  return {
    rule,
    severity: 'refuse',
    reason: 'validate',
    path,
    position: locateNearest(document, path),
    problem: `${name} must not change on this node: ${guarded ? 'the policy guarded' : 'denyChanges'} contains ${pattern}; ${RISKS[risk]}`,
    advice: guarded
      ? `leave ${name} as it is, or add ${allowing === name ? 'it' : allowing} to allowChanges in the agent's settings`
      : `leave ${name} as it is, or remove ${pattern} from denyChanges in the agent's settings`,
  }
}
