/**
 * One look at what is assigned, for those who do not follow it: a Node and the ConfigMap it names from the API server, or all manifests of a directory.
 * The same readers decide as for the agent, which watches. Pure but for the ports that are passed in.
 */

import type { ConfigMapRef } from '../decision/config-source.ts'
import type { ConfigMapView, Desired } from '../decision/desired.ts'
import { sourcePath } from '../decision/status-texts.ts'
import type { Files } from '../ports/files.ts'
import type { KubeAnswer, KubeApi } from '../ports/kube-api.ts'
import { errorMessage } from '../values/errors.ts'
import { isObject } from '../values/is-object.ts'
import { fleetCollection, readFleetMembers } from './channels/fleet.ts'
import { metadataOf } from './channels/metadata.ts'
import { readPause } from './channels/paused-annotation.ts'
import { type ChannelSettings, type Fleet, needsFleet, resolveChannels } from './channels/resolve.ts'
import { toDesired } from './channels/to-desired.ts'
import { viewConfigMap } from './kube-object.ts'
import { isManifestName, type ManifestFile, type ParseDocuments, readManifest, resolveManifests } from './manifests.ts'

type Asker = Pick<KubeApi, 'request'>

export async function askAssignment(api: Asker, nodeName: string, channels: ChannelSettings): Promise<Desired> {
  const answer = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}` })
  if (answer.kind === 'refused' && answer.status === 404)
    return { kind: 'unknown', detail: `Node ${nodeName} does not exist in the cluster` }
  if (answer.kind !== 'ok') return { kind: 'unknown', detail: `Node ${nodeName} cannot be read: ${answer.detail}` }
  const node = answer.object
  const fleet: Fleet = needsFleet(node, channels) ? await askFleet(api, channels.namespace) : { kind: 'pending' }
  const resolution = resolveChannels(node, channels, fleet)
  const object: ConfigMapView = resolution.kind === 'config-map' ? await askConfigMap(api, resolution.ref) : { kind: 'pending' }
  const metadata = metadataOf(node)
  return toDesired(resolution, { object, paused: metadata && readPause(metadata, 'Node', nodeName) })
}

async function askFleet(api: Asker, namespace: string): Promise<Fleet> {
  const answer = await api.request({ method: 'GET', ...fleetCollection(namespace), as: 'PartialObjectMetadataList' })
  if (answer.kind !== 'ok') return { kind: 'unreadable', detail: answer.detail }
  const items = isObject(answer.object) && Array.isArray(answer.object.items) ? answer.object.items : undefined
  if (items === undefined) return { kind: 'unreadable', detail: 'the answer is no list' }
  return { kind: 'known', members: readFleetMembers(items) }
}

export async function askConfigMap(api: Asker, ref: Pick<ConfigMapRef, 'namespace' | 'name'>): Promise<ConfigMapView> {
  const answer = await api.request({ method: 'GET', path: sourcePath(ref) })
  if (answer.kind === 'ok') return viewConfigMap(answer.object)
  return {
    kind: 'unavailable',
    reason: reasonOf(answer),
    detail: answer.kind === 'refused' && answer.status === 404 ? 'it does not exist' : answer.detail,
  }
}

function reasonOf(answer: Exclude<KubeAnswer, { kind: 'ok' }>): 'not-found' | 'forbidden' | 'unreachable' {
  if (answer.kind === 'unreachable') return 'unreachable'
  if (answer.status === 404) return 'not-found'
  return answer.status === 401 || answer.status === 403 ? 'forbidden' : 'unreachable'
}

/** A file that is being written right now is read as it is: nothing is decided by this look. */
export function askManifests(
  path: string,
  nodeName: string,
  channels: ChannelSettings,
  files: Pick<Files, 'list' | 'read' | 'stat'>,
  parse: ParseDocuments,
): Desired {
  try {
    const names = files.list(path)
    if (names === undefined) return { kind: 'unknown', detail: `the directory of manifests ${path} does not exist` }
    const manifests = names.filter(isManifestName).flatMap((name) => readOne(path, name, files, parse))
    return resolveManifests(manifests, nodeName, channels).desired
  } catch (error) {
    return { kind: 'unknown', detail: errorMessage(error) }
  }
}

function readOne(path: string, name: string, files: Pick<Files, 'read' | 'stat'>, parse: ParseDocuments): ManifestFile[] {
  const file = `${path}/${name}`
  const bytes = files.stat(file)?.kind === 'directory' ? undefined : files.read(file)
  if (bytes === undefined) return []
  const reading = readManifest(bytes.toString('utf8'), parse)
  const problem = reading.kind === 'good' ? undefined : reading.detail
  return [{ name, objects: reading.kind === 'good' ? reading.objects : undefined, problem }]
}
