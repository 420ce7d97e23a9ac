// SPDX-License-Identifier: Apache-2.0
/**
 * Node and ConfigMap manifests: the objects in one file, and the assignment that all files together
 * give one node. A file that does not parse, or two manifests of the same object, never mean local.
 * Pure.
 */
import { createHash } from 'node:crypto'
import { FLEET_LABEL } from '../decision/channels.ts'
import type { ClusterPause, ConfigMapView, Desired } from '../decision/desired.ts'
import { joinPauses } from '../decision/find-pause.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import { withBases } from './base-chain.ts'
import { readFleetMembers } from './channels/fleet.ts'
import { metadataOf, readPause } from './channels/metadata.ts'
import { type ChannelResolution, type ChannelSettings, type Fleet, resolveChannels } from './channels/resolve.ts'
import { readNodeFacts, toDesired } from './channels/to-desired.ts'
import { dataOf, identityOf, viewConfigMap } from './kube-object.ts'

/**
 * Every document of a YAML (or JSON) text. `detail` gives the place of the error and does
 * not quote the text.
 */
export type ParsedDocuments =
  | { readonly ok: true; readonly documents: readonly { readonly value: unknown }[] }
  | { readonly ok: false; readonly detail: string }

type FileReading = { readonly kind: 'good'; readonly objects: readonly JsonObject[] } | { readonly kind: 'bad'; readonly detail: string }

/** One file. `problem` together with `objects`: the objects are those of its last good content. */
export interface ManifestFile {
  readonly name: string
  readonly objects: readonly JsonObject[] | undefined
  readonly problem: string | undefined
}

/**
 * The most bytes of one file: it may hold several ConfigMaps. The parser of YAML takes no longer
 * text.
 */
export const MOST_MANIFESTS_BYTES = 4 << 20

export function isManifestName(name: string): boolean {
  return /^[^.].*\.(ya?ml|json)$/i.test(name)
}

interface ManifestResolution {
  readonly desired: Desired
  /** undefined: the Node itself is not known. */
  readonly resolution: ChannelResolution | undefined
}

export function readManifest(parsed: ParsedDocuments): FileReading {
  if (!parsed.ok) return { kind: 'bad', detail: parsed.detail }
  const objects: JsonObject[] = []
  for (const document of parsed.documents.flatMap(({ value }) => expandList(value))) {
    if (document === null || document === undefined) continue
    if (!isObject(document) || typeof document.kind !== 'string') return { kind: 'bad', detail: 'a document has no kind' }
    if (document.apiVersion !== 'v1' || (document.kind !== 'Node' && document.kind !== 'ConfigMap')) continue
    const identity = identityOf(document)
    if (identity === undefined) return { kind: 'bad', detail: `a ${document.kind} has no metadata.name` }
    // An API server would refuse it too: `true` without quotes is not a string.
    if (metadataOf(document) === undefined)
      return { kind: 'bad', detail: `labels or annotations of ${document.kind} ${identity.name} are not maps of strings` }
    if (document.kind === 'ConfigMap' && dataOf(document) === undefined)
      return { kind: 'bad', detail: `data of ConfigMap ${identity.name} is not a map of strings` }
    objects.push(document)
  }
  return { kind: 'good', objects }
}

export function resolveManifests(files: readonly ManifestFile[], nodeName: string, channels: ChannelSettings): ManifestResolution {
  const nodes = findObjects(files, 'Node', '', nodeName)
  const [node, ...otherNodes] = nodes
  const unread = files.find(({ objects }) => objects === undefined)
  if (node === undefined) {
    const suffix = unread === undefined ? '' : ` (${unread.name} cannot be read: ${unread.problem})`
    return unknown(`no manifest of Node ${nodeName}${suffix}`)
  }
  if (otherNodes.length > 0) return unknown(`Node ${nodeName} is in more than one manifest: ${namesOf(nodes)}`)
  const resolution = resolveChannels(node.object, channels, findFleet(files, channels.namespace))
  // The unreadable file could hold another manifest of this Node.
  if (resolution.kind === 'local' && unread !== undefined) return unknown(`${unread.name} cannot be read: ${unread.problem}`)
  const metadata = metadataOf(node.object)
  const pausedNode = metadata && readPause(metadata, 'Node', nodeName)
  const facts = readNodeFacts(node.object, channels)
  if (resolution.kind !== 'config-map') {
    return { resolution, desired: toDesired(resolution, { object: { kind: 'pending' }, paused: pausedNode, node: facts }) }
  }
  const { view, paused } = findConfigMap(files, resolution.ref)
  const object = withBases(resolution, view, (base) => findConfigMap(files, base).view)
  return { resolution, desired: toDesired(resolution, { object, paused: joinPauses(pausedNode, paused), node: facts }) }
}

function unknown(detail: string): ManifestResolution {
  return { resolution: undefined, desired: { kind: 'unknown', detail } }
}

/** An unreadable file may hold another member. */
function findFleet(files: readonly ManifestFile[], namespace: string): Fleet {
  const unread = files.find(({ objects }) => objects === undefined)
  if (unread !== undefined) return { kind: 'unreadable', detail: `${unread.name} cannot be read: ${unread.problem}` }
  const configMaps = files.flatMap(({ objects = [] }) => objects).filter((object) => isKindIn(object, 'ConfigMap', namespace))
  const labelled = configMaps.filter((object) => metadataOf(object)?.labels[FLEET_LABEL] === 'true')
  return { kind: 'known', members: readFleetMembers(labelled) }
}

interface FoundConfigMap {
  readonly view: ConfigMapView
  readonly paused: ClusterPause | undefined
}

function findConfigMap(files: readonly ManifestFile[], { namespace, name }: { namespace: string; name: string }): FoundConfigMap {
  const unavailable = (reason: 'malformed' | 'not-found', detail: string): FoundConfigMap => ({
    view: { kind: 'unavailable', reason, detail },
    paused: undefined,
  })
  const found = findObjects(files, 'ConfigMap', namespace, name)
  const [configMap, ...others] = found
  if (others.length > 0) {
    return unavailable('malformed', `ConfigMap ${namespace}/${name} is in more than one manifest: ${namesOf(found)}`)
  }
  if (configMap !== undefined) {
    const metadata = metadataOf(configMap.object)
    const paused = metadata && readPause(metadata, 'ConfigMap', `${namespace}/${name}`)
    return { view: viewConfigMap(withVersion(configMap.object)), paused }
  }
  const unread = files.find(({ objects }) => objects === undefined)
  if (unread !== undefined) return unavailable('malformed', `${unread.name} cannot be read: ${unread.problem}`)
  return unavailable('not-found', `no manifest of ConfigMap ${namespace}/${name}`)
}

/**
 * Sets what an API server would: a uid that depends on the name, if none is given, and a
 * resourceVersion that changes with the data. One that is given does not: it was the version in the
 * cluster from which the manifest was read, and whoever edits the data leaves it as it is.
 */
export function withVersion(configMap: JsonObject): JsonObject {
  const { name = '', namespace = '', uid = '' } = identityOf(configMap) ?? {}
  const metadata = isObject(configMap.metadata) ? configMap.metadata : {}
  return {
    ...configMap,
    metadata: {
      ...metadata,
      uid: uid === '' ? uidFromName(`${namespace === '' ? 'default' : namespace}/${name}`) : uid,
      resourceVersion: versionFromData(dataOf(configMap) ?? {}),
    },
  }
}

interface Found {
  readonly file: string
  readonly object: JsonObject
}

function findObjects(files: readonly ManifestFile[], kind: string, namespace: string, name: string): Found[] {
  return files.flatMap(({ name: file, objects = [] }) =>
    objects.filter((object) => isKindIn(object, kind, namespace) && identityOf(object)?.name === name).map((object) => ({ file, object })),
  )
}

function isKindIn(object: JsonObject, kind: string, namespace: string): boolean {
  const objectNamespace = kind === 'Node' ? '' : identityOf(object)?.namespace || 'default'
  return object.kind === kind && objectNamespace === namespace
}

function expandList(document: unknown): unknown[] {
  return isObject(document) && document.kind === 'List' && Array.isArray(document.items) ? document.items : [document]
}

function namesOf(found: readonly Found[]): string {
  return [...new Set(found.map(({ file }) => file))].join(', ')
}

/** RFC 4122, version 5, in a name space of the agent's own. */
const NAME_SPACE = Buffer.from('0d1f6a1e5d0c4f0e9a3b7c2d8e4f5a61', 'hex')

function uidFromName(name: string): string {
  const hash = createHash('sha1').update(NAME_SPACE).update(name).digest()
  hash.writeUInt8(((hash[6] ?? 0) & 0x0f) | 0x50, 6)
  hash.writeUInt8(((hash[8] ?? 0) & 0x3f) | 0x80, 8)
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function versionFromData(data: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16)
}
