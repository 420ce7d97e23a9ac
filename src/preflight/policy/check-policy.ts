/**
 * What a policy says to changes. Pure. A line of `deny` wins over one of `allow`, and that wins over the base policy: who denies means it, and who allows
 * makes an exception from the base. What is denied is refused by the name of its rule; the order of lines and of changes means nothing. `requireDrain`
 * forbids nothing, it only says what has to happen first.
 */
import type { Change } from '../change/change.ts'
import { locateNearest } from '../change/locate.ts'
import { RISKS } from '../change/risk-classes.ts'
import type { ConfigDocument } from '../document.ts'
import { formatPath } from '../field-path.ts'
import type { FieldPath, Finding } from '../finding.ts'
import { matchesPattern } from './patterns.ts'

/** All patterns are such as `checkPattern` lets pass. */
export interface ChangePolicy {
  readonly base: BasePolicy
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly requireDrain: readonly string[]
}
export type BasePolicy = 'open' | 'guarded'

export interface PolicyVerdict {
  readonly findings: readonly Finding[]
  /** Of changes that are not denied, in their order. */
  readonly requiresDrain: readonly FieldPath[]
}

/** What can hand the node to somebody else, or cut it off. */
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
    const denial = findDenial(change, policy)
    if (denial !== undefined) findings.push(toFinding(change, denial, document))
    else if (policy.requireDrain.some((pattern) => matchesPattern(pattern, change))) requiresDrain.push(change.path)
  }
  return { findings, requiresDrain }
}

interface Denial {
  /** As in `policy/deny[2]`, counted from 0. */
  readonly rule: string
  readonly pattern: string
}

function findDenial(change: Change, { base, allow, deny }: ChangePolicy): Denial | undefined {
  const matches = (pattern: string) => matchesPattern(pattern, change)
  const line = deny.findIndex(matches)
  if (line >= 0) return { rule: `policy/deny[${line}]`, pattern: deny[line] ?? '' }
  const guarded = base === 'guarded' ? GUARDED.find(matches) : undefined
  return guarded === undefined || allow.some(matches) ? undefined : { rule: 'policy/guarded', pattern: guarded }
}

function toFinding({ path, risk }: Change, { rule, pattern }: Denial, document: Pick<ConfigDocument, 'locate'> | undefined): Finding {
  const name = formatPath(path)
  const guarded = rule === 'policy/guarded'
  return {
    rule,
    severity: 'refuse',
    reason: 'validate',
    path,
    position: locateNearest(document, path),
    problem: `${name} must not change on this node: ${guarded ? 'the policy guarded' : 'denyChanges'} has ${pattern}; ${RISKS[risk]}`,
    advice: guarded
      ? `leave ${name} as it is, or name it in allowChanges of the agent's settings`
      : `leave ${name} as it is, or take ${pattern} out of denyChanges of the agent's settings`,
  }
}
