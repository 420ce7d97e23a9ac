// SPDX-License-Identifier: Apache-2.0
/**
 * Loads the config that a command works on: a file (a config, the manifest of a ConfigMap, or
 * something else that contains one), standard input, or a key of a ConfigMap in the cluster.
 * Refuses what a ConfigMap cannot hold as text (too long, not UTF-8): kubectl would reject it, or
 * store it where kubelet does not look. Pure but for the readers that are passed in.
 */

import { isUtf8 } from 'node:buffer'
import type { Base, FoundConfigMap, RolloutAnnotations } from '../../decision/desired.ts'
import { awaitRendering, type MergeReaders, mergeOnce, restsOnLocal } from '../../overlay/apply.ts'
import { type ComputedValue, mayCompute } from '../../overlay/computed.ts'
import { nameConfigMap } from '../../overlay/find-bases.ts'
import type { ConfigLayer } from '../../overlay/layers.ts'
import type { NodePatches } from '../../overlay/patch-set.ts'
import type { Report } from '../../preflight/finding.ts'
import { refuseUnread } from '../../preflight/finding.ts'
import type { InspectedConfig } from '../../preflight/inspection.ts'
import { accept, type Kind, refuse } from '../../settings/setting-kinds.ts'
import { readBases } from '../../source/base-chain.ts'
import { readAssignedOnce, readConfigMapOnce } from '../../source/read-once.ts'
import type { ConfigMapData } from '../../subject/config-source.ts'
import { describeUnreadable } from '../../values/errors.ts'
import { isConfigMapKey, isNamespace, isObjectName } from '../../values/kubernetes-names.ts'
import { editDistance } from '../../values/nearest.ts'
import { LONGEST_BYTES, type PlaceInFile, readManifestText } from '../manifest-text.ts'
import { EMPTY_LOCAL } from '../open-part.ts'
import { readWrapped } from '../wrapped-text.ts'
import type { CommandContext } from './command.ts'
import { findLayersOver, isNode, type PatchReaders, readLayers, readPatches } from './config-layers.ts'

type CandidateName =
  | { readonly kind: 'stdin' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'config-map'; readonly namespace: string; readonly name: string; readonly key: string }

type LoadedCandidate =
  /**
   * `shown`: the text that the user sees, and where a place of the config is in it: a manifest
   * contains more than the config.
   */
  | {
      readonly kind: 'loaded'
      readonly config: InspectedConfig
      readonly shown: { readonly text: string; readonly place: PlaceInFile }
      /** Of a config that this node merges, the lowest first. */
      readonly layers?: readonly ConfigLayer[]
      /** Of the ConfigMap that it is in, where that has one. */
      readonly rollout?: RolloutAnnotations | undefined
      /** Where it was in the text, which is not all a config. */
      readonly taken?: string
      /** The fields that were computed from a Node. */
      readonly computed?: readonly ComputedValue[]
    }
  /** Kubelet can never get this text. `text`: for excerpts. */
  | { readonly kind: 'refused'; readonly name: string; readonly report: Report; readonly text?: string }
  /** The candidate could not be loaded. */
  | { readonly kind: 'failed'; readonly detail: string }

/** As in the documentation, and as the agent's RBAC grants. */
const NAMESPACE = 'kube-system'
const KEY = 'kubelet'
const PREFIXES = ['configmap', 'configmaps', 'cm']

export const candidateKind: Kind<string> & { readonly placeholder: string } = {
  placeholder: 'FILE|-|configmap/NAME',
  parse(text) {
    const name = parseCandidate(text)
    return typeof name === 'string' ? refuse(name) : accept(text)
  },
  show: (text) => text,
}

/** Returns a text if the name is invalid: the problem. */
export function parseCandidate(text: string): CandidateName | string {
  if (text === '') return 'FILE|-|configmap/NAME: is empty'
  if (text === '-') return { kind: 'stdin' }
  const [, prefix = '', rest = ''] = /^([a-zA-Z-]+)\/(.*)$/s.exec(text) ?? []
  if (PREFIXES.includes(prefix)) return parseConfigMap(text, rest)
  const isTypo = prefix !== '' && editDistance(prefix.toLowerCase(), 'configmap') <= 2
  return isTypo ? `${text}: did you mean configmap/${rest}? For a file of that name, write ./${text}` : { kind: 'file', path: text }
}

function parseConfigMap(text: string, rest: string): CandidateName | string {
  const [path = '', key = KEY, ...more] = rest.split(':')
  const [namespace, name] = path.includes('/') ? splitAtSlash(path) : [NAMESPACE, path]
  if (more.length > 0) return `${text}: write configmap/NAME or configmap/NAMESPACE/NAME, followed by :KEY if the key is not ${KEY}`
  if (!isNamespace(namespace)) return `${text}: "${namespace}" is not a valid name of a namespace`
  if (!isObjectName(name)) return `${text}: "${name}" is not a valid name of a ConfigMap`
  if (!isConfigMapKey(key)) return `${text}: "${key}" is not a valid key of a ConfigMap`
  return { kind: 'config-map', namespace, name, key }
}

function splitAtSlash(path: string): [string, string] {
  const slash = path.indexOf('/')
  return [path.slice(0, slash), path.slice(slash + 1)]
}

/**
 * @param overlaid whether the layers that match this node, and its overlay, are applied to a
 *   ConfigMap of the cluster; a file is used as it is
 */
export async function loadCandidate(
  text: string,
  context: Pick<
    CommandContext,
    'readInput' | 'api' | 'readOverlay' | 'readInstanceConfig' | 'readLocalConfig' | 'evaluate' | 'yaml' | 'unit' | 'fetchDesired'
  >,
  overlaid: boolean,
): Promise<LoadedCandidate> {
  const name = parseCandidate(text)
  if (typeof name === 'string') return { kind: 'failed', detail: name }
  switch (name.kind) {
    case 'stdin':
      return readText('<stdin>', undefined, context)
    case 'file':
      return readText(name.path, name.path, context)
    case 'config-map':
      return fetchText(name, context, overlaid)
  }
}

/** The readers that merging a part needs. */
type PartReaders = Pick<CommandContext, 'api' | 'unit'> & MergeReaders

async function readText(
  shown: string,
  path: string | undefined,
  context: Pick<CommandContext, 'readInput'> & PartReaders,
): Promise<LoadedCandidate> {
  const { readInput } = context
  const reading = await readInput(path, LONGEST_BYTES)
  switch (reading.kind) {
    case 'unreadable':
      return { kind: 'failed', detail: `${shown} ${describeUnreadable(reading.code)}` }
    case 'too-large':
      return {
        kind: 'refused',
        name: shown,
        report: refuseUnread('source/too-large', `more than ${LONGEST_BYTES} bytes, the limit of a ConfigMap`),
      }
    case 'read':
      return decodeText(shown, reading.bytes, context)
  }
}

async function decodeText(shown: string, bytes: Buffer, readers: PartReaders): Promise<LoadedCandidate> {
  if (!isUtf8(bytes)) {
    const before = bytes.subarray(0, findInvalid(bytes)).toString('utf8').split('\n')
    const position = { line: before.length, column: (before.at(-1) ?? '').length + 1 }
    const advice = 'kubectl stores such a file under binaryData, where kubelet does not look: save it as UTF-8'
    return { kind: 'refused', name: shown, report: refuseUnread('source/encoding', 'it is not valid UTF-8', position, advice) }
  }
  const text = bytes.toString('utf8')
  const manifest = await readManifestText(text, readers.yaml)
  switch (manifest.kind) {
    case 'none':
      return loadAlone(shown, text, readers)
    case 'unclear':
      return { kind: 'failed', detail: `${shown}: ${manifest.detail}` }
    case 'found': {
      const { data, key, base, place, rollout } = manifest
      if (base === undefined && !mayCompute(data[key]))
        return { kind: 'loaded', config: { name: shown, files: data, key }, shown: { text, place }, rollout }
      const merged = await loadMerged(shown, { data, base }, key, readers)
      return merged.kind === 'loaded' ? { ...merged, rollout } : merged
    }
  }
}

async function loadAlone(shown: string, text: string, readers: PartReaders): Promise<LoadedCandidate> {
  const alone = (own: string, place: PlaceInFile, isPart = false): LoadedCandidate & { readonly kind: 'loaded' } => {
    return { kind: 'loaded', config: { name: shown, files: { [KEY]: own }, key: KEY, isAlone: true, isPart }, shown: { text, place } }
  }
  if (mayCompute(text)) return loadMerged(shown, { data: { [KEY]: text }, base: undefined }, KEY, readers)
  const wrapped = await readWrapped(text, readers.yaml)
  switch (wrapped.kind) {
    case 'none':
      return alone(text, asIs)
    case 'named':
      return {
        kind: 'refused',
        name: shown,
        text,
        report: refuseUnread('source/wrapper', wrapped.problem, wrapped.position, wrapped.advice),
      }
    case 'taken': {
      // Where there is no node, there is nothing to merge it over.
      const isHere = wrapped.isPart && isNode(await readers.unit.observe())
      const loaded = isHere
        ? await loadMerged(shown, { data: { [KEY]: wrapped.text }, base: LOCAL }, KEY, readers)
        : alone(wrapped.text, wrapped.place, wrapped.isPart)
      return loaded.kind === 'loaded' ? { ...loaded, taken: wrapped.from } : loaded
    }
  }
}

const LOCAL: Base = { kind: 'local', text: 'local' }

/** A part, or a config whose values are computed. */
async function loadMerged(
  shown: string,
  { data, base }: { readonly data: ConfigMapData; readonly base: Base | undefined },
  key: string,
  readers: PartReaders,
): Promise<LoadedCandidate> {
  const found: FoundConfigMap = { kind: 'found', uid: '', resourceVersion: '', data, base }
  const read = await readBases({ ref: { namespace: '', name: '', kubeletConfigKey: key } }, found, (ref) =>
    readConfigMapOnce(readers.api, ref),
  )
  // Where there is no node, there is nothing to merge it over.
  const isPart = restsOnLocal(read) && !isNode(await readers.unit.observe())
  const here = isPart ? { ...readers, readLocalConfig: async () => EMPTY_LOCAL } : readers
  const merged = await mergeOnce({ ...read, base }, key, here)
  if (!merged.ok) return { kind: 'failed', detail: `${shown}: ${merged.detail}` }
  const layers = await readLayers({ name: shown, key }, read, [], here)
  const { rendered, computed } = merged
  // Fields that are not computed here are set on each node.
  const isOpen = isPart || (computed.length === 0 && mayCompute(data[key]))
  const loaded = loadData(nameUnder(shown, { base }), rendered.data, key, layers, isOpen)
  return computed.length > 0 || mayCompute(data[key]) ? { ...loaded, computed } : loaded
}

/** The index of the first byte that is not valid UTF-8. */
function findInvalid(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'))
  const differs = bytes.findIndex((byte, index) => byte !== again[index])
  return differs < 0 ? bytes.length : differs
}

async function fetchText(
  { namespace, name, key }: Extract<CandidateName, { kind: 'config-map' }>,
  context: PatchReaders & PartReaders & Pick<CommandContext, 'fetchDesired'>,
  overlaid: boolean,
): Promise<LoadedCandidate> {
  const { api } = context
  const asked = `configmap/${namespace}/${name}:${key}`
  const ref = { namespace, name, kubeletConfigKey: key }
  const view = await readAssignedOnce(api, { ref })
  if (view.kind === 'pending') return { kind: 'failed', detail: `${asked}: the API server did not answer` }
  if (view.kind === 'unavailable') return { kind: 'failed', detail: `${asked}: ${view.detail}` }
  const object = { ...view, layers: overlaid ? await findLayersOver(ref, context) : undefined }
  const isMerged = object.base !== undefined || object.layers !== undefined || mayCompute(view.data[key])
  const merged = isMerged ? await mergeOnce(object, key, context) : undefined
  if (merged?.ok === false) return { kind: 'failed', detail: `${asked}: ${merged.detail}` }
  const patches = overlaid ? await readPatches({ ref, object }, context) : []
  const layers = await readLayers({ name: nameConfigMap(ref), key }, object, patches, context)
  const loaded = await loadPatched(nameUnder(asked, object), merged?.rendered.data ?? view.data, key, patches, layers)
  if (loaded.kind !== 'loaded') return loaded
  return { ...loaded, rollout: view.rollout, ...(merged !== undefined && merged.computed.length > 0 && { computed: merged.computed }) }
}

async function loadPatched(
  shown: string,
  data: ConfigMapData,
  key: string,
  patches: readonly NodePatches[],
  layers: readonly ConfigLayer[],
): Promise<LoadedCandidate> {
  let patched = { name: shown, data }
  for (const { patches: set, view } of patches) {
    if (view.kind === 'faulty') return { kind: 'failed', detail: `${shown}: the ${set.name} cannot be used: ${view.detail}` }
    if (view.kind !== 'present') continue
    const rendering = await awaitRendering(view, patched.data, key)
    if (!rendering.ok) return { kind: 'failed', detail: `${shown}: ${rendering.detail}` }
    if (rendering.applied.length === 0) continue
    patched = { name: nameOverlaid(shown, rendering.rendered.overlay), data: rendering.rendered.data }
  }
  return loadData(patched.name, patched.data, key, layers)
}

function loadData(
  name: string,
  files: ConfigMapData,
  key: string,
  layers: readonly ConfigLayer[],
  isPart = false,
): LoadedCandidate & { readonly kind: 'loaded' } {
  const text = Object.hasOwn(files, key) ? files[key] : undefined
  return { kind: 'loaded', config: { name, files, key, isPart }, shown: { text: text ?? '', place: asIs }, layers }
}

/** A place in this config is a place in the result. */
function namePart(name: string, base: Base): string {
  return `${name} over ${base.text}`
}

/** As `namePart`, with the layers that are laid over it. */
export function nameUnder(name: string, { base, layers = [] }: Pick<FoundConfigMap, 'base' | 'layers'>): string {
  const part = base === undefined ? name : namePart(name, base)
  return layers.length === 0 ? part : `${part} under ${layers.map(({ ref }) => `${ref.namespace}/${ref.name}`).join(', ')}`
}

/** A place in this config is a place in the result of the overlay. */
export function nameOverlaid(name: string, overlay: string): string {
  return `${name} with overlay ${overlay}`
}

const asIs: PlaceInFile = (position) => position
