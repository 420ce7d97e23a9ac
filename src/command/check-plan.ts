// SPDX-License-Identifier: Apache-2.0
/**
 * The plan of the rollout that a ConfigMap brings along, as part of the report of `validate`. With
 * a plan that cannot be used every node waits, and a window that the clocks skip does not open.
 */
import type { RolloutAnnotations } from '../decision/desired.ts'
import { ROLLOUT_OFF } from '../decision/staging.ts'
import { assembleReport, type Finding, type Report } from '../preflight/finding.ts'
import { parsePlan } from '../rollout/plan.ts'
import { findSkipped } from './plan-text.ts'

const OF_ALL = { reason: 'validate', path: [], position: undefined } as const

/** @param rollout undefined: the config is in no ConfigMap, or in one without a rollout */
export function checkPlan(report: Report, rollout: RolloutAnnotations | undefined, nowMs: number): Report {
  if (rollout?.plan === undefined || rollout.record === ROLLOUT_OFF) return report
  const findings = findFaults(rollout, nowMs)
  const isRefused = findings.some(({ severity }) => severity === 'refuse')
  const detail = isRefused ? 'every node would wait' : 'the plan of its rollout can be used'
  const part = { part: 'rollout', outcome: isRefused ? 'refused' : 'accepted', detail } as const
  return assembleReport([...report.parts, part], [...report.findings, ...findings])
}

function findFaults({ record, plan, excluded }: RolloutAnnotations, nowMs: number): readonly Finding[] {
  // Without the annotation that names the record, only nodes that know of a rollout would wait.
  const severity = record === undefined ? 'warn' : 'refuse'
  const unusable = (rule: string, problem: string): Finding => ({ rule, severity, ...OF_ALL, problem, advice: undefined })
  const parsed = parsePlan(plan, excluded)
  if (!parsed.ok) return [unusable('rollout/plan', parsed.problem)]
  const skipped = findSkipped(parsed.plan, nowMs)
  if (!skipped.ok) return [unusable('rollout/time-zone', skipped.detail)]
  return skipped.windows.map((window) => ({
    ...{ rule: 'rollout/window', severity: 'warn', ...OF_ALL },
    problem: `the window ${window} does not open: the clocks skip it`,
    advice: 'let the window begin earlier or end later, if nodes are to start that night',
  }))
}
