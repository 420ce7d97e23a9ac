// SPDX-License-Identifier: Apache-2.0
/**
 * The cluster that the requests of the table meet: nodes with and without an assignment,
 * ConfigMaps, people with their rights, and tokens that name a node.
 */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { FLEET_LABEL, FLEET_NAMESPACE } from '../../fleet.ts'
import type { ControlPlane } from '../../lab/control-plane.ts'
import { eventually } from '../../lab/eventually.ts'
import { DEPLOY } from '../manifests.ts'
import { NAMESPACE, requestToken } from '../tokens.ts'
import { OTHERS, type Tokens } from './account.ts'
import { KEPT } from './channels.ts'

const ACCOUNT = 'kubelet-cfg-agent'
const TOKEN = join(DEPLOY, 'serviceaccount/token.yaml')

export async function prepare(plane: ControlPlane): Promise<Tokens> {
  await makeNodes(plane)
  await makePeople(plane)
  await makeConfigMaps(plane)
  return makeTokens(plane)
}

async function makeNodes(plane: ControlPlane): Promise<void> {
  const { labels, annotations, configSource } = KEPT
  const [source, paused] = Object.entries(annotations).map((entry) => Object.fromEntries([entry]))
  const one = Object.fromEntries(Object.entries(labels).slice(0, 1))
  const nodes: readonly [string, object, object?][] = [
    ['n1', { annotations: { given: 'x' }, labels: { given: 'x' } }, OTHERS],
    ['n2', {}],
    ['kept', { labels, annotations }],
    ['annotated', { annotations: source }],
    ['paused', { annotations: paused, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'any', uid: 'any' }] }],
    ['labelled', { labels: one }],
    ['sourced', {}],
  ]
  const items = nodes.map(([name, metadata, status]) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata }, status }))
  await create(plane, { apiVersion: 'v1', kind: 'List', items })
  await plane.rewriteStoredNode('n1', (node) => ({ ...node, status: { ...node.status, config: { error: 'some' } } }))
  for (const name of ['kept', 'sourced']) await plane.rewriteStoredNode(name, (node) => ({ ...node, spec: { ...node.spec, configSource } }))
}

async function makePeople(plane: ControlPlane): Promise<void> {
  for (const file of ['operator', 'serviceaccount', 'status', 'status-annotation', 'rollout-events'])
    await plane.kubectl(['apply', '-f', join(DEPLOY, `rbac/${file}.yaml`)])
  await plane.kubectl(['apply', '-f', join(DEPLOY, 'admission/editor.yaml')])
  await plane.kubectl(['create', 'clusterrole', 'all-of-nodes', '--verb=*', '--resource=nodes,nodes/status'])
  for (const [role, group] of [
    ['kubelet-cfg-agent:operator', 'carriers'],
    // The rules that a controller makes the built-in role `edit` of, which does not run here. With
    // all of the Nodes, to write their status too.
    ['system:aggregate-to-edit', 'carriers'],
    ['all-of-nodes', 'carriers'],
    ['kubelet-cfg-agent:assigner', 'editors'],
    ['kubelet-cfg-agent:editor', 'editors'],
  ])
    await plane.kubectl(['create', 'clusterrolebinding', `${group}-${role}`, `--clusterrole=${role}`, `--group=${group}`])
}

async function makeConfigMaps(plane: ControlPlane): Promise<void> {
  await plane.kubectl(['create', 'namespace', FLEET_NAMESPACE])
  const items = (
    [
      [NAMESPACE, 'node-config', false],
      [NAMESPACE, 'other', false],
      [NAMESPACE, 'member', true],
      [FLEET_NAMESPACE, 'any', false],
      [FLEET_NAMESPACE, 'kube-root-ca.crt', false],
    ] as const
  ).map(([namespace, name, fleet]) => {
    const metadata = { namespace, name, ...(fleet && { labels: { [FLEET_LABEL]: 'true' } }) }
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } }
  })
  await create(plane, { apiVersion: 'v1', kind: 'List', items })
}

async function makeTokens(plane: ControlPlane): Promise<Tokens> {
  const node = JSON.parse(await plane.kubectl(['get', 'node', 'n1', '-o', 'json']))
  const boundToNode = await requestToken(plane, ACCOUNT, { kind: 'Node', name: 'n1', uid: node.metadata.uid })
  return {
    ofN1: { 'token of a Node': boundToNode, 'token of a pod': await asKubeletDoes(plane) },
    ofNobody: await requestToken(plane, ACCOUNT),
  }
}

/** The pod that the DaemonSet is on n1, and the token that n1's kubelet asks for it. */
async function asKubeletDoes(plane: ControlPlane): Promise<string> {
  await plane.kubectl(['apply', '-f', TOKEN])
  const [daemonSet] = parseAllDocuments(readFileSync(TOKEN, 'utf8')).map((document) => document.toJS())
  assert(daemonSet?.kind === 'DaemonSet')
  const { metadata, spec } = daemonSet.spec.template
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: 'token', namespace: NAMESPACE },
    spec: { ...spec, nodeName: 'n1' },
  }
  const { uid } = JSON.parse(await create(plane, pod)).metadata
  const kubeconfig = await plane.nodeKubeconfig('n1')
  return eventually(() => requestToken(plane, ACCOUNT, { kind: 'Pod', name: 'token', uid }, kubeconfig), {
    what: 'the Node authorizer knows that the pod is on n1',
  })
}

function create(plane: ControlPlane, object: object): Promise<string> {
  return plane.kubectl(['create', '-o', 'json', '-f', '-'], { input: JSON.stringify(object) })
}
