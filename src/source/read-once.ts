// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the assignment once, for commands that do not watch it: a Node and its ConfigMap from the
 * API server, or all manifests of a directory. Uses the same rules as the agent. Pure, apart from
 * the ports that are passed in.
 */

import type { ClusterPause, ConfigMapView, Desired, ReadFailure, UnavailableReason } from '../decision/desired.ts'
import { joinPauses } from '../decision/find-pause.ts'
import { sourcePath } from '../decision/status-texts.ts'
import type { NodeView } from '../ports/assignment-source.ts'
import type { OwnedFiles } from '../ports/files.ts'
import type { KubeAnswer, KubeApi } from '../ports/kube-api.ts'
import type { ConfigMapRef } from '../subject/config-source.ts'
import { readNodeShown } from '../subject/node-shown.ts'
import { errorMessage } from '../values/errors.ts'
import { type AssignedRefs, readBases } from './base-chain.ts'
import { fleetCollection, readFleetMembers, requestedMembers } from './channels/fleet.ts'
import { metadataOf, readPause } from './channels/metadata.ts'
import { type ChannelSettings, type Fleet, needsFleet, resolveChannels } from './channels/resolve.ts'
import { readNodeFacts, toDesired } from './channels/to-desired.ts'
import { readAnswer, readListAnswer, viewConfigMap, wholeNode } from './kube-object.ts'
import {
  isManifestName,
  type ManifestFile,
  MOST_MANIFESTS_BYTES,
  type ParsedDocuments,
  readManifest,
  resolveManifests,
} from './manifests.ts'

type Requester = Pick<KubeApi, 'request'>

export async function readAssignmentOnce(api: Requester, nodeName: string, channels: ChannelSettings): Promise<Desired> {
  const answer = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}` })
  if (answer.kind === 'refused' && answer.status === 404)
    return { kind: 'unknown', detail: `Node ${nodeName} does not exist in the cluster` }
  if (answer.kind !== 'ok') return { kind: 'unknown', detail: `Node ${nodeName} cannot be read: ${answer.detail}` }
  const reading = readAnswer(answer.object, wholeNode(nodeName))
  if (!reading.ok) return { kind: 'unknown', detail: `Node ${nodeName} cannot be read: ${reading.detail}` }
  const node = reading.found.object
  const fleet: Fleet = needsFleet(node, channels) ? await readFleet(api, channels.namespace) : { kind: 'pending' }
  const resolution = resolveChannels(node, channels, fleet)
  const { view, paused } = resolution.kind === 'config-map' ? await readWithPause(api, resolution.ref) : NOTHING_READ
  const object = resolution.kind === 'config-map' ? await mergeBases(api, resolution, view) : view
  const metadata = metadataOf(node)
  const pausedNode = metadata && readPause(metadata, 'Node', nodeName)
  return toDesired(resolution, { object, paused: joinPauses(pausedNode, paused), node: readNodeFacts(node, channels) })
}

/** The facts of the Node, for a command that computes values from them. */
export async function readNodeOnce(api: Requester, nodeName: string): Promise<NodeView> {
  const answer = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}` })
  const reading = answer.kind === 'ok' ? readAnswer(answer.object, wholeNode(nodeName)) : { ok: false as const, detail: answer.detail }
  const node = reading.ok ? readNodeShown(reading.found.object) : undefined
  if (node !== undefined) return { kind: 'found', node }
  return { kind: 'none', detail: `Node ${nodeName} cannot be read: ${reading.ok ? 'it is malformed' : reading.detail}` }
}

async function readFleet(api: Requester, namespace: string): Promise<Fleet> {
  const answer = await api.request({ method: 'GET', ...fleetCollection(namespace), as: 'PartialObjectMetadataList' })
  if (answer.kind !== 'ok') return { kind: 'unreadable', reason: failureOf(answer), detail: answer.detail }
  const list = readListAnswer(answer.object, requestedMembers(namespace))
  if (!list.ok) return { kind: 'unreadable', detail: list.detail }
  return { kind: 'known', members: readFleetMembers(list.found.map(({ object }) => object)) }
}

/** A ConfigMap with those that are merged with it. */
export async function readAssignedOnce(api: Requester, refs: AssignedRefs): Promise<ConfigMapView> {
  return mergeBases(api, refs, await readConfigMapOnce(api, refs.ref))
}

function mergeBases(api: Requester, refs: AssignedRefs, view: ConfigMapView): Promise<ConfigMapView> | ConfigMapView {
  return view.kind === 'found' ? readBases(refs, view, (base) => readConfigMapOnce(api, base)) : view
}

export async function readConfigMapOnce(
  api: Requester,
  ref: Pick<ConfigMapRef, 'namespace' | 'name'>,
  timeoutMs?: number,
): Promise<ConfigMapView> {
  return (await readWithPause(api, ref, timeoutMs)).view
}

interface ReadConfigMap {
  readonly view: ConfigMapView
  readonly paused: ClusterPause | undefined
}

const NOTHING_READ: ReadConfigMap = { view: { kind: 'pending' }, paused: undefined }

/** The pause stands also where the rest of the ConfigMap cannot be used. */
async function readWithPause(api: Requester, ref: Pick<ConfigMapRef, 'namespace' | 'name'>, timeoutMs?: number): Promise<ReadConfigMap> {
  const { namespace, name } = ref
  const answer = await api.request({ method: 'GET', path: sourcePath(ref), ...(timeoutMs !== undefined && { timeoutMs }) })
  if (answer.kind === 'refused' && answer.status === 404) return unavailable('not-found', 'it does not exist')
  if (answer.kind !== 'ok') return unavailable(failureOf(answer), answer.detail)
  const reading = readAnswer(answer.object, { kind: 'ConfigMap', namespace, name, form: 'whole' })
  if (!reading.ok) return unavailable('malformed', reading.detail)
  const { object } = reading.found
  const metadata = metadataOf(object)
  return { view: viewConfigMap(object), paused: metadata && readPause(metadata, 'ConfigMap', `${namespace}/${name}`) }
}

function unavailable(reason: UnavailableReason, detail: string): ReadConfigMap {
  return { view: { kind: 'unavailable', reason, detail }, paused: undefined }
}

function failureOf(answer: Exclude<KubeAnswer, { kind: 'ok' }>): ReadFailure {
  if (answer.kind === 'unreachable') return 'unreachable'
  if (answer.status === 403) return 'forbidden'
  // A matter of who asks, and not of what they may do.
  return answer.status === 401 ? 'unauthenticated' : 'unreachable'
}

/** Reads a file that is being written as it is: no decision of the agent rests on the result. */
export async function readManifestsOnce(
  path: string,
  nodeName: string,
  channels: ChannelSettings,
  files: OwnedFiles,
  parse: (text: string) => Promise<ParsedDocuments>,
): Promise<Desired> {
  try {
    const names = files.list(path)
    if (names === undefined) return { kind: 'unknown', detail: `the directory of manifests ${path} does not exist` }
    const manifests: ManifestFile[] = []
    for (const name of names.filter(isManifestName)) manifests.push(...(await readManifestFile(path, name, files, parse)))
    return resolveManifests(manifests, nodeName, channels).desired
  } catch (error) {
    return { kind: 'unknown', detail: errorMessage(error) }
  }
}

async function readManifestFile(
  path: string,
  name: string,
  files: OwnedFiles,
  parse: (text: string) => Promise<ParsedDocuments>,
): Promise<ManifestFile[]> {
  const file = `${path}/${name}`
  const bytes = files.stat(file)?.kind === 'directory' ? undefined : files.read(file, MOST_MANIFESTS_BYTES)
  if (bytes === undefined) return []
  const reading = readManifest(await parse(bytes.toString('utf8')))
  const problem = reading.kind === 'good' ? undefined : reading.detail
  return [{ name, objects: reading.kind === 'good' ? reading.objects : undefined, problem }]
}
