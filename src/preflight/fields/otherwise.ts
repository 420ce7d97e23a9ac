// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about configs that kubelet takes and makes something else of: it drops a value, cuts it,
 * takes a default in its place, or never acts on it. Pure. They only warn. Sources, 1.20 to 1.37:
 * `loadConfigFile` (cmd/kubelet/app/server.go) for the thresholds, `NewMainKubelet`
 * (pkg/kubelet/kubelet.go) and `formDNSNameserversFitsLimits` (pkg/kubelet/network/dns) for
 * clusterDNS, `SetDefaults_KubeletConfiguration` for zeros, `syncNode` and
 * `NewKubeletServerCertificateManager` (pkg/kubelet/certificate) for the serving certificate.
 */
import { valueAt } from '../../kubelet/field-path.ts'
import { NEWEST_MINOR } from '../../kubelet/fields.ts'
import { parseQuantity } from '../../kubelet/quantity.ts'
import { LONGEST_NAME } from '../../values/cut.ts'
import { readIp } from '../../values/ip-address.ts'
import { isObject } from '../../values/is-object.ts'
import { defaultThresholds, effectiveConfig } from '../change/effective.ts'
import { ROWS } from '../change/field-rows.ts'
import { OFF, readPercent, textMap } from './at-start.ts'
import { type FieldProblem, otherwise, quoteText, textOf, textsOf, type WholeInput } from './complaint.ts'
import { checkSizes } from './sizes.ts'
import { checkUnused } from './unused.ts'

export function checkOtherwise(subject: WholeInput): FieldProblem[] {
  return [
    checkDefaultThresholds,
    checkSoftThresholds,
    checkClusterDns,
    checkZeros,
    checkPodAddresses,
    checkServingCertificate,
    checkSizes,
    checkUnused,
  ].flatMap((check) => check(subject))
}

const SIGNAL = /^[a-zA-Z]+\.(?:available|inodesFree)$/
/** The first minor with `mergeDefaultEvictionSettings`. */
const MERGES_DEFAULTS = 33

/**
 * A map of thresholds replaces the defaults as a whole. One without any, or with nothing but what
 * turns thresholds off, was written to have none. Where images share a file system with the rest,
 * the thresholds for `nodefs` cover them.
 */
function checkDefaultThresholds({ config, version, view, unseen, isDropIn }: WholeInput): FieldProblem[] {
  const { evictionHard: own } = config
  if (!isObject(own) || view.isUnknown('evictionHard') || Object.values(own).every((amount) => OFF.includes(amount))) return []
  // One that is misspelled is refused, and may be the one that seems to be missing.
  if (!Object.keys(own).every((signal) => SIGNAL.test(signal))) return []
  const minor = version?.minor ?? NEWEST_MINOR
  const merges = !isDropIn && minor >= MERGES_DEFAULTS
  if (merges && config.mergeDefaultEvictionSettings === true) return []
  const missing = Object.entries(defaultThresholds(minor)).filter(([signal]) => !Object.hasOwn(own, signal))
  const [first] = missing
  if (first === undefined) return []
  const names = missing.map(([signal]) => signal).join(', ')
  const isOfImages = missing.every(([signal]) => signal.startsWith('imagefs.'))
  const where = isOfImages ? ', which matters where images have a file system of their own' : ''
  const advice = [
    `add ${missing.map(([signal, amount]) => `${signal}: ${amount}`).join(', ')}`,
    ...(merges ? [`${version === undefined ? `from kubelet 1.${MERGES_DEFAULTS} on ` : ''}set mergeDefaultEvictionSettings: true`] : []),
    'write 0% for a threshold that should be off',
  ].join(', or ')
  const asDropIn = unseen === undefined ? '' : '; in a drop-in of kubelet these lines keep the defaults'
  const effect = `evicts nothing for ${names}: evictionHard replaces all default thresholds${where}`
  const found = otherwise('otherwise/eviction-defaults', ['evictionHard'], effect, `${advice}${asDropIn}`, isOfImages ? 'info' : 'warn')
  return [{ ...found, supplied: true }]
}

/** A soft threshold waits for its grace period, so the hard one has to come after it. */
function checkSoftThresholds({ config, view, unseen }: WholeInput): FieldProblem[] {
  // The values of the local config in place of the defaults are not known.
  const hard = unseen === 'local' ? config.evictionHard : view.map('evictionHard')
  if (!isObject(hard)) return []
  return textMap(config.evictionSoft).flatMap(([signal, amount]): FieldProblem[] => {
    const limit = Object.hasOwn(hard, signal) ? textOf(hard[signal]) : ''
    const [soft, other] = [measure(amount), measure(limit)]
    if (soft === undefined || other === undefined || soft.isShare !== other.isShare || soft.amount > other.amount) return []
    const effect = `never waits for the grace period of this threshold: the one in evictionHard is ${limit}, and comes first`
    return [otherwise('otherwise/eviction-soft', ['evictionSoft', signal], effect, `set it above ${limit}, or lower evictionHard`)]
  })
}

/** undefined: it is off, or another rule refuses it. Shares compare with shares alone. */
function measure(amount: string): { readonly isShare: boolean; readonly amount: bigint | number } | undefined {
  if (OFF.includes(amount)) return undefined
  const share = readPercent(amount)
  if (share !== undefined) return { isShare: true, amount: share }
  const quantity = parseQuantity(amount)
  return quantity === undefined || quantity <= 0n ? undefined : { isShare: false, amount: quantity }
}

/** `MaxDNSNameservers`, pkg/apis/core/validation. */
const MOST_NAMESERVERS = 3

function checkClusterDns({ config }: WholeInput): FieldProblem[] {
  const entries = textsOf(config.clusterDNS) ?? []
  const count = entries.filter((entry) => readIp(entry) !== undefined).length
  const left = count === 0 ? '; no address is left, so pods get the nameservers of the node' : ''
  const dropped = entries.flatMap((entry, index): FieldProblem[] => {
    if (readIp(entry) !== undefined) return []
    const effect = `drops ${quoteText(entry)} from clusterDNS, since it is no IP address${left}`
    return [otherwise('otherwise/cluster-dns', ['clusterDNS', index], effect, adviseAddress(entry))]
  })
  if (count <= MOST_NAMESERVERS) return dropped
  const effect = `gives pods only the first ${MOST_NAMESERVERS} of the ${count} addresses in clusterDNS`
  return [...dropped, otherwise('otherwise/cluster-dns', ['clusterDNS'], effect, `keep ${MOST_NAMESERVERS} of them`)]
}

function adviseAddress(entry: string): string {
  if (/[,;\s]/.test(entry.trim())) return 'write each address as an item of the list'
  const [, inBrackets, host = inBrackets] = /^(?:\[([^\]]*)\]|([^/]*?))[:/]\d{1,5}$/.exec(entry.slice(-LONGEST_NAME)) ?? []
  return host !== undefined && readIp(host) !== undefined ? `write ${host}` : 'write an IP address, as in 10.96.0.10'
}

/** Durations of zero are left out: kubeadm writes them for the default. */
const NUMBERS: readonly string[] = ['int32', 'int64', 'uint32']
/** Before this minor, a zero in a drop-in stays zero. */
const ZEROS_IN_DROP_INS = 32

function checkZeros({ config, version, isDropIn }: WholeInput): FieldProblem[] {
  if (isDropIn && version !== undefined && version.minor < ZEROS_IN_DROP_INS) return []
  const zeros = [...ROWS].filter(([name, { type }]) => NUMBERS.includes(type) && valueAt(config, name.split('.')) === 0)
  const effective = zeros.length === 0 ? undefined : effectiveConfig(config, version)
  return zeros.flatMap(([name]): FieldProblem[] => {
    const { value, isDefault = false } = effective?.get(name) ?? {}
    if (!isDefault || value === 0) return []
    const effect = `takes the default ${value} for ${name}: 0 means that it is not set`
    return [otherwise('otherwise/zero', name.split('.'), effect, 'write the number that you want, or remove the field')]
  })
}

function checkPodAddresses({ config, view, unseen }: WholeInput): FieldProblem[] {
  const ranges = textOf(config.podCIDR)
  const sizes = ranges.split(',').flatMap((range) => sizeOf(range) ?? [])
  const [size, pods] = [Math.min(...sizes), view.number('maxPods')]
  const isSet = typeof config.maxPods === 'number'
  if (pods === undefined || pods <= size || (unseen === 'local' && !isSet)) return []
  const effect = `takes ${pods} pods (maxPods), while podCIDR ${quoteText(ranges)} has ${size} addresses: the last pods get none`
  return [otherwise('otherwise/pod-addresses', [isSet ? 'maxPods' : 'podCIDR'], effect, 'lower maxPods, or widen podCIDR')]
}

function sizeOf(range: string): number | undefined {
  const [, address = '', length = ''] = /^([^/]+)\/(\d{1,3})$/.exec(range.trim()) ?? []
  const bits = readIp(address)
  return bits === undefined || Number(length) > bits.length ? undefined : 2 ** (bits.length - Number(length))
}

function checkServingCertificate({ config, gate }: WholeInput): FieldProblem[] {
  if (config.serverTLSBootstrap !== true || gate('RotateKubeletServerCertificate') === false) return []
  const effect = 'has no serving certificate until somebody approves its CertificateSigningRequest: until then logs and exec fail'
  const advice = 'approve it with kubectl certificate approve, or run an approver for kubernetes.io/kubelet-serving'
  return [otherwise('otherwise/serving-certificate', ['serverTLSBootstrap'], effect, advice, 'info')]
}
