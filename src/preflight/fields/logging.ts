// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about logging and tracing, which kubelet shares with other components. Pure. Sources:
 * `Validate` and `addFlags`, k8s.io/component-base/logs/api/v1/options.go, from 1.25 on. Before
 * that k8s.io/component-base/logs/validate.go had `ValidateLoggingConfiguration`.
 * `ValidateTracingConfiguration`, k8s.io/component-base/tracing/api/v1/config.go.
 */
import { valueAt } from '../../kubelet/field-path.ts'
import { parseQuantity } from '../../kubelet/quantity.ts'
import { isObject } from '../../values/is-object.ts'
import { asList, durationOf, type FieldProblem, type FieldRuleInput, quoteText, textOf } from './complaint.ts'

/** klog takes only an int32 that is not negative. */
const MOST_VERBOSE = 2 ** 31 - 1

export function checkLogging(subject: FieldRuleInput): FieldProblem[] {
  const { gate, config } = subject
  const { logging } = config
  if (!isObject(logging)) return []
  return [
    ...checkUnit(logging.flushFrequency),
    ...checkFlushing(logging.flushFrequency),
    ...checkVerbosity(logging.verbosity),
    ...checkModules(logging.vmodule, textOf(logging.format)),
    ...checkFormat(textOf(logging.format), gate),
    ...checkOutput(subject, 'text', 30),
    ...checkOutput(subject, 'json', 25),
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
  const modules = asList(value)
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
    if (/[=,]/.test(pattern)) complain(`file pattern ${quoteText(pattern)} must not contain equal sign or comma`)
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
function checkOutput({ config, gate }: FieldRuleInput, format: 'text' | 'json', from: number): FieldProblem[] {
  const path = ['logging', 'options', format, 'infoBufferSize']
  if (gate('LoggingAlphaOptions') !== false || !isNotZero(valueAt(config, path))) return []
  return [{ rule: 'cross', path, problem: `${path.join('.')} requires feature gate LoggingAlphaOptions`, from }]
}

function isNotZero(size: unknown): boolean {
  const amount = typeof size === 'string' || typeof size === 'number' ? parseQuantity(String(size)) : undefined
  return amount !== undefined && amount !== 0n
}

const SCHEMES = ['dns', 'unix', 'unix-abstract']

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
  const path = ['tracing', 'endpoint']
  const problem = typeof endpoint === 'string' ? judgeEndpoint(endpoint) : undefined
  if (problem !== undefined) complaints.push({ rule: 'value', path, problem, from: 25 })
  if (problem === undefined && typeof endpoint === 'string' && !isTarget(endpoint)) {
    const nowhere = `tracing.endpoint ${quoteText(endpoint)} names nothing that gRPC could connect to`
    complaints.push({ rule: 'value', path, problem: nowhere, from: 27, to: 30 })
  }
  return complaints
}

/**
 * Whether a resolver of google.golang.org/grpc takes the endpoint. From 1.31 on, kubelet looks at
 * it only when it connects.
 */
function isTarget(endpoint: string): boolean {
  const [, scheme, authority = '', path = ''] = /^(dns|unix|unix-abstract):(?:\/\/([^/?#]*))?([^?#]*)/i.exec(endpoint) ?? []
  if (scheme === undefined) return endpoint !== ''
  return scheme.toLowerCase() === 'dns' ? path.replace(/^\//, '') !== '' : authority === ''
}

/** As upstream: without `//` the endpoint is a name to look up. */
function judgeEndpoint(endpoint: string): string | undefined {
  const url = endpoint.includes('//') ? endpoint : `dns://${endpoint}`
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? ''
  if (!SCHEMES.includes(scheme))
    return `tracing.endpoint ${quoteText(endpoint)} has an unsupported scheme: only none, dns, unix or unix-abstract`
  return isUrl(url) ? undefined : `tracing.endpoint ${quoteText(endpoint)} is not a URL`
}

/** Characters that may stand in the name of a host in Go's net/url. */
const HOST = /^(?:[-\w.~!$&'()*+,;=:[\]<>"]|[^\0-\x7f]|%[89a-f][0-9a-f])*$/i
const USER = /^[-\w.:~!$&'()*+,;=%@]*$/
const IN_BRACKETS = /^\[.*\](?::\d*)?$/
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i

/** Whether `url.Parse` of Go takes it. Some releases of Go take less. */
function isUrl(url: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
  if (/[\x00-\x1f\x7f]/.test(url)) return false
  const [beforeFragment, fragment] = cut(url, '#')
  const [, afterScheme] = cut(cut(beforeFragment, '?')[0], ':')
  if (!afterScheme.startsWith('//')) return true
  const [authority, path] = cut(afterScheme.slice(2), '/')
  const at = authority.lastIndexOf('@')
  return (
    USER.test(authority.slice(0, Math.max(0, at))) &&
    isHost(authority.slice(at + 1)) &&
    ![path, fragment].some((part) => BAD_ESCAPE.test(part))
  )
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return IN_BRACKETS.test(host)
  const colon = host.lastIndexOf(':')
  const [name, port] = colon === -1 ? [host, ''] : [host.slice(0, colon), host.slice(colon + 1)]
  return HOST.test(name) && /^\d*$/.test(port)
}

/**
 * Go's strings.Cut. A regular expression that does the same takes time that grows with the cube of
 * the length.
 */
function cut(text: string, separator: string): readonly [before: string, after: string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
