/**
 * The pod of deploy/install/daemonset.yaml on a node: it installs the agent on the node from inside
 * a container, and changes nothing the second time. The lab has no controllers, so the test makes
 * the pods of the template itself, and gives them the lab's image and the deb. Only where `npm run
 * package` has made a deb.
 */
import { strict as assert } from 'node:assert'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { IMAGE_NAME } from './image.ts'
import { findDeb } from './install-agent.ts'
import { type Node, withNode } from './node.ts'
import { keepingKubelet } from './packages.ts'
import { INSTALL } from './playbook.ts'

const AGENT = 'kubelet-cfg-agent'
const NAMESPACE = 'kube-system'
/** Of the node, in place of those of the image. */
const PACKAGES = '/srv/packages'
/** As apt calls dpkg. */
const UNPACKING = '^/usr/bin/dpkg .*--unpack'
const SCRIPT = '/bin/sh /var/cache/kubelet-cfg-agent/install'
const INSTALLED = /^Status: install ok installed$/m

export async function addDaemonSetScenarios(plane: ControlPlane, program: string): Promise<void> {
  const deb = await findDeb()
  if (deb === undefined) return
  const options = { name: 'daemonset', agent: 'absent' } as const
  scenario('node: install: the pod of the DaemonSet installs the deb on its node', (step) =>
    withNode(plane, program, options, async (node, admin) => {
      await mkdir(node.host(PACKAGES))
      await copyFile(deb, node.host(PACKAGES, 'kubelet-cfg-agent.deb'))
      const [configMap, daemonSet] = parseAllDocuments(await readFile(join(INSTALL, 'daemonset.yaml'), 'utf8')).map((each) => each.toJS())
      await admin.create(configMap)
      await step('its processes are killed while dpkg unpacks: nothing is installed', async () => {
        await createPod(node, admin, daemonSet, 'first')
        await untilUnpacks(node)
        await node.exec('pkill', '--signal', 'KILL', '--full', `${UNPACKING}|^apt-get install|${SCRIPT}$`)
        assert.equal((await node.show(AGENT, 'LoadState')).LoadState, 'not-found')
      })
      await step('its next attempt installs: enabled, running, with the settings of the ConfigMap, and kubelet goes on', () =>
        keepingKubelet(node, async () => {
          await untilRuns(plane, 'first')
          assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
          assert.match(await readFile(node.host('/etc/kubelet-cfg-agent/config.yaml'), 'utf8'), /^trialDuration: 30m$/m)
          await admin.untilCondition({ status: 'True', reason: 'Local' })
        }),
      )
      await step('another pod of it changes nothing, and the same agent runs', async () => {
        const before = await node.show(AGENT, 'MainPID')
        await createPod(node, admin, daemonSet, 'second')
        await untilRuns(plane, 'second')
        assert.deepEqual(await node.show(AGENT, 'MainPID'), before)
      })
      await step('a pod that is deleted while dpkg unpacks is given the time to end', async () => {
        await node.exec('apt-get', 'purge', '--yes', AGENT)
        await createPod(node, admin, daemonSet, 'deleted')
        await untilUnpacks(node)
        // The command waits until the pod is gone, which is when its processes are.
        await admin.kubectl('-n', NAMESPACE, 'delete', 'pod', 'install-deleted')
        assert.match((await node.exec('dpkg', '--status', AGENT)).stdout, INSTALLED)
        assert.equal((await node.exec('dpkg', '--audit')).stdout, '')
      })
    }),
  )
}

interface Template {
  readonly spec: { readonly template: { readonly spec: PodSpec } }
}

interface PodSpec {
  readonly initContainers: readonly Container[]
  readonly containers: readonly Container[]
  readonly volumes: readonly object[]
}

interface Container {
  readonly command: readonly [string, ...string[]]
  readonly volumeMounts?: readonly object[]
}

/** Waits until its first container has ended well, and the second one runs. */
async function untilRuns(plane: ControlPlane, name: string): Promise<void> {
  const runs = async () => {
    const { status } = JSON.parse(await plane.read(`/api/v1/namespaces/${NAMESPACE}/pods/install-${name}`))
    assert.equal(status.phase, 'Running', JSON.stringify(status))
    return true
  }
  await eventually(runs, { what: `the pod ${name} has installed the agent`, timeoutMs: 120_000 })
}

async function untilUnpacks(node: Node): Promise<void> {
  const probe = async () => (await node.exec('pgrep', '--full', UNPACKING)).stdout !== ''
  await eventually(probe, { what: 'dpkg unpacks', timeoutMs: 120_000, intervalMs: 50 })
}

async function createPod(node: Node, admin: Administrator, { spec: { template } }: Template, name: string): Promise<void> {
  const { spec } = template
  const packages = { name: 'packages', mountPath: '/packages', readOnly: true }
  // The image has busybox alone, under its own name. On the lab's nodes, which set cgroupsPerQOS to
  // false, kubelet 1.36.4 panicked in doPodResizeAction when it had to start the second container
  // of a pod that asks for resources.
  const ours = (container: Container) => ({
    ...container,
    image: IMAGE_NAME,
    imagePullPolicy: 'Never',
    resources: {},
    command: ['/bin/busybox', 'sh', ...container.command.slice(1)],
    volumeMounts: [...(container.volumeMounts ?? []), packages],
  })
  await admin.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `install-${name}`, namespace: NAMESPACE },
    spec: {
      ...spec,
      nodeName: node.name,
      nodeSelector: {},
      initContainers: spec.initContainers.map(ours),
      containers: spec.containers.map(ours),
      volumes: [...spec.volumes, { name: 'packages', hostPath: { path: PACKAGES } }],
    },
  })
}
