// SPDX-License-Identifier: Apache-2.0
/**
 * The properties of the lab that the other tests take for granted, shown once: it behaves as a real
 * cluster does towards its administrator and towards a node's own identity, and it leaves nothing
 * behind. By itself: `node --import tsx test/real/lab/scenarios.ts`.
 */
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { type ControlPlane, startControlPlane } from './control-plane.ts'
import { eventually } from './eventually.ts'
import { CommandError } from './processes.ts'
import { runScenarios, scenario } from './runner.ts'

const node = 'lab-node'
const configSource = { configMap: { name: 'my-node-config', namespace: 'kube-system', kubeletConfigKey: 'kubelet' } }
const readConfigMap = ['-n', 'kube-system', 'get', 'configmap', 'my-node-config', '-o', 'name']

function addLabScenarios(): void {
  scenario('lab: an API server with Dynamic Kubelet Configuration', async (step) => {
    const plane = await step('start', () => startControlPlane())
    try {
      const kubeconfig = await step('a node and its identity', () => addNodeAndConfigMap(plane))
      await step('the node reads itself, but not the ConfigMap', async () => {
        assert.equal(await plane.kubectl(['get', 'node', node, '-o', 'name'], { kubeconfig }), `node/${node}\n`)
        await refused(plane.kubectl(readConfigMap, { kubeconfig }), /no relationship found between node/)
      })
      await step('the node may not assign itself a config', () =>
        refused(assign(plane, kubeconfig), /not allowed to update configSource to a new non-nil configSource/),
      )
      await step('an assignment is stored', async () => {
        await assign(plane)
        assert.deepEqual(JSON.parse(await specOf(plane)), configSource)
      })
      await step('it lets the node read that ConfigMap', () => canRead(plane, kubeconfig))
      await step('the node reports its status', async () => {
        await reportStatus(plane, kubeconfig)
        assert.equal(await statusOf(plane), '{"error":"said by the node"}')
      })
      await step('the API server stops', async () => {
        await plane.stopApiserver()
        await refused(plane.kubectl(['get', 'nodes']), /refused/)
      })
      await step('and starts again, with what it knew', async () => {
        await plane.startApiserver()
        assert.deepEqual(JSON.parse(await specOf(plane)), configSource)
      })
      await step('a certificate ends and is rotated', async () => {
        await plane.rotateNodeCertificate(node, { validMs: 2_000 })
        await eventually(() => wasRefused(plane.kubectl(['get', 'node', node], { kubeconfig })), { what: 'the certificate has ended' })
        await plane.rotateNodeCertificate(node)
        await plane.kubectl(['get', 'node', node], { kubeconfig })
      })
      await step('a backup of etcd is restored', async () => {
        const saved = await plane.saveEtcd()
        await plane.createNode('too-late')
        await plane.restoreEtcd(saved)
        assert.equal(await plane.kubectl(['get', 'nodes', '-o', 'name']), `node/${node}\n`)
      })
    } finally {
      await plane.stop()
    }
    await step('nothing is left', () => assert.equal(existsSync(plane.directory), false))
  })

  scenario('lab: an API server that knows nothing of it, as 1.26 and later', async (step) => {
    const plane = await step('start', () => startControlPlane({ dynamicKubeletConfig: false }))
    try {
      const kubeconfig = await step('a node and its identity', () => addNodeAndConfigMap(plane))
      await step('an assignment is dropped without an error', async () => {
        await assign(plane)
        assert.equal(await specOf(plane), '')
        await refused(plane.kubectl(readConfigMap, { kubeconfig }), /no relationship found between node/)
      })
      await step('so is the status', async () => {
        await reportStatus(plane, kubeconfig)
        assert.equal(await statusOf(plane), '')
      })
      await step('RBAC lets the node read the ConfigMap', async () => {
        await plane.grantNodesConfigMap('kube-system', 'my-node-config')
        await canRead(plane, kubeconfig)
      })
    } finally {
      await plane.stop()
    }
  })
}

async function addNodeAndConfigMap(plane: ControlPlane): Promise<string> {
  await plane.createNode(node)
  await plane.kubectl(['-n', 'kube-system', 'create', 'configmap', 'my-node-config', '--from-literal=kubelet=kind: KubeletConfiguration'])
  return plane.nodeKubeconfig(node)
}

function assign(plane: ControlPlane, kubeconfig = plane.adminKubeconfig): Promise<string> {
  return plane.kubectl(['patch', 'node', node, '-p', JSON.stringify({ spec: { configSource } })], { kubeconfig })
}

/** kubectl 1.20 cannot patch a subresource; replacing the object does. */
async function reportStatus(plane: ControlPlane, kubeconfig: string): Promise<void> {
  const object = JSON.parse(await plane.kubectl(['get', 'node', node, '-o', 'json'], { kubeconfig }))
  object.status.config = { error: 'said by the node' }
  await plane.kubectl(['replace', '--raw', `/api/v1/nodes/${node}/status`, '-f', '-'], { kubeconfig, input: JSON.stringify(object) })
}

function specOf(plane: ControlPlane): Promise<string> {
  return plane.kubectl(['get', 'node', node, '-o', 'jsonpath={.spec.configSource}'])
}

function statusOf(plane: ControlPlane): Promise<string> {
  return plane.kubectl(['get', 'node', node, '-o', 'jsonpath={.status.config}'])
}

/** The authorizer follows what it watches: a moment late. */
function canRead(plane: ControlPlane, kubeconfig: string): Promise<string> {
  return eventually(() => plane.kubectl(readConfigMap, { kubeconfig }), { what: 'the node may read the ConfigMap', timeoutMs: 10_000 })
}

async function refused(command: Promise<string>, why: RegExp): Promise<void> {
  await assert.rejects(command, (error) => error instanceof CommandError && why.test(error.stderr))
}

function wasRefused(command: Promise<string>): Promise<boolean> {
  return command.then(
    () => false,
    (error: unknown) => error instanceof CommandError,
  )
}

if (import.meta.filename === process.argv[1]) {
  addLabScenarios()
  await runScenarios()
}
