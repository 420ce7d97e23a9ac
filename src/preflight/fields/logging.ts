/**
 * Rules about logging, which kubelet shares with other components. Pure. Sources: `Validate` and
 * `addFlags`, k8s.io/component-base/logs/api/v1/options.go, from 1.25 on. Before that
 * k8s.io/component-base/logs/validate.go had `ValidateLoggingConfiguration`.
 */

import { valueAt } from '../../kubelet/field-path.ts'
import { parseQuantity } from '../../kubelet/quantity.ts'
import { isObject } from '../../values/is-object.ts'
import { type FieldProblem, type FieldRuleInput, quote } from './complaint.ts'
import { durationOf, listOf, textOf } from './values.ts'

/** klog takes only an int32 that is not negative. */
const MOST_VERBOSE = 2 ** 31 - 1

export function checkLogging({ config, gate }: FieldRuleInput): FieldProblem[] {
  const { logging } = config
  if (!isObject(logging)) return []
  return [
    ...checkUnit(logging.flushFrequency),
    ...checkFlushing(logging.flushFrequency),
    ...checkVerbosity(logging.verbosity),
    ...checkModules(logging.vmodule, textOf(logging.format)),
    ...checkFormat(textOf(logging.format), gate),
    ...checkOutput(config, 'text', 30, gate),
    ...checkOutput(config, 'json', 25, gate),
  ]
}

/** A duration with a unit came later than the field: it was a number of nanoseconds at first. */
function checkUnit(value: unknown): FieldProblem[] {
  if (typeof value !== 'string') return []
  const problem = 'logging.flushFrequency must be a number of nanoseconds: only kubelet 1.28 and later read a unit'
  return [{ rule: 'type', path: ['logging', 'flushFrequency'], problem, reason: 'load', from: 23, to: 27 }]
}

/** Zero means the default. Kubelet panics up to 1.34; 1.24 and earlier take only the flag. */
function checkFlushing(value: unknown): FieldProblem[] {
  if (!(typeof value === 'number' ? value < 0 : durationOf(value, 0n) < 0n)) return []
  return [{ rule: 'range', path: ['logging', 'flushFrequency'], problem: 'logging.flushFrequency must be greater than zero', from: 25 }]
}

function checkVerbosity(value: unknown): FieldProblem[] {
  if (typeof value !== 'number' || value <= MOST_VERBOSE) return []
  return [{ rule: 'range', path: ['logging', 'verbosity'], problem: `logging.verbosity must be <= ${MOST_VERBOSE}`, from: 23 }]
}

function checkModules(value: unknown, format: string): FieldProblem[] {
  const modules = listOf(value)
  const complaints: FieldProblem[] = []
  if (modules.length > 0 && format !== '' && format !== 'text')
    complaints.push({
      rule: 'cross',
      path: ['logging', 'vmodule'],
      problem: 'logging.vmodule is only supported for text log format',
      from: 23,
    })
  for (const [index, item] of modules.entries()) {
    if (!isObject(item)) continue
    const complain = (problem: string) => complaints.push({ rule: 'value', path: ['logging', 'vmodule', index], problem, from: 23 })
    const pattern = textOf(item.filePattern)
    if (pattern === '') complain('a file pattern must not be empty')
    if (/[=,]/.test(pattern)) complain(`file pattern ${quote(pattern)} must not contain equal sign or comma`)
    if (typeof item.verbosity === 'number' && item.verbosity > MOST_VERBOSE) complain(`its verbosity must be <= ${MOST_VERBOSE}`)
  }
  return complaints
}

function checkFormat(format: string, gate: FieldRuleInput['gate']): FieldProblem[] {
  if (format !== 'json' || gate('LoggingBetaOptions') !== false) return []
  const problem = 'log format json is disabled, see LoggingBetaOptions feature'
  return [{ rule: 'cross', path: ['logging', 'format'], problem, from: 25 }]
}

/**
 * The rule for `splitStream` never holds: before kubelet validates the config, its command line
 * sets the field to what the flag says, false unless it is there.
 */
function checkOutput(
  config: FieldRuleInput['config'],
  format: 'text' | 'json',
  from: number,
  gate: FieldRuleInput['gate'],
): FieldProblem[] {
  const path = ['logging', 'options', format, 'infoBufferSize']
  if (gate('LoggingAlphaOptions') !== false || !isNotZero(valueAt(config, path))) return []
  return [{ rule: 'cross', path, problem: `${path.join('.')} requires feature gate LoggingAlphaOptions`, from }]
}

function isNotZero(size: unknown): boolean {
  const amount = typeof size === 'string' || typeof size === 'number' ? parseQuantity(String(size)) : undefined
  return amount !== undefined && amount !== 0n
}
