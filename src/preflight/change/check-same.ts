// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the config that a kubelet reports at /configz, or in its log, with the intended one.
 * Pure. Values that kubelet itself replaces are not differences: defaults, relative paths, CPU
 * reservations that reservedSystemCPUs overrides, a self-signed certificate. Rules: `initConfigz`
 * and `getReservedCPUs`, cmd/kubelet/app/server.go; `KubeletConfigurationPathRefs`,
 * pkg/kubelet/apis/config/helpers.go.
 */
import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { type FieldPath, RELATIVE_PATHS } from '../../kubelet/field-path.ts'
import { isObject } from '../../values/is-object.ts'
import type { KubeletVersion } from '../kubelet-version.ts'
import type { Change, Side } from './change.ts'
import { compareConfigs } from './compare.ts'
import { rowAt } from './field-rows.ts'
import { type KubeletFlags, NO_FLAGS, overlayFlags, overridingFlag } from './kubelet-flags.ts'

export interface Difference {
  readonly path: FieldPath
  readonly meant: Side | undefined
  readonly running: Side | undefined
  /** The cause, such as `--max-pods`. undefined: unknown. */
  readonly because: string | undefined
}

export type Comparison =
  | { readonly ok: true; readonly differences: readonly Difference[] }
  | { readonly ok: false; readonly detail: string }

/** @param configz kubelet's response, parsed */
export function checkSame(
  meant: KubeletConfig,
  configz: unknown,
  version: KubeletVersion | undefined,
  flags: KubeletFlags = NO_FLAGS,
): Comparison {
  const running = isObject(configz) ? configz.kubeletconfig : undefined
  if (!isObject(running)) return { ok: false, detail: "kubelet's /configz has no kubeletconfig" }
  const differences = compareConfigs(meant, running, version)
    .filter((change) => hasKnownDefault(change) && !isReplacedByKubelet(change, meant) && !isMasked(change, running))
    .map(({ path, before, after }) => ({ path, meant: before, running: after, because: explain(path, flags, version) }))
  return { ok: true, differences }
}

/**
 * Where the config that kubelet logs differs from the one that the flags make of this one by the
 * rules of this agent. kubelet is right: such a rule is wrong.
 */
export function findMisread(
  meant: KubeletConfig,
  logged: KubeletConfig,
  version: KubeletVersion | undefined,
  flags: KubeletFlags,
): readonly Difference[] {
  const { config, unknown } = overlayFlags(meant, flags, version)
  const comparison = checkSame(config, { kubeletconfig: logged }, version)
  if (!comparison.ok) return []
  const isSame = ({ meant: left, running: right }: Difference) => isDeepStrictEqual(asDecoded(left?.value), asDecoded(right?.value))
  return comparison.differences.filter((found) => {
    const name = rowAt(found.path)?.name ?? ''
    return !unknown.has(name) && !RESET_BY_KUBELET.has(name) && !isSame(found)
  })
}

/**
 * The fields whose flags reset what the config says, given or not: `AddFlags`,
 * k8s.io/component-base/logs/api/v1.
 */
const RESET_BY_KUBELET: ReadonlySet<string> = new Set(['logging.options.text.splitStream', 'logging.options.json.splitStream'])

/** In the items of a list, Go reads null and what is not set as an empty text, 0 or false. */
function asDecoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => asDecoded(item ?? ''))
  if (!isObject(value)) return value
  const set = Object.entries(value).filter(([, inner]) => ![null, undefined, '', 0, false].some((zero) => inner === zero))
  return Object.fromEntries(set.map(([name, inner]) => [name, asDecoded(inner)]))
}

/** Kubelet also reports the fields that only it knows, with their defaults. */
function hasKnownDefault({ risk }: Change): boolean {
  return risk !== 'none' && risk !== 'unknown'
}

function explain(path: FieldPath, flags: KubeletFlags, version: KubeletVersion | undefined): string | undefined {
  const flag = overridingFlag(path, flags)
  if (flag !== undefined) return `--${flag}`
  // KubeletCgroupDriverFromCRI, alpha in 1.28.
  const asksRuntime = version === undefined || version.minor >= 28
  if (path[0] === 'cgroupDriver' && asksRuntime) return 'kubelet gets its cgroup driver from the container runtime'
  return flags.has('config-dir') ? '--config-dir' : undefined
}

/** Whether a header has the mask that kubelet's log has in place of the values of each. */
function isMasked({ path: [field, header] }: Change, { staticPodURLHeader }: KubeletConfig): boolean {
  const values = isObject(staticPodURLHeader) && header !== undefined ? staticPodURLHeader[header] : undefined
  return field === 'staticPodURLHeader' && Array.isArray(values) && values.length === 1 && values[0] === '<masked>'
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0
}

function isReplacedByKubelet({ path, before, after }: Change, meant: KubeletConfig): boolean {
  const name = path.join('.')
  // /configz omits empty values like values that are not set.
  if (after?.isDefault === true && isEmpty(meant[String(path[0])])) return true
  // `InitializeTLS`: kubelet creates a certificate if the config names none.
  if (before === undefined && (name === 'tlsCertFile' || name === 'tlsPrivateKeyFile'))
    return /\/kubelet\.(crt|key)$/.test(String(after?.value))
  if (name === 'systemReserved.cpu' || name === 'kubeReserved.cpu') return Boolean(meant.reservedSystemCPUs)
  if (typeof before?.value !== 'string' || typeof after?.value !== 'string') return false
  if (!RELATIVE_PATHS.has(name) || before.value.startsWith('/') || !after.value.startsWith('/')) return false
  // Leading `..` depend on the config's directory, which is unknown here.
  const plain = posix.normalize(before.value).replace(/^(\.\.\/)+|\/$/g, '')
  return posix.normalize(after.value).endsWith(`/${plain}`)
}
