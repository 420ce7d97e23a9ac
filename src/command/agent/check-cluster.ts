// SPDX-License-Identifier: Apache-2.0
/**
 * The questions of `check` to the API server: whether it answers, who it takes the agent for,
 * whether the assigned config can be read, and which rights the agent has. The rights come from
 * SelfSubjectAccessReview, which asks all authorizers, also that of nodes. Changes nothing.
 */

import type { Desired } from '../../decision/desired.ts'
import { ROLLOUT_OFF } from '../../decision/staging.ts'
import type { ReadRight } from '../../evidence/kind.ts'
import { ALL_CONTRACTS, levelOf } from '../../evidence/kinds.ts'
import type { KubeAnswer, KubeApi } from '../../ports/kube-api.ts'
import { CHANNEL_NAMES, CHANNELS } from '../../report/channels.ts'
import type { Settings } from '../../settings/settings.ts'
import type { ConfigMapRef } from '../../subject/config-source.ts'
import { errorMessage } from '../../values/errors.ts'
import { isObject } from '../../values/is-object.ts'
import type { CommandContext } from './command.ts'
import type { SelfCheckResult } from './self-check.ts'

/** A CommandContext satisfies it. */
type ClusterSources = Pick<CommandContext, 'settings' | 'api' | 'nodeName' | 'fetchDesired' | 'rights'>

type Refusal = Exclude<KubeAnswer, { kind: 'ok' }>

export async function checkCluster(sources: ClusterSources): Promise<readonly SelfCheckResult[]> {
  const { api, settings } = sources
  if (settings.manifestDir !== undefined) return []
  const [kubeconfig] = sources.rights([{ path: settings.kubeconfig, need: 'read' }])
  if (kubeconfig?.state === 'missing')
    return [{ topic: 'api server', level: 'warn', text: `not asked: ${settings.kubeconfig} is not there yet` }]
  const nodeName = await sources.nodeName()
  const node = await api.request({ method: 'GET', path: `/api/v1/nodes/${nodeName}`, as: 'PartialObjectMetadata' })
  if (node.kind !== 'ok' && !isAnswerAbout(node)) return [describeNoAnswer(node, settings)]
  const user = findUser(await review(api, 'authentication.k8s.io', 'selfsubjectreviews', {}))
  const own = /^system:node:(.+)$/.exec(user ?? '')?.[1]
  // Before 1.32, a node may read other Nodes, too, and is told that this one is not there.
  if (node.kind !== 'ok' && own !== undefined && own !== nodeName) {
    const text = `${user} cannot read Node ${nodeName}, which the agent takes for its own: set --node-name to ${own}; no right is missing`
    return [{ topic: 'identity', level: 'fail', text }]
  }
  const desired = node.kind === 'ok' ? await fetchDesired(sources) : undefined
  return [
    describeNode(node, nodeName),
    ...(user === undefined ? [] : [{ topic: 'identity', level: 'ok', text: user } as const]),
    ...describeAssignment(desired),
    await checkRights(api, listRights(nodeName, settings, desired)),
  ]
}

/** An obstacle on this node to reading its assignment is a finding, too. */
async function fetchDesired(sources: ClusterSources): Promise<Desired> {
  try {
    return await sources.fetchDesired()
  } catch (error) {
    return { kind: 'unknown', detail: errorMessage(error) }
  }
}

/** The API server knows who asks, and answered about the Node. */
function isAnswerAbout(answer: Refusal): boolean {
  return answer.kind === 'refused' && (answer.status === 403 || answer.status === 404)
}

function describeNoAnswer(answer: Refusal, { kubeconfig }: Settings): SelfCheckResult {
  if (answer.kind === 'refused' && answer.status === 401) {
    const text = `the API server does not accept the identity in ${kubeconfig} (401): renew its certificate or token; no right is missing`
    return { topic: 'identity', level: 'fail', text }
  }
  return { topic: 'api server', level: 'fail', text: `cannot be asked: ${answer.detail}` }
}

function describeNode(answer: KubeAnswer, nodeName: string): SelfCheckResult {
  if (answer.kind === 'ok') return { topic: 'api server', level: 'ok', text: `answers; Node ${nodeName} can be read` }
  if (answer.kind === 'refused' && answer.status === 404) {
    const text = `answers; there is no Node ${nodeName}: the agent waits for it (kubelet creates it, or name it with --node-name)`
    return { topic: 'api server', level: 'warn', text }
  }
  const text = `answers, and forbids to read Node ${nodeName}: deploy/rbac/serviceaccount.yaml grants it: ${answer.detail}`
  return { topic: 'api server', level: 'fail', text }
}

/** undefined: servers before 1.28 have no such review. */
function findUser(answer: KubeAnswer): string | undefined {
  const status = answer.kind === 'ok' && isObject(answer.object) ? answer.object.status : undefined
  const user = isObject(status) ? status.userInfo : undefined
  const name = isObject(user) ? user.username : undefined
  return typeof name === 'string' ? name : undefined
}

function describeAssignment(desired: Desired | undefined): SelfCheckResult[] {
  const said = (level: SelfCheckResult['level'], text: string): SelfCheckResult[] => [{ topic: 'assignment', level, text }]
  switch (desired?.kind) {
    case undefined:
      return []
    case 'local':
      return said('ok', 'nothing is assigned')
    case 'unknown':
      return said('fail', `cannot be read: ${desired.detail}`)
    case 'invalid':
      return said('fail', `cannot be used: ${desired.cause ?? desired.detail}`)
    case 'config-map': {
      const { ref, object } = desired
      const name = `ConfigMap ${ref.namespace}/${ref.name}`
      if (object.kind === 'found') return said('ok', `${name} is assigned and can be read`)
      const why = object.kind === 'pending' ? 'it was not asked for' : object.detail
      return said('fail', `${name} is assigned and cannot be read: ${why}`)
    }
  }
}

async function checkRights(api: Pick<KubeApi, 'request'>, rights: readonly AnyRight[]): Promise<SelfCheckResult> {
  const answers = (await Promise.all(rights.map((right) => ask(api, right)))).flat()
  const silent = answers.find(({ answer }) => typeof answer === 'string')
  if (silent !== undefined) return { topic: 'grants', level: 'warn', text: `cannot be asked for: ${silent.answer}` }
  const missing = answers.filter(({ answer }) => answer === false).map(({ right }) => right)
  if (missing.length === 0) return { topic: 'grants', level: 'ok', text: `may ${answers.map(({ right }) => nameRight(right)).join(', ')}` }
  const level = missing.some((right) => right.level === 'fail') ? 'fail' : 'warn'
  return { topic: 'grants', level, text: missing.map((right) => `may not ${nameRight(right)} (${right.grantedBy} grants it)`).join('; ') }
}

function nameRight({ verb, resource, subresource, namespace, name }: Right): string {
  const what = subresource === undefined ? resource : `${resource}/${subresource}`
  const which = [namespace, name].filter((part) => part !== undefined).join('/')
  return `${verb} ${what}${which === '' ? '' : ` ${which}`}`
}

async function ask(api: Pick<KubeApi, 'request'>, right: AnyRight): Promise<readonly { right: Right; answer: boolean | string }[]> {
  const { otherwise, isReplaced, ...alone } = right
  const answer = await mayDo(api, alone)
  if (answer !== false || otherwise === undefined) return [{ right: alone, answer }]
  const other = { right: otherwise, answer: await mayDo(api, otherwise) }
  return isReplaced === true ? [other] : [{ right: alone, answer }, other]
}

/** A text: why the API server does not say. */
async function mayDo(api: Pick<KubeApi, 'request'>, { level: _, grantedBy: __, ...asked }: Right): Promise<boolean | string> {
  const resourceAttributes = { ...asked, version: 'v1' }
  const answer = await review(api, 'authorization.k8s.io', 'selfsubjectaccessreviews', { resourceAttributes })
  if (answer.kind !== 'ok') return answer.detail
  const status = isObject(answer.object) ? answer.object.status : undefined
  return isObject(status) && typeof status.allowed === 'boolean' ? status.allowed : 'the answer is no review'
}

const KINDS = { selfsubjectreviews: 'SelfSubjectReview', selfsubjectaccessreviews: 'SelfSubjectAccessReview' } as const

function review(api: Pick<KubeApi, 'request'>, group: string, resource: keyof typeof KINDS, spec: object): Promise<KubeAnswer> {
  const body = { apiVersion: `${group}/v1`, kind: KINDS[resource], spec }
  return api.request({ method: 'POST', path: `/apis/${group}/v1/${resource}`, body, contentType: 'application/json' })
}

interface Right extends Omit<ReadRight, 'verb'> {
  readonly verb: ReadRight['verb'] | 'watch' | 'patch' | 'create'
  readonly subresource?: string
  /** The level of the finding where the right is missing. */
  readonly level: 'warn' | 'fail'
  /** The file that has it. */
  readonly grantedBy: string
}

interface AnyRight extends Right {
  /** Asked for where this one is missing: what is left can be done with it. */
  readonly otherwise?: Right
  /** The other one is enough. */
  readonly isReplaced?: boolean
}

function listRights(nodeName: string, settings: Settings, desired: Desired | undefined): readonly AnyRight[] {
  const { channels, configNamespace, publish } = settings
  const node = { resource: 'nodes', name: nodeName } as const
  return [
    { ...node, verb: 'get', level: 'fail', grantedBy: READS },
    { ...node, verb: 'watch', level: 'warn', grantedBy: READS },
    ...(channels.includes('selector') ? listFleetRights(configNamespace) : []),
    ...listConfigMaps(desired).flatMap(listReads),
    ...listRolloutRights(desired, publish.includes('rollout-events')),
    ...listChannelRights(node, publish),
    { verb: 'create', resource: 'events', namespace: 'default', level: 'warn', grantedBy: WRITES },
    ...listEvidenceRights(nodeName, settings),
  ]
}

const READS = 'deploy/rbac/serviceaccount.yaml'
const WRITES = 'deploy/rbac/status.yaml'
const EVIDENCE = 'deploy/rbac/evidence.yaml'

/**
 * One patch of `/status` has all channels. Without that right, annotation and label take their own.
 */
function listChannelRights(node: Pick<Right, 'resource' | 'name'>, publish: Settings['publish']): readonly AnyRight[] {
  const published = CHANNEL_NAMES.filter((name) => publish.includes(name)).map((name) => CHANNELS[name])
  const metadata = published.find(({ part }) => part === 'metadata')
  const isReplaced = published.every(({ part }) => part === 'metadata')
  const otherwise = metadata && ({ ...node, verb: 'patch', level: 'warn', grantedBy: metadata.grantedBy } as const)
  if (published.length === 0) return []
  return [{ ...node, subresource: 'status', verb: 'patch', level: 'warn', grantedBy: WRITES, isReplaced, ...(otherwise && { otherwise }) }]
}

function listFleetRights(namespace: string): readonly Right[] {
  const fleet = { resource: 'configmaps', namespace, grantedBy: 'deploy/rbac/node-fleet-selector.yaml' } as const
  return [
    { ...fleet, verb: 'list', level: 'fail' },
    { ...fleet, verb: 'watch', level: 'warn' },
  ]
}

/**
 * The assigned one, and those under it, as far as they could be read. Layers come with the list of
 * the fleet.
 */
function listConfigMaps(desired: Desired | undefined): readonly ConfigMapRef[] {
  if (desired?.kind !== 'config-map') return []
  const { ref, object } = desired
  if (object.kind !== 'found') return [ref]
  return [ref, ...(object.bases?.views ?? []).map((view) => view.ref)]
}

function listReads({ namespace, name }: ConfigMapRef): readonly Right[] {
  const map = { resource: 'configmaps', namespace, name, grantedBy: 'deploy/rbac/node-configmaps.yaml' } as const
  return [
    { ...map, verb: 'get', level: 'fail' },
    { ...map, verb: 'watch', level: 'warn' },
  ]
}

/** Without `get`, the node starts no new content. */
function listRolloutRights(desired: Desired | undefined, withEvents: boolean): readonly Right[] {
  if (desired?.kind !== 'config-map' || desired.object.kind !== 'found') return []
  const { namespace } = desired.ref
  const record = desired.object.rollout?.record
  if (record === undefined || record === ROLLOUT_OFF) return []
  const map = { resource: 'configmaps', namespace, name: record, grantedBy: 'deploy/rbac/rollout.yaml' } as const
  const event = { verb: 'create', resource: 'events', namespace, level: 'warn', grantedBy: 'deploy/rbac/rollout-events.yaml' } as const
  return [
    { ...map, verb: 'get', level: 'fail' },
    { ...map, verb: 'watch', level: 'warn' },
    { ...map, verb: 'patch', level: 'warn' },
    ...(withEvents ? [event] : []),
  ]
}

function listEvidenceRights(nodeName: string, { evidence }: Settings): readonly Right[] {
  const rights = ALL_CONTRACTS.flatMap((contract) =>
    levelOf(evidence, contract.kind) === 'off' ? [] : (contract.rights?.(nodeName) ?? []),
  )
  return rights.map((right) => ({ ...right, level: 'warn', grantedBy: EVIDENCE }))
}
