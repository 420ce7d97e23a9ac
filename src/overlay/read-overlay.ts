/**
 * The files of the overlay as one view of it. Pure; the YAML parser is passed in, loaded by whoever found files. All of them have to be good: half an overlay is
 * none that anybody wrote.
 */

import { contentHash } from '../checkpoint/content.ts'
import type { ConfigMapData } from '../decision/config-source.ts'
import type { Rendered } from '../decision/desired.ts'
import { type Patch, type PatchParser, readPatch } from './patch-file.ts'
import { render } from './render.ts'
import type { OverlayView, Rendering } from './view.ts'

/** What the directory holds: files by name, in the order that counts. */
export type OverlayFiles =
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, Buffer> }
  | { readonly kind: 'faulty'; readonly detail: string }

/** Hidden files, and those that editors and package managers leave beside a file, are none. */
export function isOverlayName(name: string): boolean {
  return /\.ya?ml$/.test(name) && !name.startsWith('.')
}

/** Enough to tell the renderings of one version apart. */
const DIGITS = 16

export function readOverlay(files: ReadonlyMap<string, Buffer>, parser: PatchParser): OverlayView {
  if (files.size === 0) return { kind: 'none' }
  const patches: Patch[] = []
  for (const [name, bytes] of files) {
    const reading = readPatch(bytes, parser)
    if (!reading.ok) return { kind: 'faulty', detail: `${name}: ${reading.detail}` }
    patches.push(reading.patch)
  }
  return { kind: 'present', files: [...files.keys()], render: rememberRendering(patches, parser) }
}

/** By object: what is desired is asked for at every look and changes rarely. */
function rememberRendering(patches: readonly Patch[], parser: PatchParser): (data: ConfigMapData, key: string) => Rendering {
  const known = new WeakMap<ConfigMapData, Map<string, Rendering>>()
  const renderNamed = (data: ConfigMapData, key: string): Rendering => {
    const result = render(data, key, patches, (text) => parser.parseLocated(text))
    return result.ok ? { ok: true, rendered: nameRendering(result.data, key) } : result
  }
  return (data, key) => {
    const byKey = known.get(data) ?? new Map<string, Rendering>()
    const rendering = byKey.get(key) ?? renderNamed(data, key)
    known.set(data, byKey.set(key, rendering))
    return rendering
  }
}

/** By what it is, and not by what it was made of: whatever goes into one, its name never comes to stand for another. */
export function nameRendering(data: ConfigMapData, key: string): Rendered {
  return { overlay: contentHash(data, key).slice(0, DIGITS), data }
}
