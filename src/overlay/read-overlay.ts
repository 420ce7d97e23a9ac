// SPDX-License-Identifier: Apache-2.0
/**
 * Turns the files of the overlay into one view. Pure; what parses YAML is passed in. If one file is
 * faulty, the whole overlay is: a partly read overlay is rejected.
 */
import { contentHash } from '../checkpoint/content.ts'
import type { Rendered } from '../decision/desired.ts'
import { looksLikeJson } from '../kubelet/decode.ts'
import { parseJsonText } from '../kubelet/json.ts'
import { ParsedTexts } from '../kubelet/parsed-texts.ts'
import type { LocatedReading, YamlReader } from '../kubelet/yaml-document.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import { errorMessage } from '../values/errors.ts'
import { isObject } from '../values/is-object.ts'
import { readPatch, render } from './render.ts'

/** The content of the overlay directory: files by name, in the order in which they apply. */
export type OverlayFiles =
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, Buffer> }
  | { readonly kind: 'faulty'; readonly detail: string }

/**
 * In place of a file: systemd-resolved is on this node. kubeadm then sets resolvConf, if the config
 * does not: `mutateResolverConfig`, cmd/kubeadm/app/componentconfigs/kubelet_unix.go.
 */
export const RESOLVED = 'systemd-resolved'
/** `kubeletSystemdResolverConfig`, kubelet.go beside it. */
export const RESOLV_CONF = '/run/systemd/resolve/resolv.conf'

/** Excludes hidden files and the backup files of editors and package managers. */
export function isOverlayName(name: string): boolean {
  return /\.ya?ml$/.test(name) && !name.startsWith('.')
}

/** Enough to distinguish the renderings of one version. */
const DIGITS = 16
const NO_TEXT = { ok: false } as const

/** Parses a config. undefined: not yet; `onParsed` is called when it is parsed. */
export type ParseConfig = (text: string, onParsed: () => void) => LocatedReading | undefined

/** Reads them for somebody who does not wait for a later try. */
export async function readOverlayOnce(directory: string, found: OverlayFiles, yaml: YamlReader): Promise<OverlayView> {
  if (found.kind === 'faulty') return found
  const parse = (text: string): Promise<LocatedReading> =>
    yaml.first(text).catch((error: unknown) => ({ ok: false, detail: errorMessage(error), position: undefined }))
  const parsed = new ParsedTexts(parse, () => {})
  const view = await readOverlay(found.files, yaml, (text, onParsed) => parsed.look(text, onParsed))
  return view.kind === 'faulty' ? { kind: 'faulty', detail: `${directory}/${view.detail}` } : view
}

export async function readOverlay(files: ReadonlyMap<string, Buffer>, yaml: YamlReader, parseConfig: ParseConfig): Promise<OverlayView> {
  if (files.size === 0) return { kind: 'none' }
  const patches: NamedPatch[] = []
  for (const [name, bytes] of files) {
    if (name === RESOLVED) {
      patches.push({ name, patch: { resolvConf: RESOLV_CONF }, isDefault: true })
      continue
    }
    const reading = await readPatch(bytes, yaml)
    if (!reading.ok) return { kind: 'faulty', detail: `${name}: ${reading.detail}` }
    patches.push({ name, patch: reading.patch })
  }
  return { kind: 'present', files: [...files.keys()], patches, render: rememberRendering(patches, parseConfig) }
}

/** Without the defaults of what the config sets. */
export function leaveOutSet(patches: readonly NamedPatch[], config: unknown): readonly NamedPatch[] {
  const sets = (field: string): boolean => isObject(config) && Object.hasOwn(config, field) && config[field] !== null
  return patches.filter(({ patch, isDefault }) => isDefault !== true || !Object.keys(patch).some(sets))
}

/** Caches by data object: the rendering is needed at every look and changes rarely. */
function rememberRendering(patches: readonly NamedPatch[], parseConfig: ParseConfig): PresentOverlay['render'] {
  const known = new WeakMap<ConfigMapData, Map<string, Rendering>>()
  const renderNamed = (data: ConfigMapData, key: string, onRendered: () => void): Rendering | undefined => {
    const text = Object.hasOwn(data, key) ? data[key] : undefined
    const parsed = text === undefined ? NO_TEXT : looksLikeJson(text) ? parseJsonText(text) : parseConfig(text, onRendered)
    if (parsed === undefined) return undefined
    // A text that is not a config takes no layers.
    const applied = parsed.ok && isObject(parsed.value) ? leaveOutSet(patches, parsed.value) : []
    const result = render(
      data,
      key,
      applied.map(({ patch }) => patch),
      () => parsed,
    )
    return result.ok ? { ok: true, rendered: nameRendering(result.data, key), applied } : result
  }
  return (data, key, onRendered = () => {}) => {
    const byKey = known.get(data) ?? new Map<string, Rendering>()
    const rendering = byKey.get(key) ?? renderNamed(data, key, onRendered)
    if (rendering !== undefined) known.set(data, byKey.set(key, rendering))
    return rendering
  }
}

/**
 * Names a rendering by a hash of its result, not of its inputs: one name never means two results.
 */
export function nameRendering(data: ConfigMapData, key: string): Rendered {
  return { overlay: contentHash(data, key).slice(0, DIGITS), data }
}

/** The state of this node's overlay. An overlay that cannot be used never counts as no overlay. */
export type OverlayView =
  /** There are no files. */
  | { readonly kind: 'none' }
  /** The files have not been read yet, or are being written. */
  | { readonly kind: 'pending' }
  /** `detail` names the file and, where known, the place in it. */
  | { readonly kind: 'faulty'; readonly detail: string }
  | PresentOverlay

export interface PresentOverlay {
  readonly kind: 'present'
  /** Names of its files, in the order in which they apply. */
  readonly files: readonly string[]
  /** The change of each file. */
  readonly patches: readonly NamedPatch[]
  /**
   * Returns the same object for the same data. undefined: the config is being parsed; then
   * `onRendered` is called when it is known.
   */
  render(data: ConfigMapData, key: string, onRendered?: () => void): Rendering | undefined
}

export interface NamedPatch {
  readonly name: string
  readonly patch: Readonly<Record<string, unknown>>
  /** The patch sets only fields that the config does not set. */
  readonly isDefault?: true
}

export type Rendering =
  /** `applied`: without the defaults of fields that the config sets. */
  | { readonly ok: true; readonly rendered: Rendered; readonly applied: readonly NamedPatch[] }
  | { readonly ok: false; readonly detail: string }
