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
      await step('a pod that is killed while dpkg works: kubelet goes on', () =>
        keepingKubelet(node, async () => {
          await createPod(node, admin, daemonSet, 'killed')
          await untilDpkgWorks(node)
          await deletePod(admin, 'killed', ['--grace-period=1'])
        }),
      )
      await step('the next pod completes it: installed, enabled, running, with the settings of the ConfigMap, and kubelet goes on', () =>
        keepingKubelet(node, async () => {
          await playPod(node, admin, daemonSet, 'first')
          assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
          assert.match(await readFile(node.host('/etc/kubelet-cfg-agent/config.yaml'), 'utf8'), /^trialDuration: 30m$/m)
          await admin.untilCondition({ status: 'True', reason: 'Local' })
        }),
      )
      await step('another pod of it changes nothing, and the same agent runs', async () => {
        const before = await node.show(AGENT, 'MainPID')
        await playPod(node, admin, daemonSet, 'second')
        assert.deepEqual(await node.show(AGENT, 'MainPID'), before)
      })
      await step('a pod that is deleted while dpkg works is given the time to end', async () => {
        await node.exec('apt-get', 'purge', '--yes', AGENT)
        await createPod(node, admin, daemonSet, 'deleted')
        await untilDpkgWorks(node)
        await deletePod(admin, 'deleted')
        assert.match((await node.exec('dpkg', '--status', AGENT)).stdout, /^Status: install ok installed$/m)
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
async function playPod(node: Node, admin: Administrator, daemonSet: Template, name: string): Promise<void> {
  await createPod(node, admin, daemonSet, name)
  const runs = async () => {
    const { status } = JSON.parse(await admin.kubectl('-n', NAMESPACE, 'get', 'pod', `install-${name}`, '-o', 'json'))
    assert.equal(status.phase, 'Running', JSON.stringify(status))
    return true
  }
  await eventually(runs, { what: `the pod ${name} has installed the agent`, timeoutMs: 120_000, intervalMs: 500 })
}

async function untilDpkgWorks(node: Node): Promise<void> {
  const probe = async () => (await node.exec('pgrep', '--exact', 'dpkg')).stdout !== ''
  await eventually(probe, { what: 'dpkg works', timeoutMs: 120_000, intervalMs: 50 })
}

/** Waits until it is gone, which is when its processes are. */
async function deletePod(admin: Administrator, name: string, options: readonly string[] = []): Promise<void> {
  await admin.kubectl('-n', NAMESPACE, 'delete', 'pod', `install-${name}`, ...options)
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
