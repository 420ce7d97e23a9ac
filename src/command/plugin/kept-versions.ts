// SPDX-License-Identifier: Apache-2.0
/**
 * Versions of a config that are kept in the cluster: `NAME-HASH`, immutable ConfigMaps that are
 * assigned to nobody. The hash is of the data and of what a part is merged over. Pure but for the
 * API.
 */
import { createHash } from 'node:crypto'
import { BASE_ANNOTATION } from '../../decision/channels.ts'
import { isObjectName } from '../../values/kubernetes-names.ts'
import { Failure, orElse } from '../command.ts'
import { listPages } from '../list-pages.ts'
import type { PluginContext } from './command.ts'
import {
  type ConfigContent,
  createObject,
  type FoundConfig,
  findConfig,
  KEPT_LABEL,
  patchConfig,
  pathOf,
  readConfigMap,
} from './config-maps.ts'

/** On the config: the hash of what it held before. */
const PREVIOUS_ANNOTATION = 'kubelet-cfg-agent.io/previous-version'
/** On the config: the hash of what was written together with that. */
const WRITTEN_ANNOTATION = 'kubelet-cfg-agent.io/written-version'

const HASH_LENGTH = 10
const LONGEST_LABEL = 63

export function hashVersion({ data, base }: ConfigContent): string {
  const entries = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([base ?? null, entries]))
    .digest('hex')
    .slice(0, HASH_LENGTH)
}

/**
 * A version as `get`, `why` and the nodes name it is a resourceVersion, which only the ConfigMap
 * itself has. The hash also names what is kept beside it.
 */
export function sayVersion(name: string, held: FoundConfig): string {
  const hash = `hash ${hashVersion(held)}`
  return held.name === name ? `version ${held.resourceVersion} (${hash})` : `the kept version with ${hash}`
}

function keptName(name: string, hash: string): string {
  const kept = `${name}-${hash}`
  if (!isObjectName(kept)) throw new Failure(`${name} is too long: a kept version is called NAME-HASH, and has at most 253 characters`)
  return kept
}

/** A label has at most 63 characters, and a name more. */
function labelOf(name: string): string {
  return name.length <= LONGEST_LABEL ? name : createHash('sha256').update(name).digest('hex').slice(0, 40)
}

/** The newest first. @throws Failure */
export async function listVersions(context: PluginContext, name: string): Promise<readonly FoundConfig[]> {
  const { api, namespace } = context
  const query = { labelSelector: `${KEPT_LABEL}=${labelOf(name)}` }
  const asked = { verb: 'list', resource: 'configmaps', namespace }
  const { items } = await listPages(api, { path: pathOf(context), query, asked }, readConfigMap)
  // The hash in the name is the proof of the content.
  const own = items.filter((kept) => kept.name === `${name}-${hashVersion(kept)}`)
  return own.sort((a, b) => (a.created < b.created ? 1 : -1))
}

/**
 * The version before what the config holds now. kubectl edit and others change the data and keep
 * the annotation, which then says nothing about that data.
 *
 * @returns undefined: no annotation says it
 */
export function previousOf(current: FoundConfig, kept: readonly FoundConfig[]): string | 'stale' | undefined {
  const { [PREVIOUS_ANNOTATION]: previous, [WRITTEN_ANNOTATION]: written } = current.annotations
  if (previous === undefined) return undefined
  const now = hashVersion(current)
  // An earlier plugin wrote the first annotation alone. It kept all that it wrote.
  const isOurs = written === undefined ? kept.some((version) => hashVersion(version) === now) : written === now
  return isOurs ? previous : 'stale'
}

/** @throws Failure */
async function keepVersion(context: PluginContext, name: string, content: ConfigContent): Promise<void> {
  const { data, base } = content
  const metadata = {
    name: keptName(name, hashVersion(content)),
    labels: { [KEPT_LABEL]: labelOf(name) },
    ...(base !== undefined && { annotations: { [BASE_ANNOTATION]: base } }),
  }
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, immutable: true, data }
  await createObject(context, pathOf(context), body, { resource: 'configmaps', namespace: context.namespace })
}

/**
 * Keeps what is there and what comes, then writes it.
 *
 * @param current undefined: the config does not exist yet
 * @returns the name of the version that was written, for messages
 * @throws Failure, also where somebody else has written meanwhile
 */
export async function writeVersion(
  context: PluginContext,
  name: string,
  current: FoundConfig | undefined,
  content: ConfigContent,
): Promise<string> {
  await keepVersion(context, name, content)
  await write(context, name, current, content)
  // The write has succeeded, whatever reading it back says.
  const written = await orElse(findConfig(context, name), () => undefined)
  const hash = hashVersion(content)
  return written !== undefined && hashVersion(written) === hash ? sayVersion(name, written) : `hash ${hash}`
}

/** @param current undefined: the config does not exist yet */
async function write(context: PluginContext, name: string, current: FoundConfig | undefined, content: ConfigContent): Promise<void> {
  const { data, base } = content
  if (current === undefined) {
    const metadata = { name, ...(base !== undefined && { annotations: { [BASE_ANNOTATION]: base } }) }
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
    const outcome = await createObject(context, pathOf(context), body, { resource: 'configmaps', namespace: context.namespace })
    if (outcome === 'exists') throw new Failure(`somebody else has just created ConfigMap ${name}: run the command again`)
    return
  }
  await keepVersion(context, name, current)
  const removed = Object.keys(current.data).filter((key) => !Object.hasOwn(data, key))
  await patchConfig(context, name, {
    metadata: {
      resourceVersion: current.resourceVersion,
      annotations: {
        [BASE_ANNOTATION]: base ?? null,
        [PREVIOUS_ANNOTATION]: hashVersion(current),
        [WRITTEN_ANNOTATION]: hashVersion(content),
      },
    },
    data: { ...data, ...Object.fromEntries(removed.map((key) => [key, null])) },
  })
}
