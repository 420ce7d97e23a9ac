// SPDX-License-Identifier: Apache-2.0
/**
 * The verdict of a new kubelet on the configs that a node holds: which it refuses, which fields it
 * ignores, and which config the node would fall back to. Pure.
 */

import { formatPath } from '../kubelet/field-path.ts'
import type { Finding, Report } from '../preflight/finding.ts'
import { assembleReport } from '../preflight/finding.ts'
import { EXIT, type ExitCode } from './command.ts'

/** In the order in which a node falls back. `left`: what a return to local left. */
const FALLBACKS = ['last-known-good', 'previous', 'left', 'local'] as const
export type ConfigRole = 'assigned' | 'active' | (typeof FALLBACKS)[number]

export interface JudgedConfig {
  readonly name: string
  /** In the order of the type. */
  readonly roles: readonly ConfigRole[]
  /** undefined: the config cannot be read. */
  readonly text: string | undefined
  readonly report: Report
}

export interface UpgradeJudgement {
  readonly outcome: Report['outcome']
  readonly configs: readonly JudgedConfig[]
  /**
   * The config that the node would fall back to where the new kubelet refuses the assigned one.
   * undefined: it does not refuse that, or it refuses everything.
   */
  readonly fallback: string | undefined
}

export const EXIT_OF: Readonly<Record<Report['outcome'], ExitCode>> = { accepted: EXIT.fine, refused: EXIT.failed, unjudged: EXIT.usage }

/** One config that is refused decides, and then one that could not be checked. */
export function worstOf(outcomes: readonly Report['outcome'][]): Report['outcome'] {
  return (['refused', 'unjudged'] as const).find((each) => outcomes.includes(each)) ?? 'accepted'
}

export function judgeUpgrade(configs: readonly JudgedConfig[]): UpgradeJudgement {
  const outcome = worstOf(configs.map(({ report }) => report.outcome))
  const wanted = configs.find(({ roles }) => roles.includes('assigned')) ?? configs.find(({ roles }) => roles.includes('active'))
  const order = FALLBACKS.flatMap((role) => configs.filter(({ roles }) => roles.includes(role)))
  const fallback = order.find(({ report }) => report.outcome === 'accepted')
  return { outcome, configs, fallback: wanted?.report.outcome === 'refused' ? fallback?.name : undefined }
}

/**
 * Whether a config changes the node, whether the node's policy lets it, and which drop-ins win over
 * it or are skipped, has nothing to do with the kubelet that reads it.
 */
export function withoutChanges({ parts, findings }: Report, demanded: readonly string[]): Report {
  const kept = findings.filter(({ rule }) => !/^(?:change|policy)\/|^drop-ins\/(?:overridden|no-effect|skipped)$/.test(rule))
  const isRead = (part: string) => part !== 'change' && (part !== 'drop-ins' || kept.some(({ rule }) => rule.startsWith('drop-ins/')))
  return assembleReport(
    parts.filter(({ part }) => isRead(part)),
    kept,
    demanded,
  )
}

const IGNORED: readonly string[] = ['fields/unknown-key', 'fields/gone', 'fields/too-new']

/** The fields that this kubelet does not read. */
export function listIgnored({ findings }: Report): readonly string[] {
  return findings.filter(({ rule, path }) => IGNORED.includes(rule) && path.length > 0).map(({ path }) => formatPath(path))
}

/**
 * Which findings to show of one report after another. The gates that turned are mostly the same for
 * all configs: each list of them is shown once.
 */
export function showGatesOnce(): (report: Report) => Report {
  const seen = new Set<string>()
  const isNew = ({ rule, problem }: Finding) => rule !== 'meaning/gate' || (!seen.has(problem) && seen.add(problem) !== undefined)
  return (report) => ({ ...report, findings: report.findings.filter(isNew) })
}
