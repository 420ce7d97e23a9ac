/**
 * Rules about logging and tracing, which kubelet shares with other components. Pure. Sources:
 * `Validate`, k8s.io/component-base/logs/api/v1/options.go, from 1.25 on, and before that
 * `ValidateLoggingConfiguration`, k8s.io/component-base/logs/validate.go;
 * `ValidateTracingConfiguration`, k8s.io/component-base/tracing/api/v1/config.go.
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
    ...checkFlushing(logging.flushFrequency),
    ...checkVerbosity(logging.verbosity),
    ...checkModules(logging.vmodule, textOf(logging.format)),
    ...checkFormat(textOf(logging.format), gate),
    ...checkOutput(config, 'text', 30, gate),
    ...checkOutput(config, 'json', 25, gate),
  ]
}

/** Zero means the default. */
function checkFlushing(value: unknown): FieldProblem[] {
  if (!(typeof value === 'number' ? value < 0 : durationOf(value, 0n) < 0n)) return []
  return [{ rule: 'range', path: ['logging', 'flushFrequency'], problem: 'logging.flushFrequency must be greater than zero', from: 35 }]
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

function checkOutput(
  config: FieldRuleInput['config'],
  format: 'text' | 'json',
  from: number,
  gate: FieldRuleInput['gate'],
): FieldProblem[] {
  if (gate('LoggingAlphaOptions') !== false) return []
  const set = { splitStream: (value: unknown) => value === true, infoBufferSize: isNotZero }
  return Object.entries(set).flatMap(([name, isSet]): FieldProblem[] => {
    const path = ['logging', 'options', format, name]
    if (!isSet(valueAt(config, path))) return []
    return [{ rule: 'cross', path, problem: `${path.join('.')} requires feature gate LoggingAlphaOptions`, from }]
  })
}

function isNotZero(size: unknown): boolean {
  const amount = typeof size === 'string' || typeof size === 'number' ? parseQuantity(String(size)) : undefined
  return amount !== undefined && amount !== 0n
}

export function checkTracing({ config: { tracing }, gate }: FieldRuleInput): FieldProblem[] {
  if (!isObject(tracing)) return []
  if (gate('KubeletTracing') === false) {
    const problem = 'tracing configuration is set, but the KubeletTracing feature gate is off'
    return [{ rule: 'cross', path: ['tracing'], problem, from: 25, to: 33 }]
  }
  const { samplingRatePerMillion: rate, endpoint } = tracing
  const complaints: FieldProblem[] = []
  if (typeof rate === 'number' && (rate < 0 || rate > 1_000_000)) {
    const problem = 'tracing.samplingRatePerMillion must be between 0 and 1000000'
    complaints.push({ rule: 'range', path: ['tracing', 'samplingRatePerMillion'], problem, from: 25 })
  }
  if (typeof endpoint === 'string' && !['dns', 'unix', 'unix-abstract'].includes(schemeOf(endpoint))) {
    const problem = `tracing.endpoint ${quote(endpoint)} has an unsupported scheme: only none, dns, unix or unix-abstract`
    complaints.push({ rule: 'value', path: ['tracing', 'endpoint'], problem, from: 25 })
  }
  return complaints
}

/** As upstream: without `//` the endpoint is a name to look up. */
function schemeOf(endpoint: string): string {
  if (!endpoint.includes('//')) return 'dns'
  return /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1]?.toLowerCase() ?? ''
}
