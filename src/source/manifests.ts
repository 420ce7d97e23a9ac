/**
 * Node and ConfigMap manifests from files: what one file holds, and what all of them together want of one node. A file that does not
 * parse, or two files that both speak for one object, never mean local. Pure.
 */
import { createHash } from 'node:crypto'
import { isObject, type JsonObject } from '../agent/is-object.ts'
import type { ConfigMapView, Desired } from '../agent/model.ts'
import { readAssignment } from './desired.ts'
import { dataOf, identityOf, viewConfigMap } from './kube-object.ts'

/** Every document of a text of YAML (or JSON); `detail` says where it is wrong, without quoting it. */
export type ParseDocuments = (
  text: string,
) => { readonly ok: true; readonly documents: readonly { readonly value: unknown }[] } | { readonly ok: false; readonly detail: string }

export type FileReading =
  | { readonly kind: 'good'; readonly objects: readonly JsonObject[] }
  | { readonly kind: 'bad'; readonly detail: string }

/** What is known of one file. `bad` with `objects`: it was good before, and that stands. */
export interface ManifestFile {
  readonly name: string
  readonly objects: readonly JsonObject[] | undefined
  readonly problem: string | undefined
}

export function isManifestName(name: string): boolean {
  return /^[^.].*\.(ya?ml|json)$/i.test(name)
}

export function readManifest(text: string, parse: ParseDocuments): FileReading {
  const parsed = parse(text)
  if (!parsed.ok) return { kind: 'bad', detail: parsed.detail }
  const objects: JsonObject[] = []
  for (const document of parsed.documents.flatMap(({ value }) => unfoldList(value))) {
    if (document === null || document === undefined) continue
    if (!isObject(document) || typeof document.kind !== 'string') return { kind: 'bad', detail: 'a document has no kind' }
    if (document.apiVersion !== 'v1' || (document.kind !== 'Node' && document.kind !== 'ConfigMap')) continue
    const identity = identityOf(document)
    if (identity === undefined) return { kind: 'bad', detail: `a ${document.kind} has no metadata.name` }
    if (document.kind === 'ConfigMap' && dataOf(document) === undefined)
      return { kind: 'bad', detail: `data of ConfigMap ${identity.name} is not text by key` }
    objects.push(document)
  }
  return { kind: 'good', objects }
}

export function resolveManifests(files: readonly ManifestFile[], nodeName: string): Desired {
  const nodes = findObjects(files, 'Node', '', nodeName)
  const [node, ...otherNodes] = nodes
  const unread = files.find(({ objects }) => objects === undefined)
  if (node === undefined) {
    const why = unread === undefined ? '' : ` (${unread.name} cannot be read: ${unread.problem})`
    return { kind: 'unknown', detail: `no manifest of Node ${nodeName}${why}` }
  }
  if (otherNodes.length > 0) return { kind: 'unknown', detail: `Node ${nodeName} is in more than one manifest: ${namesOf(nodes)}` }
  const assignment = readAssignment(node.object)
  switch (assignment.kind) {
    case 'invalid':
      return assignment
    case 'local':
      return unread === undefined ? assignment : { kind: 'unknown', detail: `${unread.name} cannot be read: ${unread.problem}` }
    case 'config-map':
      return { kind: 'config-map', ref: assignment.ref, object: findConfigMap(files, assignment.ref) }
  }
}

function findConfigMap(files: readonly ManifestFile[], { namespace, name }: { namespace: string; name: string }): ConfigMapView {
  const found = findObjects(files, 'ConfigMap', namespace, name)
  const [configMap, ...others] = found
  if (others.length > 0) {
    const detail = `ConfigMap ${namespace}/${name} is in more than one manifest: ${namesOf(found)}`
    return { kind: 'unavailable', reason: 'malformed', detail }
  }
  if (configMap !== undefined) return viewConfigMap(withVersion(configMap.object))
  const unread = files.find(({ objects }) => objects === undefined)
  if (unread !== undefined) return { kind: 'unavailable', reason: 'malformed', detail: `${unread.name} cannot be read: ${unread.problem}` }
  return { kind: 'unavailable', reason: 'not-found', detail: `no manifest of ConfigMap ${namespace}/${name}` }
}

/** As an API server would have given them: a uid that stays with the name, a version that changes with the content. */
export function withVersion(configMap: JsonObject): JsonObject {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = identityOf(configMap) ?? {}
  const metadata = isObject(configMap.metadata) ? configMap.metadata : {}
  return {
    ...configMap,
    metadata: {
      ...metadata,
      uid: uid === '' ? uidFromName(`${namespace === '' ? 'default' : namespace}/${name}`) : uid,
      resourceVersion: resourceVersion === '' ? versionFromData(dataOf(configMap) ?? {}) : resourceVersion,
    },
  }
}

interface Found {
  readonly file: string
  readonly object: JsonObject
}

function findObjects(files: readonly ManifestFile[], kind: string, namespace: string, name: string): Found[] {
  return files.flatMap(({ name: file, objects = [] }) =>
    objects
      .filter((object) => {
        const identity = identityOf(object)
        const itsNamespace = kind === 'Node' ? '' : identity?.namespace || 'default'
        return object.kind === kind && identity?.name === name && itsNamespace === namespace
      })
      .map((object) => ({ file, object })),
  )
}

function unfoldList(document: unknown): unknown[] {
  return isObject(document) && document.kind === 'List' && Array.isArray(document.items) ? document.items : [document]
}

function namesOf(found: readonly Found[]): string {
  return [...new Set(found.map(({ file }) => file))].join(', ')
}

/** RFC 4122, version 5, in a name space of our own. */
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
