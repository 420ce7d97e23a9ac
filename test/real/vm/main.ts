// SPDX-License-Identifier: Apache-2.0
/**
 * A node with kubeadm's defaults, which a container cannot give: `npm run test:vm`. It has control
 * groups v2 and a kernel of its own, in a virtual machine. Needs root, the package of the agent
 * (`npm run package`), qemu-system-x86_64, ssh and scp. Not part of `npm run test:real`.
 */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { BASE_ANNOTATION } from '../../../src/decision/channels.ts'
import { startControlPlane } from '../lab/control-plane.ts'
import { run } from '../lab/processes.ts'
import { runScenarios, scenario } from '../lab/runner.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { DEPLOY } from '../rights/manifests.ts'
import { KubeadmNode, STATIC_POD } from './kubeadm-node.ts'

const PART = { name: 'node-config', namespace: 'kube-system', annotations: { [BASE_ANNOTATION]: 'local' } }
/** A static pod has to be away for two minutes, and the machine is slow. */
const LEFT_MS = 600_000

scenario(
  "vm: kubeadm's defaults on control groups v2",
  async (step) => {
    const plane = await step('a cluster', () => startControlPlane({ release: 'new' }))
    await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac/node-configmaps.yaml')])
    const node = await step('a disk is made', () => KubeadmNode.create(plane, 'vm'))
    const { machine, admin } = node
    const put = async (part: object) => `kube-system/node-config:kubelet@${await admin.applyConfigMap(PART, stringify(part))}`
    try {
      await step('a machine boots', () => machine.boot())
      await step('kubeadm sets up kubelet, and the node is ready', async () => {
        const version = (await run(plane.binaries.kubeApiserver, ['--version'])).stdout.trim().replace('Kubernetes ', '')
        await node.setUpKubelet(version)
        await node.untilReady()
      })
      const container = await step('a static pod runs, in a control group of systemd', async () => {
        const id = await node.untilStaticPodRuns()
        const { stdout } = await machine.exec('systemctl', ['list-units', '--no-legend', '--plain', 'kubepods*'])
        assert.match(stdout, /^kubepods\.slice /m)
        return id
      })
      const reserved = await allocatableOf(node)
      await step('the package is installed, and kubelet goes on', () =>
        withoutRestart(node, async () => {
          await node.installAgent()
          await admin.untilCondition({ status: 'True', reason: 'Local' })
        }),
      )
      await step('a part over the local config is tried and promoted, and the pod runs on', async () => {
        const source = await put({ maxPods: 51 })
        await admin.kubectl('label', 'node', node.name, `${CONFIG_LABEL}=${PART.name}`)
        await node.untilPods(51)
        await admin.untilCondition({ status: 'True', reason: 'Promoted', message: startsWith(source) }, LEFT_MS)
        assert.equal(await node.untilStaticPodRuns(), container)
        assert.deepEqual(await allocatableOf(node), reserved)
      })
      await step('cgroupDriver: cgroupfs over a runtime that uses systemd is refused', () =>
        withoutRestart(node, async () => {
          const source = await put({ maxPods: 52, cgroupDriver: 'cgroupfs' })
          const { message } = await admin.untilCondition({ status: 'False', reason: 'Refused', message: startsWith(source) })
          assert.match(message, /cgroupDriver/)
        }),
      )
      await step('without that check it is tried, takes the static pod away and is rolled back', async () => {
        await node.configureAgent({ GUARDS_OFF: 'cgroup-driver', TRIAL_DURATION: '300s' })
        const source = await put({ maxPods: 53, cgroupDriver: 'cgroupfs' })
        await node.untilPods(53)
        const { message } = await admin.untilCondition({ status: 'False', reason: 'RolledBack', message: startsWith(source) }, LEFT_MS)
        console.log(`    ${message}`)
        assert.match(message, new RegExp(STATIC_POD))
        await node.untilPods(51)
        await node.untilStaticPodRuns()
      })
      await step('the config that ran before is assigned again, and the machine is rebooted: it comes up with it', async () => {
        await put({ maxPods: 51 })
        await admin.untilCondition({ status: 'True', reason: 'Promoted' }, LEFT_MS)
        await machine.reboot()
        await node.untilReady()
        await node.untilStaticPodRuns()
        await node.untilPods(51)
        const { stdout } = await machine.exec('systemctl', ['show', 'kubelet', '--property=NRestarts'])
        assert.equal(stdout, 'NRestarts=0\n')
        await admin.untilCondition({ status: 'True', reason: 'Promoted' })
      })
    } catch (error) {
      console.log((await node.describe()).replace(/^/gm, '    '))
      throw error
    } finally {
      await machine.stop()
      await plane.stop()
    }
  },
  { timeoutMs: 3_600_000 },
)
await runScenarios()

async function allocatableOf(node: KubeadmNode): Promise<object> {
  const { allocatable } = (await node.object()).status
  return { cpu: allocatable.cpu, memory: allocatable.memory }
}

/** Fails if the kubelet that runs after `work` is another than before. */
async function withoutRestart(node: KubeadmNode, work: () => Promise<void>): Promise<void> {
  const before = await node.kubeletProcess()
  await work()
  assert.equal(await node.kubeletProcess(), before)
}

function startsWith(source: string): RegExp {
  return new RegExp(`^${source.replaceAll(/[.+]/g, '\\$&')}`)
}
