// SPDX-License-Identifier: Apache-2.0
/**
 * Configs that reach a real kubelet on a cluster that drops configSource: by a label of the Node,
 * and by ConfigMaps that select it. The node has its own identity and what a file of deploy/rbac
 * grants; the operator has kubectl, and reads the condition of the Node.
 */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { LAYER_ANNOTATION } from '../../../src/decision/channels.ts'
import type { Administrator, Condition } from '../administrator.ts'
import { FLEET_NAMESPACE, fleetMember } from '../fleet.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { CommandError } from '../lab/processes.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { CONFIG_LABEL, GUARDED_PREFIX } from '../node-words.ts'
import type { Source } from '../records.ts'
import { DEPLOY } from '../rights/manifests.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { type Node, type NodeOptions, withNode } from './node.ts'

const ROLE = `${GUARDED_PREFIX}/role`
const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '10s', SPREAD: '0s', RESTARTS_PER_HOUR: '60' }
/** As node-fleet-selector.yaml says. */
const BY_SELECTOR = { ...SETTINGS, CHANNELS: 'config-source,label,selector', CONFIG_NAMESPACE: FLEET_NAMESPACE }
/** Three starts, 10 s apart. */
const CRASH_LOOP_MS = 90_000
/** Only the fourth refusal in a row counts, and each waits longer than the one before. */
const FORBIDDEN_MS = 90_000
/** After an outage watches are tried again up to a minute apart. */
const RECONNECT_MS = 90_000

type Play = (step: Step, plane: ControlPlane, node: Node, admin: Administrator) => Promise<void>

export function addNodeChannelScenarios(program: string): void {
  const onNode = (what: string, options: NodeOptions, play: Play): void => {
    scenario(`node: modern: ${what}`, (step) =>
      withModernPlane(step, (plane) => withNode(plane, program, options, (node, admin) => play(step, plane, node, admin))),
    )
  }
  onNode('assigned by its label', { name: 'labelled', settings: SETTINGS }, playLabel)
  onNode('selected by its labels', { name: 'selected', settings: BY_SELECTOR }, playSelector)
}

async function playLabel(step: Step, plane: ControlPlane, node: Node, admin: Administrator): Promise<void> {
  const put = (name: string, changes: object) => admin.applyConfigMap({ name, namespace: 'kube-system' }, node.config(changes))
  const label = (value: string) => admin.kubectl('label', '--overwrite', 'node', node.name, `${CONFIG_LABEL}=${value}`)
  await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac/node-configmaps.yaml')])

  await step('nothing assigned: local', () => admin.untilCondition({ status: 'True', reason: 'Local' }))
  await step('the label, which the node may not set and kubectl may', async () => {
    await put('node-config', { maxPods: 51 })
    await assert.rejects(
      plane.kubectl(['label', 'node', node.name, `${CONFIG_LABEL}=node-config`], { kubeconfig: await plane.nodeKubeconfig(node.name) }),
      (error) => error instanceof CommandError && /is not allowed to modify labels/.test(error.stderr),
    )
    await label('node-config')
    await admin.untilCondition({ status: 'Unknown', reason: 'InTrial', message: /^trial of kube-system\/node-config:kubelet@\d+ until / })
  })
  await step('kubectl wait returns once it is promoted, and kubelet runs it', async () => {
    await admin.kubectl('wait', '--for=condition=KubeletConfigReady', `node/${node.name}`, '--timeout=60s')
    assert.equal((await node.configz()).maxPods, 51)
    assert.match((await node.command('status')).stdout, /^Assigned by +label kubelet-cfg-agent\.node-restriction/m)
  })
  const edited = await step('an edit in place is promoted too', async () => {
    const version = await put('node-config', { maxPods: 52 })
    await node.untilRuns(52)
    return untilPromoted(admin, `kube-system/node-config:kubelet@${version}`)
  })
  await step('an edit of which kubelet dies is rolled back, and the condition and the annotation say so', async () => {
    const crashing = await put('node-config', { maxPods: 53, ...node.crash.changes })
    await untilRolledBack(node, admin, `kube-system/node-config:kubelet@${crashing}`, `kube-system/node-config:kubelet@${edited}`)
    await node.untilRuns(52)
  })
  await step('a mended one gets its turn', async () => {
    const version = await put('node-config', { maxPods: 54 })
    await node.untilRuns(54)
    await untilPromoted(admin, `kube-system/node-config:kubelet@${version}`)
  })
  await step('a ConfigMap that the file does not name is an error, and nothing happens', () =>
    node.withoutRestart(async () => {
      await put('another', { maxPods: 55 })
      await label('another')
      const message = /another:kubelet cannot be read: the API server forbids it \(deploy\/rbac\/node-configmaps\.yaml grants it\)$/
      await admin.untilCondition({ status: 'False', reason: 'DownloadFailed', message }, FORBIDDEN_MS)
      await node.untilRuns(54)
    }),
  )
  await step('no label: the local config', async () => {
    await admin.kubectl('label', 'node', node.name, `${CONFIG_LABEL}-`)
    await node.untilRuns(110)
    await admin.untilCondition({ status: 'True', reason: 'Local' })
    assert.equal(node.read('kubelet.env'), undefined)
  })
}

async function playSelector(step: Step, plane: ControlPlane, node: Node, admin: Administrator): Promise<void> {
  const put = (name: string, changes: object, selector: string, priority: number) =>
    admin.applyConfigMap(fleetMember(name, selector, priority), node.config(changes))
  await step('before it may list: an error', () => {
    const message = /: ConfigMaps labelled .* cannot be listed: 403: /
    return admin.untilCondition({ status: 'False', reason: 'Invalid', message }, FORBIDDEN_MS)
  })
  await step('it may, and none selects it: local', async () => {
    await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac/node-fleet-selector.yaml')])
    await put('workers', { maxPods: 51 }, `${ROLE} in (worker,edge)`, 1)
    await admin.untilCondition({ status: 'True', reason: 'Local' }, FORBIDDEN_MS)
  })
  const workers = await step('the Node gets the label that is asked for: it is promoted', async () => {
    await admin.kubectl('label', 'node', node.name, `${ROLE}=worker`)
    await node.untilRuns(51)
    return untilPromoted(admin, `${FLEET_NAMESPACE}/workers:kubelet@\\d+`)
  })
  await step('one of a higher priority, of which kubelet dies, is rolled back to it', async () => {
    const crashing = await put('canary', { maxPods: 52, ...node.crash.changes }, `${ROLE}=worker`, 10)
    await untilRolledBack(node, admin, `${FLEET_NAMESPACE}/canary:kubelet@${crashing}`, `${FLEET_NAMESPACE}/workers:kubelet@${workers}`)
    await node.untilRuns(51)
  })
  const canary = await step('mended, it is promoted', async () => {
    await put('canary', { maxPods: 53 }, `${ROLE}=worker`, 10)
    await node.untilRuns(53)
    return untilPromoted(admin, `${FLEET_NAMESPACE}/canary:kubelet@\\d+`)
  })
  await step('a tie is refused, and nothing happens', () =>
    node.withoutRestart(async () => {
      await put('other', { maxPods: 54 }, '', 10)
      await admin.untilCondition({
        status: 'False',
        reason: 'Invalid',
        message: /ConfigMaps canary, other match with the same priority 10/,
      })
      await admin.kubectl('-n', FLEET_NAMESPACE, 'delete', 'configmap', 'other')
      assert.equal(await untilPromoted(admin, `${FLEET_NAMESPACE}/canary:kubelet@\\d+`), canary)
    }),
  )
  await step('a layer is laid over what was chosen, and taken off again', async () => {
    const layer = fleetMember('more-pods', `${ROLE}=worker`, 5)
    const annotations = { ...layer.annotations, [LAYER_ANNOTATION]: 'true' }
    await admin.applyConfigMap({ ...layer, annotations }, 'maxPods: 57\npodsPerCore: 9\n')
    await node.untilRuns(57)
    assert.equal((await node.configz()).podsPerCore, 9)
    await admin.kubectl('-n', FLEET_NAMESPACE, 'delete', 'configmap', 'more-pods')
    await node.untilRuns(53)
    assert.equal(await untilPromoted(admin, `${FLEET_NAMESPACE}/canary:kubelet@\\d+`), canary)
  })
  await step('a reboot without an API server: kubelet comes up on what was chosen', async () => {
    const settled = /^settled: node-configs\/canary:kubelet@/
    const said = await node.timesSaid(settled)
    await plane.stopApiserver()
    try {
      await node.reboot()
      await node.untilHealthy()
      const { active } = JSON.parse((await node.command('status', '-o', 'json')).stdout)
      assert.equal(active.resourceVersion, canary)
    } finally {
      await plane.startApiserver()
    }
    await node.untilSays(settled, said + 1, RECONNECT_MS)
    await node.untilRuns(53)
  })
  await step('the Node loses its label: local', async () => {
    await admin.kubectl('label', 'node', node.name, `${ROLE}-`)
    await node.untilRuns(110, RECONNECT_MS)
    await admin.untilCondition({ status: 'True', reason: 'Local' })
  })
}

/** The condition says so, and the annotation has all of it. */
async function untilRolledBack(node: Node, admin: Administrator, from: string, to: string): Promise<void> {
  const message = `${from} failed, ${to} runs: kubelet exited 2 times: ${node.crash.lastWords}`
  await admin.untilCondition({ status: 'False', reason: 'RolledBack', message }, CRASH_LOOP_MS)
  await admin.untilAnnotation('the same', ({ assigned, active, lastKnownGood, error }) => {
    assert.deepEqual([assigned, active, lastKnownGood].map(nameOf), [from, to, to])
    const cause = `kubelet exited 2 times: ${node.crash.lastWords}`
    assert.equal(error, `failed to run config: kubelet crash-looped; rolled back to last-known-good: ${cause}`)
    return true
  })
}

function nameOf({ configMap }: { readonly configMap: Source }): string {
  return `${configMap.namespace}/${configMap.name}:${configMap.kubeletConfigKey}@${configMap.resourceVersion}`
}

/** Returns the version that was promoted. */
async function untilPromoted(admin: Administrator, source: string): Promise<string> {
  const message = new RegExp(`^${source} has passed its trial$`)
  const found: Condition = await admin.untilCondition({ status: 'True', reason: 'Promoted', message })
  return /@(\d+) /.exec(found.message)?.[1] ?? ''
}
