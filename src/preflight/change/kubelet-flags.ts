// SPDX-License-Identifier: Apache-2.0
/**
 * Parses kubelet's flags from its command line, and tells which kubelets know them. Pure. Rules of
 * github.com/spf13/pflag as kubelet uses it: `--name=value` or `--name value`, a boolean only as
 * `--name` or `--name=value`, `_` counts as `-` (`WordSepNormalizeFunc`), `--` ends them.
 */

import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { FieldType } from '../../kubelet/field.ts'
import { type FieldPath, formatPath } from '../../kubelet/field-path.ts'
import { NEWEST_MINOR } from '../../kubelet/fields.ts'
import { parseGoBool } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import type { ConfigDocument } from '../document.ts'
import { type Finding, locateNearest } from '../finding.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import type { Change } from './change.ts'
import { isKnownIn } from './effective.ts'
import { ROWS, rowAt } from './field-rows.ts'

/** Names without dashes, with all values in order: the last one wins, but maps and lists add up. */
export type KubeletFlags = ReadonlyMap<string, readonly string[]>

export const NO_FLAGS: KubeletFlags = new Map()

type Arity = 'switch' | 'value'

const BY_FLAG: ReadonlyMap<string, Arity> = new Map(
  [...ROWS.values()].flatMap(({ flag, type }) => (flag === undefined ? [] : [[flag, type === 'boolean' ? 'switch' : 'value'] as const])),
)

/** @param args without the program name */
export function collectFlags(args: readonly string[]): KubeletFlags {
  const flags = new Map<string, string[]>()
  const add = (name: string, value: string) => flags.set(name, [...(flags.get(name) ?? []), value])
  for (let at = 0; at < args.length; at++) {
    const [, dashes, spelled = '', equals, value = ''] = /^(--?)([^=-][^=]*)(=?)(.*)$/s.exec(args[at] ?? '') ?? []
    if (args[at] === '--') break
    // The one short flag that takes a value, which may follow at once.
    const [, verbosity] = /^-v([^=].*)$/s.exec(args[at] ?? '') ?? []
    if (verbosity !== undefined) {
      add('v', verbosity)
      continue
    }
    if (dashes === undefined) continue
    const name = spelled.replaceAll('_', '-')
    const next = args[at + 1]
    // The word after an unknown flag counts as its value unless it looks like a flag.
    const takesNext = BY_FLAG.get(name) === 'value' || (!BY_FLAG.has(name) && next !== undefined && !next.startsWith('-'))
    if (equals === '=') add(name, value)
    else if (takesNext && next !== undefined) {
      add(name, next)
      at++
    } else add(name, 'true')
  }
  return flags
}

/** The arguments without this flag, which takes a value. */
export function withoutFlag(args: readonly string[], name: string): readonly string[] {
  const isFlag = (text: string | undefined) => text?.replaceAll('_', '-') === `--${name}`
  return args.filter((text, at) => !isFlag(text) && !isFlag(args[at - 1]) && !isFlag(text.split('=', 1)[0]))
}

/**
 * The flags that a minor of 1.x no longer knows, all of which 1.20 or a later one did:
 * cmd/kubelet/app/options, and the flags of component-base/logs. Kubelet does not start with them.
 */
const GONE = readMinors({
  21: 'enable-cadvisor-json-endpoints',
  22: 'chaos-chance redirect-container-streaming',
  23: 'experimental-bootstrap-kubeconfig seccomp-profile-root',
  24: `cni-bin-dir cni-cache-dir cni-conf-dir docker docker-endpoint docker-env-metadata-whitelist docker-only docker-root docker-tls
    docker-tls-ca docker-tls-cert docker-tls-key dynamic-config-dir experimental-check-node-capabilities-before-mount
    experimental-dockershim-root-directory experimental-logging-sanitization image-pull-progress-deadline network-plugin
    network-plugin-mtu non-masquerade-cidr really-crash-for-testing`,
  25: 'experimental-kernel-memcg-notification',
  26: `add-dir-header alsologtostderr log-backtrace-at log-dir log-file log-file-max-size logtostderr one-output skip-headers
    skip-log-headers stderrthreshold`,
  27: 'container-runtime master-service-namespace',
  30: 'azure-container-registry-config',
  31: 'iptables-drop-bit iptables-masquerade-bit keep-terminated-pod-volumes',
  34: 'cloud-config register-schedulable',
  35: 'pod-infra-container-image',
  37: `application-metrics-count-limit boot-id-file container-hints containerd containerd-namespace enable-load-reader
    event-storage-age-limit event-storage-event-limit global-housekeeping-interval log-cadvisor-usage machine-id-file
    storage-driver-buffer-duration storage-driver-db storage-driver-host storage-driver-password storage-driver-secure
    storage-driver-table storage-driver-user`,
})

/** The flags that 1.20 did not know yet, by the minor of 1.x that brought them. */
const SINCE = readMinors({
  21: 'memory-manager-policy reserved-memory',
  22: 'cpu-manager-policy-options seccomp-default',
  23: 'log-json-info-buffer-size log-json-split-stream',
  25: 'local-storage-capacity-isolation',
  26: 'topology-manager-policy-options',
  28: 'config-dir',
  30: 'log-text-info-buffer-size log-text-split-stream',
  31: 'fail-cgroupv1',
})

function readMinors(table: Readonly<Record<number, string>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(table).flatMap(([minor, names]) => names.split(/\s+/).map((name) => [name, Number(minor)] as const)))
}

/**
 * The flags of the newest kubelet for which the config has no field: `AddFlags` of KubeletFlags and
 * `addCadvisorFlags`, cmd/kubelet/app/options. Without `--config`, a name for a whole config.
 */
export const FLAGS_ALONE = [
  ...['bootstrap-kubeconfig', 'cert-dir', 'cloud-provider', 'config-dir', 'exit-on-lock-contention'],
  ...['experimental-allocatable-ignore-eviction', 'experimental-mounter-path', 'hostname-override', 'housekeeping-interval'],
  ...['image-credential-provider-bin-dir', 'image-credential-provider-config', 'kubeconfig', 'lock-file'],
  ...['maximum-dead-containers', 'maximum-dead-containers-per-container', 'minimum-container-ttl-duration'],
  ...['node-ip', 'node-labels', 'root-dir', 'runtime-cgroups'],
]

/** One word alone, as `docker`, may mean something else than the flag. */
export const FLAGS_GONE = [...GONE.keys()].filter((name) => name.includes('-'))

/** For somebody who took it for a field. Without a minor: for the newest kubelet. */
export function describeFlag(name: string, minor: number | undefined): string {
  const [since = 0, gone = Number.POSITIVE_INFINITY] = [SINCE.get(name), GONE.get(name)]
  if (gone <= (minor ?? NEWEST_MINOR)) return `--${name} was a flag of kubelet up to 1.${gone - 1}, and no field: remove it`
  if (minor !== undefined && since > minor) return `--${name} is a flag of kubelet 1.${since} and later, and no field`
  return `--${name} is a flag of kubelet, and no field: set it on kubelet's command line`
}

/** Whether kubelet 1.`minor` knows a flag that some kubelet knows. */
export function isFlagOf(name: string, minor: number): boolean {
  return (SINCE.get(name) ?? 0) <= minor && minor < (GONE.get(name) ?? Number.POSITIVE_INFINITY)
}

/** Of these flags those that this kubelet does not know, but another does. */
export function listUnknownFlags(flags: KubeletFlags, { major, minor }: Pick<KubeletVersion, 'major' | 'minor'>): string[] {
  return major === 1 ? [...flags.keys()].filter((name) => !isFlagOf(name, minor)) : []
}

/**
 * Applies kubelet's flags to a config as kubelet does: flags override fields, replace maps and
 * lists as a whole, and merge feature gates one by one. Rules: `kubeletConfigFlagPrecedence`,
 * cmd/kubelet/app/server.go; syntax of the values as in k8s.io/component-base/cli/flag. A flag with
 * its own language (taints, reserved memory, headers, vmodule), or with a wrong value, makes its
 * field unknown.
 */
interface Overlaid {
  readonly config: KubeletConfig
  /**
   * Names of rows whose flag has a value that cannot be parsed here. The config lacks these fields.
   */
  readonly unknown: ReadonlySet<string>
}

export function overlayFlags(config: KubeletConfig, flags: KubeletFlags, version: KubeletVersion | undefined): Overlaid {
  const unknown = new Set<string>()
  let overlaid = config
  for (const [name, row] of ROWS) {
    const given = row.flag === undefined || !isKnownIn(row, version) ? undefined : flags.get(row.flag)
    if (given === undefined || row.flag === undefined) continue
    const value = readFlag(row.flag, given, row.type)
    if (value === undefined) unknown.add(name)
    overlaid = place(overlaid, name.split('.'), name === 'featureGates' ? mergeGates(config[name], value) : value)
  }
  return { config: overlaid, unknown }
}

/** undefined: cannot be parsed here. */
function readFlag(flag: string, given: readonly string[], type: FieldType): unknown {
  const last = given.at(-1) ?? ''
  switch (type) {
    case 'string':
    case 'duration':
    case 'nullable-duration':
    case 'nanoseconds':
    case 'quantity':
      return last
    case 'boolean':
      return parseGoBool(last)
    case 'int32':
    case 'int64':
    case 'uint32':
      return /^[+-]?\d{1,15}$/.test(last) ? Number(last) : undefined
    case 'strings':
      return given.flatMap((list) => (list === '' ? [] : list.split(',')))
    case 'string-map':
      return readPairs(given, flag === 'eviction-hard' || flag === 'eviction-soft' ? '<' : '=')
    case 'boolean-map':
      return readGates(given)
    case 'number':
    case 'quantity-map':
    case 'time':
    case 'object':
    case 'objects':
    case 'int32s':
    case 'strings-map':
      return undefined
  }
}

function readPairs(given: readonly string[], between: string): Readonly<Record<string, string>> | undefined {
  const pairs = given.flatMap((list) => list.split(',')).filter((pair) => pair !== '')
  if (!pairs.every((pair) => pair.includes(between))) return undefined
  const split = (pair: string, at: number) => [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
  return Object.fromEntries(pairs.map((pair) => split(pair, pair.indexOf(between))))
}

function readGates(given: readonly string[]): Readonly<Record<string, boolean>> | undefined {
  const gates = Object.entries(readPairs(given, '=') ?? { '': '' }).map(([name, text]) => [name, parseGoBool(text)] as const)
  return gates.every(([, on]) => on !== undefined) ? Object.fromEntries(gates.map(([name, on]) => [name, on === true])) : undefined
}

function mergeGates(configured: unknown, flagged: unknown): unknown {
  return isObject(flagged) ? { ...(isObject(configured) ? configured : {}), ...flagged } : undefined
}

function place(config: KubeletConfig, [step, ...rest]: readonly string[], value: unknown): KubeletConfig {
  if (step === undefined) return config
  const inner = config[step]
  return { ...config, [step]: rest.length === 0 ? value : place(isObject(inner) ? inner : {}, rest, value) }
}

/**
 * Finds changes without effect because a kubelet flag overrides the field. Rule:
 * `kubeletConfigFlagPrecedence`, cmd/kubelet/app/server.go: kubelet parses its flags again over the
 * config; of `featureGates` only the gates that the flag names.
 */
export function findOverridden(changes: readonly Change[], flags: KubeletFlags, document?: Pick<ConfigDocument, 'locate'>): Finding[] {
  const findings = new Map<string, Finding>()
  for (const { path, risk } of changes) {
    const flag = risk === 'none' ? undefined : overridingFlag(path, flags)
    if (flag === undefined) continue
    const field = flag === 'feature-gates' ? path : path.slice(0, rowAt(path)?.name.split('.').length)
    const name = formatPath(field)
    if (findings.has(name)) continue
    const problem = `changing ${name} has no effect: kubelet is started with --${flag}, which overrides it`
    const advice = `remove --${flag} from kubelet's flags, or leave ${name} as it is`
    const place = { path: field, position: locateNearest(document, field) }
    findings.set(name, { rule: 'change/overridden-by-flag', severity: 'warn', reason: 'validate', ...place, problem, advice })
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
