// SPDX-License-Identifier: Apache-2.0
/**
 * A real control plane of today with the objects of a fleet, in which API Priority and Fairness has
 * a tenth of the seats that it has by default, and short queues. The agents have either identities
 * of nodes, or one ServiceAccount in kube-system; who writes beside them is at the same priority
 * level.
 */
import { join, resolve } from 'node:path'
import { openKubeApi } from '../../src/compose/kube-api.ts'
import { CONFIG_LABEL, FLEET_LABEL, NODE_SELECTOR_ANNOTATION, PRIORITY_ANNOTATION } from '../../src/decision/channels.ts'
import type { HttpsKubeApi } from '../../src/kube/kube-api.ts'
import { type ControlPlane, startControlPlane } from '../../test/real/lab/control-plane.ts'
import { requestToken } from '../../test/real/rights/tokens.ts'
import { create, nodeUsers, viewOf, writeKubeconfigs } from '../fleet/cluster.ts'
import { CONFIG_MAP, fleetNode, KUBELET } from '../fleet/node.ts'
import { someAtATime } from '../some-at-a-time.ts'
import { KEY, NAMESPACE } from '../world/objects.ts'
import { type ContentName, textOf } from './contents.ts'
import type { Writer } from './neighbour.ts'
import { readServerCounts, type ServerCounts } from './server-counts.ts'

export type Identity = 'node' | 'account'

/** A tenth of 400 and 200. */
const FEW_SEATS = ['--max-requests-inflight=40', '--max-mutating-requests-inflight=20']
const QUEUE_LENGTH_LIMIT = 5
const LEVELS = ['node-high', 'system', 'workload-high', 'workload-low', 'global-default']
const AT_A_TIME = 8
const DEPLOY = resolve(import.meta.dirname, '../../deploy')
const ACCOUNT = 'kubelet-cfg-agent'
const CONTROLLER = 'busy-controller'
const CONTROLLERS_NAMESPACE = 'workloads'
/** Each with a connection, and where they are nodes, with an identity of its own. */
const WRITERS = 20

export interface StormCluster {
  /** The directory of the agents' kubeconfigs, NODE.conf. */
  readonly kubeconfigs: string
  readonly writers: readonly Writer[]
  /** Edits the ConfigMap that the Nodes' label names. */
  edit(content: ContentName): Promise<void>
  /** Makes a ConfigMap that selects all Nodes. */
  select(content: ContentName, priority: number): Promise<void>
  /** From now on selectors decide. */
  unlabel(names: readonly string[]): Promise<void>
  counts(): Promise<ServerCounts>
  stopApiserver(): Promise<void>
  /** Resolves when it is ready. */
  startApiserver(): Promise<void>
  close(): Promise<void>
}

export async function openStormCluster(names: readonly string[], identity: Identity): Promise<StormCluster> {
  const plane = await startControlPlane({ release: 'new', onAllProcessors: true, apiserverFlags: FEW_SEATS })
  try {
    const api = openKubeApi(viewOf(plane.adminKubeconfig), { userAgent: KUBELET })
    for (const level of LEVELS) await shortenQueues(plane, level)
    await create(api, configMaps(), configMap(CONFIG_MAP, 'first'))
    await someAtATime(names, AT_A_TIME, (_, serial) => create(api, '/api/v1/nodes', fleetNode(serial, '2021-01-14T09:12:31Z')))
    const reading = ['--verb=get,list,watch', '--resource=configmaps']
    for (const file of ['serviceaccount', 'status', 'status-annotation'])
      await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac', `${file}.yaml`)])
    await plane.kubectl(['-n', NAMESPACE, 'create', 'role', 'all-configs', ...reading])
    const whom = ['--group=system:nodes', `--serviceaccount=${NAMESPACE}:${ACCOUNT}`]
    await plane.kubectl(['-n', NAMESPACE, 'create', 'rolebinding', 'all-configs', '--role=all-configs', ...whom])
    // Where it may not list, an agent watches without a version where its own is too old. A server
    // of today asks that of an etcd that is newer than that of the lab, and answers 500.
    await plane.kubectl(['create', 'clusterrole', 'list-nodes', '--verb=list', '--resource=nodes'])
    await plane.kubectl(['create', 'clusterrolebinding', 'list-nodes', '--clusterrole=list-nodes', ...whom.slice(1)])
    const users = identity === 'node' ? nodeUsers(plane) : await accountUsers(plane, ACCOUNT)
    return {
      kubeconfigs: writeKubeconfigs(plane, names, users),
      writers: identity === 'node' ? nodeWriters(plane) : await controllerWriters(plane),
      edit: (content) => patch(api, `${configMaps()}/${CONFIG_MAP}`, { data: { [KEY]: textOf(content) } }),
      select: (content, priority) => create(api, configMaps(), selecting(content, priority)),
      unlabel: (nodes) =>
        someAtATime(nodes, AT_A_TIME, (name) => patch(api, `/api/v1/nodes/${name}`, { metadata: { labels: { [CONFIG_LABEL]: null } } })),
      counts: async () => readServerCounts(await plane.read('/metrics')),
      stopApiserver: () => plane.stopApiserver(),
      startApiserver: () => plane.startApiserver(),
      close: () => plane.stop(),
    }
  } catch (error) {
    await plane.stop()
    throw error
  }
}

/** The server writes its own values again, unless it is told not to. */
async function shortenQueues(plane: ControlPlane, level: string): Promise<void> {
  const metadata = { annotations: { 'apf.kubernetes.io/autoupdate-spec': 'false' } }
  const limited = { limitResponse: { queuing: { queueLengthLimit: QUEUE_LENGTH_LIMIT } } }
  const body = JSON.stringify({ metadata, spec: { limited } })
  await plane.kubectl(['patch', 'prioritylevelconfiguration', level, '--type=merge', '-p', body])
}

async function accountUsers(plane: ControlPlane, name: string): Promise<() => object> {
  const token = await requestToken(plane, name)
  return () => ({ token })
}

function nodeWriters(plane: ControlPlane): Writer[] {
  const names = Array.from({ length: WRITERS }, (_, i) => `beside-${i}`)
  const kubeconfigs = writeKubeconfigs(plane, names, nodeUsers(plane), join(plane.directory, 'writers'))
  return names.map((name) => ({ kubeconfig: join(kubeconfigs, `${name}.conf`), namespace: 'kube-node-lease', name }))
}

async function controllerWriters(plane: ControlPlane): Promise<Writer[]> {
  await plane.kubectl(['create', 'namespace', CONTROLLERS_NAMESPACE])
  await plane.kubectl(['-n', NAMESPACE, 'create', 'serviceaccount', CONTROLLER])
  const inNamespace = ['-n', CONTROLLERS_NAMESPACE, 'create']
  await plane.kubectl([...inNamespace, 'role', CONTROLLER, '--verb=create,patch', '--resource=leases.coordination.k8s.io'])
  await plane.kubectl([...inNamespace, 'rolebinding', CONTROLLER, `--role=${CONTROLLER}`, `--serviceaccount=${NAMESPACE}:${CONTROLLER}`])
  const directory = writeKubeconfigs(plane, [CONTROLLER], await accountUsers(plane, CONTROLLER), join(plane.directory, 'writers'))
  const kubeconfig = join(directory, `${CONTROLLER}.conf`)
  return Array.from({ length: WRITERS }, (_, i) => ({ kubeconfig, namespace: CONTROLLERS_NAMESPACE, name: `work-${i}` }))
}

function configMaps(): string {
  return `/api/v1/namespaces/${NAMESPACE}/configmaps`
}

function configMap(name: string, content: ContentName): { readonly metadata: object; readonly data: object } {
  return { metadata: { name, namespace: NAMESPACE }, data: { [KEY]: textOf(content) } }
}

function selecting(content: ContentName, priority: number): object {
  const { metadata, data } = configMap(`selects-all-${priority}`, content)
  const annotations = { [NODE_SELECTOR_ANNOTATION]: 'kubernetes.io/os=linux', [PRIORITY_ANNOTATION]: String(priority) }
  return { metadata: { ...metadata, labels: { [FLEET_LABEL]: 'true' }, annotations }, data }
}

async function patch(api: HttpsKubeApi, path: string, body: object): Promise<void> {
  const answer = await api.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' })
  if (answer.kind !== 'ok') throw new Error(`PATCH ${path}: ${answer.detail}`)
}
