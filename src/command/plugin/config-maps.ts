// SPDX-License-Identifier: Apache-2.0
/** ConfigMaps that hold configs, read and written for commands. Pure but for the API. */
import { BASE_ANNOTATION } from '../../decision/channels.ts'
import { metadataOf, readPause } from '../../source/channels/metadata.ts'
import { dataOf, identityOf } from '../../source/kube-object.ts'
import type { ConfigMapData } from '../../subject/config-source.ts'
import { isObject, type JsonObject } from '../../values/is-object.ts'
import { isNamespace, isObjectName } from '../../values/kubernetes-names.ts'
import { type CommandArgument, Failure } from '../command.ts'
import { describeRefused, objectOf } from '../failure.ts'
import { listPages } from '../list-pages.ts'
import type { PluginContext } from './command.ts'

/** On a kept version: of which config. */
export const KEPT_LABEL = 'kubelet-cfg-agent.io/kept-version-of'

/** The content of a ConfigMap that kubelets get. */
export interface ConfigContent {
  readonly data: ConfigMapData
  /** The text of the annotation. undefined: it holds a whole config. */
  readonly base: string | undefined
}

export interface FoundConfig extends ConfigContent {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly created: string
  readonly annotations: Readonly<Record<string, string>>
}

export function checkConfigName(name: string): void {
  if (!isObjectName(name)) throw new Failure(`"${name}" is not a valid name of a ConfigMap`)
}

/** @throws Failure: the namespace may be what a Node says of itself */
export function pathOf({ namespace }: Pick<PluginContext, 'namespace'>, name?: string): string {
  if (!isNamespace(namespace)) throw new Failure(`"${namespace}" is not a valid name of a namespace`)
  return `/api/v1/namespaces/${namespace}/configmaps${name === undefined ? '' : `/${name}`}`
}

/** @returns undefined: it does not exist. @throws Failure */
export async function findConfig(context: PluginContext, name: string): Promise<FoundConfig | undefined> {
  checkConfigName(name)
  const { api, namespace } = context
  const answer = await api.request({ method: 'GET', path: pathOf(context, name) })
  if (answer.kind === 'refused' && answer.status === 404) return undefined
  const found = readConfigMap(objectOf({ verb: 'get', resource: 'configmaps', name, namespace }, answer))
  if (found === undefined) throw new Failure(`ConfigMap ${namespace}/${name} is malformed`)
  return found
}

/** @throws Failure */
export async function getConfig(context: PluginContext, name: string): Promise<FoundConfig> {
  const found = await findConfig(context, name)
  if (found === undefined) throw new Failure(`ConfigMap ${context.namespace}/${name} does not exist`)
  return found
}

export function readConfigMap(object: unknown): FoundConfig | undefined {
  const identity = identityOf(object)
  const data = isObject(object) ? dataOf(object) : undefined
  const annotations = metadataOf(object)?.annotations
  if (identity === undefined || data === undefined || annotations === undefined) return undefined
  const { creationTimestamp } = isObject(object) && isObject(object.metadata) ? object.metadata : {}
  const created = typeof creationTimestamp === 'string' ? creationTimestamp : ''
  const { name, uid, resourceVersion } = identity
  return { name, uid, resourceVersion, created, annotations, data, base: annotations[BASE_ANNOTATION] }
}

/** @returns `not-served`: the API server has no such resource. @throws Failure */
export async function createObject(
  context: Pick<PluginContext, 'api'>,
  path: string,
  body: JsonObject,
  asked: { readonly resource: string; readonly namespace?: string | undefined },
): Promise<'created' | 'exists' | 'not-served'> {
  const answer = await context.api.request({ method: 'POST', path, body, contentType: 'application/json' })
  if (answer.kind === 'refused' && answer.reason === 'AlreadyExists') return 'exists'
  // Where the request names no namespace, 404 means that the API server has no such resource.
  if (answer.kind === 'refused' && answer.status === 404 && asked.namespace === undefined) return 'not-served'
  if (answer.kind !== 'ok') throw new Failure(describeRefused({ verb: 'create', ...asked }, answer))
  return 'created'
}

/** @throws Failure, also where the object is not of the version that the patch names */
export async function patchConfig(context: PluginContext, name: string, patch: JsonObject): Promise<void> {
  const { api, namespace } = context
  const path = pathOf(context, name)
  const answer = await api.request({ method: 'PATCH', path, body: patch, contentType: 'application/merge-patch+json' })
  objectOf({ verb: 'patch', resource: 'configmaps', name, namespace }, answer)
}

export function isPaused(annotations: Readonly<Record<string, string>>): boolean {
  return readPause({ labels: {}, annotations }, 'ConfigMap', '') !== undefined
}

export async function listNames(context: PluginContext, kind: NonNullable<CommandArgument['completes']>): Promise<readonly string[]> {
  const { api, namespace } = context
  const isNode = kind === 'node'
  const resource = isNode ? 'nodes' : 'configmaps'
  const asked = { verb: 'list', resource }
  if (isNode)
    return (await listPages(api, { path: '/api/v1/nodes', as: 'PartialObjectMetadataList', asked }, (object) => identityOf(object)?.name))
      .items
  // Records of rollouts and what else is there have other keys.
  const query = { labelSelector: `!${KEPT_LABEL}` }
  const listing = { path: `/api/v1/namespaces/${namespace}/configmaps`, query, asked }
  const isConfig = (found: FoundConfig | undefined) =>
    found !== undefined && (found.base !== undefined || Object.hasOwn(found.data, 'kubelet'))
  return (await listPages(api, listing, (object) => (isConfig(readConfigMap(object)) ? identityOf(object)?.name : undefined))).items
}

/** @throws Failure, also where somebody else has changed the ConfigMap meanwhile */
export async function annotate(
  context: PluginContext,
  { name, resourceVersion }: FoundConfig,
  annotations: Readonly<Record<string, string | null>>,
): Promise<void> {
  await patchConfig(context, name, { metadata: { resourceVersion, annotations } })
}
