// SPDX-License-Identifier: Apache-2.0
/**
 * The candidate as this node's kubelet will use it: with its flags applied, and with defaults.
 * Pure. The node rules read it. A field that a flag sets to a value that cannot be parsed here is
 * unknown, and reads as not set.
 */
import { posix } from 'node:path'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { FieldPath } from '../../kubelet/field-path.ts'
import type { StateFileName } from '../../kubelet/manager-state.ts'
import { parseQuantity } from '../../kubelet/quantity.ts'
import { rootDirectory } from '../../kubelet/root-directory.ts'
import { isObject } from '../../values/is-object.ts'
import { type EffectiveConfig, effectiveConfig } from '../change/effective.ts'
import { ROWS, type RowName } from '../change/field-rows.ts'
import { type KubeletFlags, overlayFlags } from '../change/kubelet-flags.ts'
import type { ConfigDocument } from '../document.ts'
import { type Finding, locateNearest, type Severity } from '../finding.ts'
import type { GuardName } from '../guards.ts'
import type { KubeletVersion } from '../kubelet-version.ts'

export interface NodeOptions {
  readonly version: KubeletVersion | undefined
  readonly flags: KubeletFlags
  /** Whether these are all of them. */
  readonly flagsKnown?: boolean
  /** Absolute directory of the config: relative paths start there. */
  readonly folder: string
  /** Names of the files that the ConfigMap puts there. */
  readonly files: readonly string[]
  /** The config that the running kubelet was started with. undefined: unknown. */
  readonly running?: KubeletConfig | undefined
  readonly kubeletPid?: number | undefined
  /** As of `UnitState`. */
  readonly setsStatesAside?: boolean | undefined
}

export class NodeView {
  readonly options: NodeOptions
  readonly minor: number | undefined
  readonly #effective: EffectiveConfig
  readonly #unknown: ReadonlySet<string>
  readonly #running: EffectiveConfig | undefined

  constructor(config: KubeletConfig, options: NodeOptions) {
    const { config: overlaid, unknown } = overlayFlags(config, options.flags, options.version)
    this.options = options
    this.minor = options.version?.minor
    this.#effective = effectiveConfig(overlaid, options.version)
    this.#unknown = unknown
    const { running, flags, version } = options
    this.#running = running && effectiveConfig(overlayFlags(running, flags, version).config, version)
  }

  /** Whether the config of the running kubelet is known. */
  get knowsRunning(): boolean {
    return this.#running !== undefined
  }

  /** Value of the running kubelet. undefined: unknown, or not set. */
  running(name: RowName): unknown {
    return this.#running?.get(name)?.value
  }

  /** Whether a flag sets the field to a value that cannot be parsed here. */
  isUnknown(name: RowName): boolean {
    return this.#unknown.has(name)
  }

  isDefault(name: RowName): boolean {
    return this.#effective.get(name)?.isDefault !== false
  }

  value(name: RowName): unknown {
    return this.isUnknown(name) ? undefined : this.#effective.get(name)?.value
  }

  /** undefined: unknown, not set or empty. */
  text(name: RowName): string | undefined {
    const value = this.value(name)
    return typeof value === 'string' && value !== '' ? value : undefined
  }

  number(name: RowName): number | undefined {
    const value = this.value(name)
    return typeof value === 'number' ? value : undefined
  }

  is(name: RowName): boolean {
    return this.value(name) === true
  }

  texts(name: RowName): readonly string[] {
    const value = this.value(name)
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
  }

  map(name: RowName): Readonly<Record<string, unknown>> {
    const value = this.value(name)
    return isObject(value) ? value : {}
  }

  /** In billionths; 0 if not set. undefined: unknown, or not a quantity. */
  quantity(name: RowName, key: string): bigint | undefined {
    if (this.isUnknown(name)) return undefined
    const value = this.map(name)[key]
    return value === undefined || value === null ? 0n : parseQuantity(String(value))
  }

  /** The feature gate's value in config and flags. undefined: not set. */
  gate(name: string): boolean | undefined {
    const value = this.map('featureGates')[name]
    return typeof value === 'boolean' ? value : undefined
  }

  flag(name: string): string | undefined {
    return this.options.flags.get(name)?.at(-1)
  }

  /** The field with the flag that sets it, if any: `port`, or `port (set by --port)`. */
  called(name: RowName): string {
    const flag = ROWS.get(name)?.flag
    return flag !== undefined && this.options.flags.has(flag) ? `${name} (set by --${flag})` : name
  }

  /**
   * The absolute path. undefined: not set, or relative to kubelet's working directory (in a flag).
   */
  resolve(name: RowName): string | undefined {
    const path = this.text(name)
    if (path === undefined || path.startsWith('/')) return path
    const flag = ROWS.get(name)?.flag
    return flag !== undefined && this.options.flags.has(flag) ? undefined : posix.join(this.options.folder, path)
  }
}

export interface NodeProblem {
  readonly rule: `node/${string}` | `guard/${GuardName}` | 'otherwise/eviction-soft'
  readonly severity: Severity
  readonly at: RowName
  /** Key within the field. */
  readonly key?: string
  readonly problem: string
  readonly advice: string
}

export function toFinding({ rule, severity, at, key, problem, advice }: NodeProblem, document: Pick<ConfigDocument, 'locate'>): Finding {
  const path: FieldPath = [...at.split('.'), ...(key === undefined ? [] : [key])]
  // A guard may be about a field that the text lacks: the place is then that of the kind.
  const position = locateNearest(document, path) ?? (rule.startsWith('guard/') ? document.locate(['kind']) : undefined)
  return { rule, severity, reason: 'validate', path, position, problem, advice }
}

/**
 * Whether kubelet uses its CPU manager and its memory manager, which depends on feature gates.
 * Source: pkg/features/kube_features.go: CPUManager is on by default since 1.10 and locked since
 * 1.26; MemoryManager came with 1.21, off by default, is on since 1.22 and locked since 1.32.
 */
export function usesCpuManager(view: NodeView): boolean {
  return view.gate('CPUManager') !== false
}

/** `maybe`: the version is not known. */
export function usesMemoryManager(view: NodeView): 'yes' | 'no' | 'maybe' {
  const { minor } = view
  const gate = view.gate('MemoryManager')
  if (gate === false) return 'no'
  if (minor === undefined) return 'maybe'
  return minor >= 22 || (minor === 21 && gate === true) ? 'yes' : 'no'
}

/** The file in which a manager keeps its assignments. undefined: its directory is not known. */
export function stateFile(view: NodeView, name: StateFileName): string | undefined {
  const root = rootDirectory(view.flag('root-dir'))
  return root === undefined ? undefined : `${root}/${name}`
}
