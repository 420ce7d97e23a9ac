/**
 * Rules about tracing, which kubelet shares with other components. Pure. Source:
 * `ValidateTracingConfiguration`, k8s.io/component-base/tracing/api/v1/config.go.
 */
import { isObject } from '../../values/is-object.ts'
import { type FieldProblem, type FieldRuleInput, quote } from './complaint.ts'

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
    const nowhere = `tracing.endpoint ${quote(endpoint)} names nothing that gRPC could connect to`
    complaints.push({ rule: 'value', path, problem: nowhere, from: 27, to: 30 })
  }
  return complaints
}

/**
 * What a resolver of google.golang.org/grpc takes. From 1.31 on, kubelet looks at it only when it
 * connects.
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
    return `tracing.endpoint ${quote(endpoint)} has an unsupported scheme: only none, dns, unix or unix-abstract`
  return isUrl(url) ? undefined : `tracing.endpoint ${quote(endpoint)} is not a URL`
}

/** What may stand in the name of a host in Go's net/url. */
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
