/**
 * The curves for kubelet's server. Pure. Source: `TLSCurvePreferences`,
 * k8s.io/component-base/cli/flag/curves_flag.go, from 1.36 on, which takes what crypto/tls of Go
 * has a name for.
 */
import type { FieldProblem, FieldRuleInput } from './complaint.ts'
import { firstPlaces, listOf } from './values.ts'

/** P-256, P-384, P-521, X25519, and three with ML-KEM: those of Go 1.26. */
const CURVES = [23, 24, 25, 29, 4587, 4588, 4589]
const GREATEST = 65535

export function checkCurves({ config }: FieldRuleInput): FieldProblem[] {
  const ids = listOf(config.tlsCurvePreferences)
  const firsts = firstPlaces(ids)
  return ids.flatMap((id, index): FieldProblem[] => {
    if (typeof id !== 'number') return []
    const path = ['tlsCurvePreferences', index]
    const complain = (problem: string, byList = false): FieldProblem[] => [{ rule: 'value', path, problem, from: 36, byList }]
    if (id <= 0 || id > GREATEST) return complain(`curve preference ${id} is out of range (must be 1-${GREATEST})`)
    if (firsts.get(id) !== index) return complain(`duplicate curve preference ${id}`)
    if (CURVES.includes(id)) return []
    // A newer Go may know more curves.
    return complain(`curve preference ${id} is none of ${CURVES.join(', ')}`, true)
  })
}
