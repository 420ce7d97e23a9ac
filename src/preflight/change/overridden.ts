/**
 * Finds changes without effect because a kubelet flag overrides the field. Pure. Rule:
 * `kubeletConfigFlagPrecedence`, cmd/kubelet/app/server.go: kubelet parses its flags again over the
 * config; of `featureGates` only the gates that the flag names.
 */

import { type FieldPath, formatPath } from '../../kubelet/field-path.ts'
import type { ConfigDocument } from '../document.ts'
import type { Finding } from '../finding.ts'
import { locateNearest } from '../locate.ts'
import type { Change } from './change.ts'
import { rowAt } from './field-rows.ts'
import type { KubeletFlags } from './kubelet-flags.ts'

export function findOverridden(changes: readonly Change[], flags: KubeletFlags, document?: Pick<ConfigDocument, 'locate'>): Finding[] {
  const findings = new Map<string, Finding>()
  for (const { path, risk } of changes) {
    const flag = risk === 'none' ? undefined : overridingFlag(path, flags)
    if (flag === undefined) continue
    const field = flag === 'feature-gates' ? path : path.slice(0, rowAt(path)?.name.split('.').length)
    const name = formatPath(field)
    if (findings.has(name)) continue
    findings.set(name, {
      rule: 'change/overridden-by-flag',
      severity: 'warn',
      reason: 'validate',
      path: field,
      position: locateNearest(document, field),
      problem: `changing ${name} has no effect: kubelet is started with --${flag}, which overrides it`,
      advice: `remove --${flag} from kubelet's flags, or leave ${name} as it is`,
    })
  }
  return [...findings.values()]
}

/** More are not worth their place in a record. */
const MOST_CHANGED = 200

/**
 * The fields whose change has an effect, with dots.
 *
 * @returns undefined: that is not known of all of them, or they are too many
 */
export function listEffective(changes: readonly Change[], flags: KubeletFlags): readonly string[] | undefined {
  if (changes.length > MOST_CHANGED || changes.some(({ risk }) => risk === 'unknown')) return undefined
  const effective = changes.filter(({ path, risk }) => risk !== 'none' && overridingFlag(path, flags) === undefined)
  return effective.map(({ path }) => path.join('.'))
}

/** Without dashes. undefined: no flag does. */
export function overridingFlag(path: FieldPath, flags: KubeletFlags): string | undefined {
  const flag = rowAt(path)?.row.flag
  const given = flag === undefined ? undefined : flags.get(flag)
  if (flag === undefined || given === undefined) return undefined
  if (flag !== 'feature-gates') return flag
  const named = given.flatMap((list) => list.split(',')).map((pair) => pair.split('=')[0]?.trim())
  return path.length < 2 || named.includes(String(path[1])) ? flag : undefined
}
