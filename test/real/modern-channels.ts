// SPDX-License-Identifier: Apache-2.0
/**
 * Assignments where configSource is gone: a real kube-apiserver that drops it, as all since 1.26
 * do, an administrator with kubectl, and an agent with the node's own identity, whose rights come
 * and go while it runs.
 */
import { strict as assert } from 'node:assert'
import type { Administrator } from './administrator.ts'
import { FLEET_NAMESPACE, fleetMember, PRIORITY_ANNOTATION } from './fleet.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { CommandError } from './lab/processes.ts'
import { type Step, scenario } from './lab/runner.ts'
import { type Machine, type MachineOptions, withMachine } from './machine.ts'
import { withModernPlane } from './modern-plane.ts'
import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION, PAUSED_ANNOTATION } from './node-words.ts'

/**
 * Only the fourth refusal in a row counts, and they are up to a minute apart; so are reads where
 * watching is forbidden.
 */
const SLOW_MS = 240_000

type Play = (step: Step, machine: Machine, admin: Administrator, plane: ControlPlane) => Promise<void>

export function addModernChannelScenarios(program: string): void {
  const onNode = (what: string, options: MachineOptions, play: Play): void => {
    scenario(
      `modern channels: ${what}`,
      (step) =>
        withModernPlane(step, (plane) => withMachine(plane, program, options, (machine, admin) => play(step, machine, admin, plane))),
      { timeoutMs: 600_000 },
    )
  }
  onNode(
    'label, annotation and default',
    { name: 'plain', settings: { defaultConfigMap: 'kube-system/plain-default', restartsPerHour: '60' } },
    playPlain,
  )
  onNode('the annotation can be switched off', { name: 'strict', settings: { channels: 'label' } }, playStrict)
  onNode('rights to one ConfigMap', { name: 'rights' }, playRights)
  const fleet = { channels: 'config-source,label,annotation,selector', configNamespace: FLEET_NAMESPACE }
  onNode('selector, and rights to list', { name: 'fleet', settings: fleet }, playFleet)
}

const playPlain: Play = async (step, machine, admin, plane) => {
  const own = await plane.nodeKubeconfig(machine.name)
  const asNode = (...args: string[]) => plane.kubectl([...args], { kubeconfig: own })
  for (const [name, maxPods] of [
    ['default', 41],
    ['one', 51],
    ['two', 52],
  ] as const) {
    await admin.createConfigMap(name, machine.config(`maxPods: ${maxPods}`))
    await plane.grantNodesConfigMap('kube-system', admin.nameOf(name))
  }
  await step('without a word of the cluster, the default', async () => {
    machine.agent.start()
    await machine.untilRuns(41)
    await untilStatus(machine, { channel: 'default', error: null })
  })
  await step('the Node is watched by its metadata', () => machine.agent.untilSays(/watching only the metadata of the Node$/))
  await step('the annotation, by the administrator', async () => {
    await admin.kubectl('annotate', 'node', machine.name, `${CONFIG_SOURCE_ANNOTATION}=kube-system/${admin.nameOf('one')}`)
    await machine.untilRuns(51)
    await untilStatus(machine, { channel: 'annotation' })
  })
  await step('and by the node itself: NodeRestriction does not mind', async () => {
    const source = { configMap: { namespace: 'kube-system', name: admin.nameOf('two'), kubeletConfigKey: 'kubelet' } }
    await asNode('annotate', '--overwrite', 'node', machine.name, `${CONFIG_SOURCE_ANNOTATION}=${JSON.stringify(source)}`)
    await machine.untilRuns(52)
  })
  await step('the label, which the node may not set', async () => {
    const label = `${CONFIG_LABEL}=${admin.nameOf('one')}`
    await assert.rejects(
      asNode('label', 'node', machine.name, label),
      (error) => error instanceof CommandError && /is not allowed to modify labels/.test(error.stderr),
    )
    await admin.kubectl('label', 'node', machine.name, label)
    await machine.untilRuns(51)
    await untilStatus(machine, { channel: 'label' })
    await assert.rejects(asNode('label', 'node', machine.name, `${CONFIG_LABEL}-`), CommandError)
  })
  await step('paused on the Node', async () => {
    await admin.kubectl('annotate', 'node', machine.name, `${PAUSED_ANNOTATION}=true`)
    await machine.agent.untilSays(/^paused by annotation kubelet-cfg-agent\.io\/paused of Node plain: /)
    await admin.kubectl('label', '--overwrite', 'node', machine.name, `${CONFIG_LABEL}=${admin.nameOf('two')}`)
    await machine.agent.untilSays(/^paused: paused by annotation .*; wanted is kube-system\/plain-two:kubelet@/)
    assert.match(
      (await machine.agent.command('status')).stdout,
      /^Paused +paused by annotation kubelet-cfg-agent\.io\/paused of Node plain$/m,
    )
  })
  await step('which an agent that starts without an API server still knows', async () => {
    await machine.agent.stop()
    await plane.stopApiserver()
    const before = machine.restarts()
    const said = machine.agent.timesSaid(/^paused: paused by annotation/)
    machine.agent.start()
    await machine.agent.untilSays(/^paused: paused by annotation/, said + 1)
    await machine.untilRuns(51)
    assert.equal(machine.restarts(), before)
    await plane.startApiserver()
    await admin.kubectl('annotate', 'node', machine.name, `${PAUSED_ANNOTATION}-`)
    await machine.untilRuns(52, SLOW_MS)
  })
  await step('paused on the ConfigMap', async () => {
    await admin.kubectl('-n', 'kube-system', 'annotate', 'configmap', admin.nameOf('two'), `${PAUSED_ANNOTATION}=true`)
    await untilStatus(machine, {
      channel: 'label',
      paused: { by: 'cluster', detail: `paused by annotation ${PAUSED_ANNOTATION} of ConfigMap kube-system/plain-two` },
    })
    const { resourceVersion } = await admin.editConfigMap('two', machine.config('maxPods: 62'))
    await machine.agent.untilSays(new RegExp(`^paused: .*; wanted is kube-system/plain-two:kubelet@${resourceVersion}$`))
    await admin.kubectl('-n', 'kube-system', 'annotate', 'configmap', admin.nameOf('two'), `${PAUSED_ANNOTATION}-`)
    await machine.untilRuns(62)
  })
  await step('a malformed label is an error, and changes nothing', async () => {
    const before = machine.restarts()
    await admin.kubectl('label', '--overwrite', 'node', machine.name, `${CONFIG_LABEL}=Not_A_Name`)
    await untilStatus(machine, {
      channel: 'label',
      error: `failed to sync: label ${CONFIG_LABEL}: "Not_A_Name" is not a valid name of a ConfigMap`,
    })
    await machine.untilRuns(62)
    assert.equal(machine.restarts(), before)
  })
  await step('without label and annotation, the default again', async () => {
    await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}-`)
    await machine.untilRuns(62)
    await admin.kubectl('annotate', 'node', machine.name, `${CONFIG_SOURCE_ANNOTATION}-`)
    await machine.untilRuns(41)
    await untilStatus(machine, { channel: 'default', error: null })
  })
}

const playStrict: Play = async (step, machine, admin, plane) => {
  await admin.createConfigMap('one', machine.config('maxPods: 51'))
  await admin.createConfigMap('two', machine.config('maxPods: 52'))
  for (const name of ['one', 'two']) await plane.grantNodesConfigMap('kube-system', admin.nameOf(name))
  await step('the annotation says nothing', async () => {
    machine.agent.start()
    await admin.kubectl('annotate', 'node', machine.name, `${CONFIG_SOURCE_ANNOTATION}=kube-system/${admin.nameOf('one')}`)
    await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}=${admin.nameOf('two')}`)
    await machine.untilRuns(52)
    await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}-`)
    await machine.untilRuns(undefined)
    await untilStatus(machine, { channel: null, error: null })
  })
}

const playRights: Play = async (step, machine, admin, plane) => {
  const name = admin.nameOf('one')
  await admin.createConfigMap('one', machine.config('maxPods: 51'))
  await step('named, and not to be read', async () => {
    machine.agent.start()
    await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}=${name}`)
    await machine.agent.untilSays(/^failed to download .*forbidden/)
    assert.equal(machine.restarts(), 0)
  })
  await step('the right to get is enough', async () => {
    await plane.grantNodesConfigMap('kube-system', name, ['get'])
    await machine.untilRuns(51, SLOW_MS)
    await machine.agent.untilSays(/forbidden: reading it every minute instead$/, 1, SLOW_MS)
  })
  await step('an edit is found by reading', async () => {
    await admin.editConfigMap('one', machine.config('maxPods: 52'))
    await machine.untilRuns(52, SLOW_MS)
  })
  await step('without the right, what runs goes on running', async () => {
    const before = machine.restarts()
    const refused = /configmaps\/rights-one cannot be followed: .*forbidden/
    const said = machine.agent.timesSaid(refused)
    await admin.kubectl('-n', 'kube-system', 'delete', 'rolebinding', `nodes-read-${name}`)
    await admin.editConfigMap('one', machine.config('maxPods: 53'))
    await machine.agent.untilSays(refused, said + 1, 2 * SLOW_MS)
    await machine.untilRuns(52)
    assert.equal(machine.restarts(), before)
  })
  await step('and with it again, the edit arrives', async () => {
    await admin.kubectl('-n', 'kube-system', 'delete', 'role', `nodes-read-${name}`)
    await plane.grantNodesConfigMap('kube-system', name)
    await machine.untilRuns(53, SLOW_MS)
  })
}

const playFleet: Play = async (step, machine, admin, plane) => {
  const member = (name: string, maxPods: number, selector: string, priority: number) =>
    admin.applyConfigMap(fleetMember(name, selector, priority), machine.config(`maxPods: ${maxPods}`))
  await admin.kubectl('create', 'namespace', FLEET_NAMESPACE)
  await member('workers', 51, 'role in (worker,edge),!gpu', 1)
  await step('not to be listed: an error, and nothing happens', async () => {
    machine.agent.start()
    await untilStatus(machine, { channel: 'selector', error: /^failed to sync: ConfigMaps labelled .* cannot be listed: .*forbidden/ })
    assert.equal(machine.restarts(), 0)
  })
  await step('with the right, and nothing that selects this node: local', async () => {
    await grantFleet(admin)
    await untilStatus(machine, { channel: null, error: null })
    assert.equal(machine.restarts(), 0)
  })
  await step('the Node gets the labels', async () => {
    await admin.kubectl('label', 'node', machine.name, 'role=worker')
    await machine.untilRuns(51)
    await untilStatus(machine, { channel: 'selector', error: null })
  })
  await step('a higher priority', async () => {
    await member('canary', 52, `kubernetes.io/hostname=${machine.name}`, 10)
    await machine.untilRuns(52)
  })
  await step('a tie is refused', async () => {
    const before = machine.restarts()
    await member('other', 53, '', 10)
    await untilStatus(machine, { channel: 'selector', error: /ConfigMaps canary, other match with the same priority 10$/ })
    assert.equal(machine.restarts(), before)
    await machine.untilRuns(52)
    await admin.kubectl('-n', FLEET_NAMESPACE, 'annotate', '--overwrite', 'configmap', 'other', `${PRIORITY_ANNOTATION}=11`)
    await machine.untilRuns(53)
  })
  await step('the right is taken away', async () => {
    const before = machine.restarts()
    await admin.kubectl('-n', FLEET_NAMESPACE, 'delete', 'rolebinding', 'nodes-read-fleet')
    // A watch that is open stays open; a server that starts anew asks for the right.
    await plane.stopApiserver()
    await plane.startApiserver()
    await untilStatus(machine, { channel: 'selector', error: /cannot be listed: .*forbidden/ }, SLOW_MS)
    await machine.untilRuns(53)
    assert.equal(machine.restarts(), before)
  })
  await step('and given back, with another choice meanwhile', async () => {
    await admin.kubectl('-n', FLEET_NAMESPACE, 'delete', 'configmap', 'other')
    await bindFleet(admin)
    await machine.untilRuns(52, SLOW_MS)
    await untilStatus(machine, { channel: 'selector', error: null })
  })
}

async function grantFleet(admin: Administrator): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }]
  const metadata = { namespace: FLEET_NAMESPACE, name: 'nodes-read-fleet' }
  await admin.create({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules })
  await bindFleet(admin)
}

async function bindFleet(admin: Administrator): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  const metadata = { namespace: FLEET_NAMESPACE, name: 'nodes-read-fleet' }
  const roleRef = { apiGroup, kind: 'Role', name: metadata.name }
  await admin.create({
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef,
    subjects: [{ apiGroup, kind: 'Group', name: 'system:nodes' }],
  })
}

interface ExpectedStatus {
  readonly channel: string | null
  readonly error?: string | RegExp | null
  readonly paused?: { readonly by: string; readonly detail: string }
}

/** Waits until the command `status`, which asks nobody but the disk, says so. */
async function untilStatus(machine: Machine, { channel, error, paused }: ExpectedStatus, timeoutMs = 60_000): Promise<void> {
  const probe = async (): Promise<true> => {
    const status = JSON.parse((await machine.agent.command('status', '-o', 'json')).stdout)
    assert.equal(status.channel, channel)
    if (paused !== undefined) assert.deepEqual(status.paused, paused)
    if (error instanceof RegExp) assert.match(status.error, error)
    else if (error !== undefined) assert.equal(status.error, error)
    return true
  }
  await eventually(probe, { what: `status says channel ${channel}, error ${error}`, timeoutMs, intervalMs: 1_000 })
}
