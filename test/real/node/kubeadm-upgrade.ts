// SPDX-License-Identifier: Apache-2.0
/**
 * The real kubeadm, as it upgrades a cluster: `init phase upload-config` writes the ConfigMap for
 * all nodes, and `upgrade node phase kubelet-config` writes the local config of one node. The agent
 * makes of the ConfigMap what kubeadm makes of it, and kubelet goes on with what is assigned.
 */
import { strict as assert } from 'node:assert'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { BASE_ANNOTATION } from '../../../src/decision/channels.ts'
import { ensureRelease } from '../lab/build-modern-kubernetes.ts'
import { eventually } from '../lab/eventually.ts'
import { run } from '../lab/processes.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import type { Node } from './node.ts'
import { onEachKubelet, type Stage } from './proof/stage.ts'

const KUBEADMS = 'kubelet-config'
const PART = { name: 'node-config', namespace: 'kube-system', annotations: { [BASE_ANNOTATION]: 'local' } }
const INSTANCE = '/var/lib/kubelet/instance-config.yaml'
const FLAGS = '/var/lib/kubelet/kubeadm-flags.env'
/** kubeadm before 1.34 keeps the endpoint there as well. */
const SOCKET_ANNOTATION = 'kubeadm.alpha.kubernetes.io/cri-socket'
/** Another name of containerd's socket. */
const OTHER = 'unix:///run/other-runtime.sock'
const SETTINGS = { TRIAL_DURATION: '5s', RESTARTS_PER_HOUR: '60' }
/** kubeadm leaves an empty list out, and `cgroupDriver` it would set. */
const LAB = { cgroupDriver: 'cgroupfs', enforceNodeAllocatable: ['none'] }
/**
 * The release whose kubeadm is the last to take the endpoint out of the flags. A later one looks
 * for the sockets of runtimes.
 */
const LAST_TO_MOVE_FLAG = 36
/** TEST-NET-1 of RFC 5737: kubeadm wants an address, and nobody calls it. */
const ADVERTISED = '192.0.2.1'

export function addKubeadmUpgradeScenarios(program: string): void {
  onEachKubelet(program, ['new'], 'kubeadm upgrades the node', 'kubeadm', SETTINGS, async (stage) => {
    const { step, node, admin } = stage
    const first = await step('a config is promoted', () => stage.promoteFirst())
    await step('kubeadm uploads its own, which nobody is assigned: nothing restarts', () => node.withoutRestart(() => upload(stage, 54)))
    await step('kubeadm writes the local config: kubelet goes on with what is assigned', () => keepsAssigned(stage))
    await step('kubelet is restarted, as after an upgrade: the promoted config is tried with the other flags', async () => {
      await node.systemctl('restart', 'kubelet')
      await stage.untilOnTrial(first)
      await node.untilRuns(51)
      await stage.untilPromoted(first)
      await untilSettled(node)
    })
    await step("kubeadm's ConfigMap is assigned: the agent makes of it what kubeadm made", async () => {
      await assignKubeadms(stage)
      await node.untilRuns(54)
      await stage.untilPromoted(merged(await versionOfKubeadms(stage)))
      assert.deepEqual(readAssigned(node), readLocal(node))
    })
    await step('kubeadm uploads another: it is tried and promoted, and kubeadm upgrade node changes nothing then', async () => {
      await upload(stage, 55)
      await node.untilRuns(55)
      await stage.untilPromoted(merged(await versionOfKubeadms(stage)))
      await node.withoutRestart(async () => {
        await upgradeNode(node)
        assert.deepEqual(readLocal(node), readAssigned(node))
        await untilSettled(node)
      })
    })
    await step('a part over the local config is assigned and promoted', async () => {
      await admin.applyConfigMap(PART, stringify({ podsPerCore: 7 }))
      await stage.assign()
      await untilRunsPart(node, 55)
      await untilPartPromoted(stage)
    })
    await step('kubeadm writes the local config anew: the part is merged over it, tried and promoted', async () => {
      const before = partRendering(node)
      await node.withoutRestart(() => upload(stage, 56))
      await upgradeNode(node)
      await untilRunsPart(node, 56)
      await eventually(() => partRendering(node) !== before, { what: 'it is promoted' })
      assert.deepEqual(readAssigned(node), { ...readLocal(node), podsPerCore: 7 })
      await untilPartPromoted(stage)
      await untilSettled(node)
    })
    await step('the assignment is removed: kubelet runs with what kubeadm wrote', async () => {
      await stage.unassign()
      await eventually(async () => (await node.configzDirect()).podsPerCore !== 7, { what: 'kubelet runs without the part' })
      await node.untilRuns(56)
      await untilSettled(node)
    })
    await step("kubeadm's ConfigMap is assigned before the first upgrade to 1.34: one restart keeps the runtime", () => playFirst(stage))
  })
}

/** The node as it was before: the endpoint is a flag, and kubelet's default is another one. */
async function playFirst(stage: Stage): Promise<void> {
  const { node, admin } = stage
  await node.exec('ln', '-s', '/run/containerd/containerd.sock', '/run/other-runtime.sock')
  await rm(node.host(INSTANCE))
  await writeFile(node.host(FLAGS), `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=${OTHER} --hostname-override=${node.name}"\n`)
  await node.systemctl('restart', 'kubelet')
  await assignKubeadms(stage)
  await stage.untilPromoted(`kube-system/kubelet-config:kubelet@${await versionOfKubeadms(stage)}`)
  const starts = await node.kubeletStarts()
  await admin.kubectl('annotate', 'node', node.name, `${SOCKET_ANNOTATION}=${OTHER}`)
  await upgradeNode(node)
  await stage.untilPromoted(merged(await versionOfKubeadms(stage)))
  assert.equal(await node.kubeletStarts(), starts + 1)
  assert.equal((await node.configz()).containerRuntimeEndpoint, OTHER)
  assert.deepEqual(readAssigned(node), readLocal(node))
  await untilSettled(node)
}

/** As `kubeadm init` and `kubeadm upgrade apply` do it on a control plane node. */
async function upload({ plane, node }: Stage, maxPods: number): Promise<void> {
  const kubeadm = await kubeadmOf(plane.binaries)
  const version = (await run(kubeadm, ['version', '-o', 'short'])).stdout.trim()
  const apiVersion = 'kubeadm.k8s.io/v1beta4'
  const documents = [
    {
      apiVersion,
      kind: 'InitConfiguration',
      localAPIEndpoint: { advertiseAddress: ADVERTISED },
      nodeRegistration: { name: 'control-plane', criSocket: 'unix:///run/containerd/containerd.sock' },
    },
    { apiVersion, kind: 'ClusterConfiguration', kubernetesVersion: version, certificatesDir: join(plane.directory, 'no-pki') },
    parse(node.config({ ...LAB, maxPods })),
  ]
  const file = join(plane.directory, 'kubeadm.yaml')
  await writeFile(file, documents.map((document) => stringify(document)).join('---\n'))
  for (const phase of ['kubeadm', 'kubelet'])
    await run(kubeadm, ['init', 'phase', 'upload-config', phase, '--config', file, '--kubeconfig', plane.adminKubeconfig])
}

async function kubeadmOf({ kubeApiserver }: Stage['plane']['binaries']): Promise<string> {
  const isGiven = process.env.KUBEBUILDER_ASSETS !== undefined
  const kubeadm = join(isGiven ? dirname(kubeApiserver) : await ensureRelease(LAST_TO_MOVE_FLAG), 'kubeadm')
  assert(existsSync(kubeadm), 'KUBEBUILDER_ASSETS has no kubeadm: put one beside kube-apiserver, or unset it')
  return kubeadm
}

async function upgradeNode(node: Node): Promise<void> {
  const { stdout, stderr } = await node.exec('kubeadm', 'upgrade', 'node', 'phase', 'kubelet-config')
  console.log(`${stdout}${stderr}`.trimEnd().replace(/^/gm, '    '))
}

/** The node was joined by a kubeadm before 1.34: its runtime's endpoint is a flag. */
async function keepsAssigned({ plane, node, admin }: Stage): Promise<void> {
  await copyFile(await kubeadmOf(plane.binaries), node.host('/usr/bin/kubeadm'))
  const endpoint = /--container-runtime-endpoint=(\S+)/.exec(read(node, FLAGS) ?? '')?.[1]
  assert(endpoint !== undefined, `${FLAGS} names no endpoint`)
  await admin.kubectl('annotate', 'node', node.name, `${SOCKET_ANNOTATION}=${endpoint}`)
  const before = await node.configz()
  assert.equal(read(node, INSTANCE), undefined)
  await node.withoutRestart(async () => {
    await upgradeNode(node)
    await node.untilSays(/instance-config\.yaml is merged last where ConfigMap kube-system\/kubelet-config is assigned/)
    assert.deepEqual(await node.configz(), before)
  })
  assert.deepEqual(parse(read(node, INSTANCE) ?? ''), { containerRuntimeEndpoint: endpoint })
  assert.doesNotMatch(read(node, FLAGS) ?? '', /container-runtime-endpoint/)
  const { maxPods, containerRuntimeEndpoint } = readLocal(node)
  assert.deepEqual([maxPods, containerRuntimeEndpoint], [54, endpoint])
  const { metadata } = JSON.parse(await admin.kubectl('get', 'node', node.name, '-o', 'json'))
  assert.equal(metadata.annotations[SOCKET_ANNOTATION], undefined)
}

async function assignKubeadms({ admin, node }: Stage): Promise<void> {
  await admin.kubectl('label', '--overwrite', 'node', node.name, `${CONFIG_LABEL}=${KUBEADMS}`)
}

function versionOfKubeadms({ admin }: Stage): Promise<string> {
  return admin.kubectl('-n', 'kube-system', 'get', 'configmap', KUBEADMS, '-o', 'jsonpath={.metadata.resourceVersion}')
}

/** How messages call this version of kubeadm's ConfigMap with the instance config on top. */
function merged(version: string): string {
  return String.raw`kube-system/kubelet-config:kubelet@${version}\+merged-[0-9a-f]+`
}

async function untilSettled(node: Node): Promise<void> {
  const probe = async () => JSON.parse((await node.command('status', '-o', 'json')).stdout).phase === 'settled'
  await eventually(probe, { what: 'the agent has nothing to do' })
}

async function untilRunsPart(node: Node, maxPods: number): Promise<void> {
  await node.untilRuns(maxPods)
  await eventually(async () => (await node.configzDirect()).podsPerCore === 7, { what: 'kubelet runs with the part' })
}

async function untilPartPromoted(stage: Stage): Promise<void> {
  await stage.untilPromoted(String.raw`kube-system/node-config:kubelet@\d+\+merged-[0-9a-f]+`)
}

/** The hash of the result that is last-known-good. */
function partRendering(node: Node): string | undefined {
  return /^ {4}overlay: (\S+)/m.exec(node.read('meta', 'last-known-good') ?? '')?.[1]
}

/** undefined: there is no such file. */
function read(node: Node, path: string): string | undefined {
  return existsSync(node.host(path)) ? readFileSync(node.host(path), 'utf8') : undefined
}

function readLocal(node: Node): Readonly<Record<string, unknown>> {
  return parse(read(node, node.localConfig) ?? '')
}

/** The file that kubelet starts with next. */
function readAssigned(node: Node): Readonly<Record<string, unknown>> {
  const path = /--config=(\S+?)["']?(?:\s|$)/.exec(node.read('kubelet.env') ?? '')?.[1]
  assert(path !== undefined, 'kubelet starts with its local config')
  return parse(read(node, path) ?? '')
}
