// SPDX-License-Identifier: Apache-2.0
/** Runs `promtool test rules` on scenarios of one rule file. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const RULES = join(import.meta.dirname, '../../deploy/monitoring/rules.yaml')

/** A reason why promtool's tests cannot run here, or false. */
export const NO_PROMTOOL =
  spawnSync('promtool', ['--version']).error === undefined
    ? false
    : 'promtool is missing: apt-get install --no-install-recommends prometheus'

interface RuleTest {
  readonly name: string
  /** As in `1x20`: what promtool takes, a value a minute. */
  readonly series: Readonly<Record<string, string>>
  readonly alerts?: readonly ExpectedAlerts[]
  readonly expressions?: readonly ExpectedSamples[]
}

/** All alerts of that name that fire then. */
interface ExpectedAlerts {
  readonly at: string
  readonly name: string
  readonly alerts: readonly { readonly labels: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>> }[]
}

interface ExpectedSamples {
  readonly at: string
  readonly expression: string
  /** The names of series with their labels, and their values. */
  readonly samples: Readonly<Record<string, number>>
}

/** @returns what promtool found wrong. Empty: nothing */
export function testRules(directory: string, tests: readonly RuleTest[]): string {
  const file = join(directory, 'tests.json')
  const document = {
    rule_files: [RULES],
    evaluation_interval: '1m',
    tests: tests.map(({ name, series, alerts = [], expressions = [] }) => ({
      name,
      interval: '1m',
      input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
      alert_rule_test: alerts.map(({ at, name: alertname, alerts: expected }) => ({
        eval_time: at,
        alertname,
        exp_alerts: expected.map(({ labels, annotations }) => ({ exp_labels: labels, exp_annotations: annotations })),
      })),
      promql_expr_test: expressions.map(({ at, expression, samples }) => ({
        eval_time: at,
        expr: expression,
        exp_samples: Object.entries(samples).map(([labels, value]) => ({ labels, value })),
      })),
    })),
  }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(document, undefined, 1))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8', timeout: 600_000 })
  return status === 0 ? '' : `${stdout}\n${stderr}`
}
