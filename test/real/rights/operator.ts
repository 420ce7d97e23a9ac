// SPDX-License-Identifier: Apache-2.0
/**
 * The people who assign configs: each verb of deploy/rbac/operator.yaml is one thing that they do
 * with kubectl, and cannot do without it.
 */
import { strict as assert } from 'node:assert'
import type { ControlPlane } from '../lab/control-plane.ts'
import { CommandError } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { asList, forAlone, listRights, type Manifest, nameOf, readManifests, without } from './manifests.ts'

const FILE = 'rbac/operator.yaml'
const CONFIG = 'some-config'
const there = ['-n', 'kube-system']

/** In the order of a day's work. */
const WORK: Readonly<Record<string, readonly string[]>> = {
  'configmaps create': [...there, 'create', 'configmap', CONFIG, '--from-literal=kubelet=a'],
  'configmaps get': [...there, 'get', 'configmap', CONFIG],
  'configmaps list': [...there, 'get', 'configmaps'],
  'configmaps patch': [...there, 'patch', 'configmap', CONFIG, '-p', '{"data":{"kubelet":"b"}}'],
  'configmaps update': ['replace', '-f', '-'],
  'configmaps delete': [...there, 'delete', 'configmap', CONFIG],
  'nodes get': ['get', 'node', 'n1'],
  'nodes list': ['get', 'nodes'],
  // The request of `kubectl wait --for=condition=KubeletConfigReady`.
  'nodes watch': ['get', '--raw', '/api/v1/nodes?watch=1&timeoutSeconds=1'],
  'nodes patch': ['label', 'node', 'n1', `${CONFIG_LABEL}=${CONFIG}`],
  'events list': ['get', 'events', '--field-selector=involvedObject.name=n1'],
}

export function addOperatorScenarios(): void {
  scenario('rights: operator.yaml', (step) =>
    withModernPlane(step, async (plane) => {
      await plane.createNode('n1')
      const manifests = readManifests(FILE)
      const rights = listRights(manifests)
      assert.deepEqual(rights.map(nameOf).sort(), Object.keys(WORK).sort(), 'each right, and what it is for')
      await bind(plane, manifests, 'whole')
      for (const [right, args] of Object.entries(WORK)) await step(`with all of it: ${right}`, () => work(plane, 'whole', args))
      await Promise.all(rights.map((right, index) => bind(plane, without(manifests, right), `without-${index}`)))
      await plane.kubectl([...there, 'create', 'configmap', CONFIG])
      await plane.kubectl(['label', 'node', 'n1', `${CONFIG_LABEL}-`])
      await step(`none of the ${rights.length} without its right`, async () => {
        for (const [index, right] of rights.entries()) {
          const args = WORK[nameOf(right)]
          assert(args !== undefined)
          const isRefused = (error: unknown) => error instanceof CommandError && /forbidden/i.test(error.stderr)
          await assert.rejects(work(plane, `without-${index}`, args), isRefused, nameOf(right))
        }
      })
    }),
  )
}

async function bind(plane: ControlPlane, manifests: readonly Manifest[], user: string): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  const bindings = manifests.map(({ apiVersion, kind, metadata }) => {
    const roleRef = { apiGroup, kind, name: metadata.name }
    return { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects: [] }
  })
  const alone = forAlone([...manifests, ...bindings], { apiGroup, kind: 'User', name: user }, [])
  await plane.kubectl(['apply', '-f', '-'], { input: asList(alone) })
}

async function work(plane: ControlPlane, user: string, args: readonly string[]): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: CONFIG, namespace: 'kube-system' }, data: { kubelet: 'c' } }
  await plane.kubectl([...args, '--as', user], args[0] === 'replace' ? { input: JSON.stringify(object) } : {})
}
