// SPDX-License-Identifier: Apache-2.0
/**
 * The image that installs the agent, imported by the node's containerd and run by its kubelet, as a
 * pod of deploy/install/daemonset.yaml and of deploy/install/uninstall.yaml, on a node that takes
 * the deb and on one that takes the rpm. The lab has no controllers, so the test makes the pods of
 * the templates itself. Only where `npm run package` has made the image.
 */
import { strict as assert } from 'node:assert'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'
import { CONFIG_API_VERSION, CONFIG_KIND } from '../../../src/settings/resolve-settings.ts'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { makeRpm, whatItRequires } from '../release/small-rpm.ts'
import { assignNew } from './assign.ts'
import { findDeb, findImage, findRpm } from './install-agent.ts'
import { type Node, withNode } from './node.ts'
import { earlierRpm, keepingKubelet } from './packages.ts'
import { INSTALL } from './playbook.ts'

const AGENT = 'kubelet-cfg-agent'
const NAMESPACE = 'kube-system'
/** As the manifests name it, without its tag. */
const REPOSITORY = 'registry.example/kubelet-cfg-agent-install'
/** As apt calls dpkg. */
const UNPACKING = '^/usr/bin/dpkg .*--unpack'
const SCRIPT = '/bin/sh -c #!/bin/sh'
const INSTALLED = /^Status: install ok installed$/m
const NOT_DEBIAN = 'NAME="Fedora Linux"\nID=fedora\nVERSION_ID=41\nPRETTY_NAME="Fedora Linux 41"\n'

export async function addInstallerImageScenarios(plane: ControlPlane, program: string): Promise<void> {
  const [image, deb, rpm] = [await findImage(), await findDeb(), await findRpm()]
  if (image === undefined || deb === undefined || rpm === undefined) return
  addDebScenario(plane, program, image, deb)
  addRpmScenario(plane, program, image, rpm)
}

function addDebScenario(plane: ControlPlane, program: string, image: string, deb: string): void {
  const options = { name: 'image-deb', agent: 'absent', settings: { TRIAL_DURATION: '1s' } } as const
  scenario('node: install: image: its pod installs the deb on its node, upgrades it and removes it', (step) =>
    withNode(plane, program, options, async (node, admin) => {
      const pods = await Pods.prepare(plane, node, admin, image)
      const before = await traces(node)
      const version = (await node.exec('dpkg-deb', '--field', await put(node, deb), 'Version')).stdout.trim()
      await step('its processes are killed while dpkg unpacks: nothing is installed', async () => {
        await pods.create('first')
        await untilUnpacks(node)
        await node.exec('pkill', '--signal', 'KILL', '--full', `${UNPACKING}|^apt-get |^${SCRIPT}`)
        assert.equal((await node.show(AGENT, 'LoadState')).LoadState, 'not-found')
      })
      await step('its next attempt installs: enabled, running, with the settings of the ConfigMap, and kubelet goes on', () =>
        keepingKubelet(node, async () => {
          assert.match(await pods.said('first'), new RegExp(`^kubelet-cfg-agent: ${version} was installed`))
          assert.deepEqual(await node.show(AGENT, 'ActiveState', 'UnitFileState'), { ActiveState: 'active', UnitFileState: 'enabled' })
          assert.match(await readFile(node.host('/etc/kubelet-cfg-agent/config.yaml'), 'utf8'), /^trialDuration: 30m$/m)
          await admin.untilCondition({ status: 'True', reason: 'Local' })
        }),
      )
      await step('another pod of it changes nothing, and the same agent runs', async () => {
        const agent = await node.show(AGENT, 'MainPID')
        await pods.create('second')
        assert.equal(await pods.said('second'), `kubelet-cfg-agent: ${version} is installed already\n`)
        assert.deepEqual(await node.show(AGENT, 'MainPID'), agent)
      })
      await step('what sleeps ends at once, though its pod has two minutes', async () => {
        const startedAt = performance.now()
        await pods.delete('second')
        assert(performance.now() - startedAt < 60_000, 'it was killed')
      })
      await step('a pod that is deleted while dpkg unpacks is given the time to end', async () => {
        await node.exec('apt-get', 'purge', '--yes', AGENT)
        await pods.create('deleted')
        await untilUnpacks(node)
        await pods.delete('deleted')
        assert.match((await node.exec('dpkg', '--status', AGENT)).stdout, INSTALLED)
        assert.equal((await node.exec('dpkg', '--audit')).stdout, '')
      })
      await step('a newer one stays, and is replaced where that is asked for', async () => {
        const status = node.host('/var/lib/dpkg/status')
        const records = (await readFile(status, 'utf8')).split('\n\n')
        const later = records.map((each) =>
          each.startsWith(`Package: ${AGENT}\n`) ? each.replace(/^Version: .*$/m, 'Version: 9.0.0') : each,
        )
        await writeFile(status, later.join('\n\n'))
        await pods.create('kept')
        assert.match(await pods.said('kept'), /^kubelet-cfg-agent: 9\.0\.0 stays, which is newer than \S+ of this image;/)
        await pods.create('back', ['install', '--allow-downgrade'])
        assert.equal(await pods.said('back'), `kubelet-cfg-agent: ${version} was installed in place of 9.0.0\n`)
      })
      await step('where kubelet runs an assigned config, the pod that removes leaves all as it is', async () => {
        await assignNew(node, admin, 'assigned', { maxPods: 61 })
        await node.untilRuns(61)
        await pods.create('remove')
        assert.match(await pods.failed('remove'), /^kubelet-cfg-agent: kubelet does not run its local config\. Take the assignment/)
        assert.equal((await node.show(AGENT, 'ActiveState')).ActiveState, 'active')
      })
      await step('without the assignment it removes the agent: the node is as it was, and kubelet goes on', async () => {
        await admin.unassign()
        await node.untilRuns(110)
        await keepingKubelet(node, async () => {
          assert.equal(await pods.said('remove'), 'kubelet-cfg-agent: it was removed. kubelet was not restarted\n')
          assert.deepEqual(await traces(node), before)
        })
      })
      await step('another one has nothing to do', async () => {
        await pods.create('remove-again', ['remove'])
        assert.match(await pods.said('remove-again'), /: it is not installed, so there is nothing to remove\n$/)
      })
    }),
  )
}

function addRpmScenario(plane: ControlPlane, program: string, image: string, rpm: string): void {
  const options = { name: 'image-rpm', agent: 'absent' } as const
  scenario('node: install: image: its pod installs the rpm on a node without debs, upgrades it and removes it', (step) =>
    withNode(plane, program, options, async (node, admin) => {
      const pods = await Pods.prepare(plane, node, admin, image)
      const before = await traces(node)
      const version = basename(rpm).replace(/^kubelet-cfg-agent-|\.[^.]+\.rpm$/g, '')
      await step('a node that says that it is Fedora, with the rpm of an earlier version', async () => {
        await rm(node.host('/etc/os-release'))
        await writeFile(node.host('/etc/os-release'), NOT_DEBIAN)
        const scratch = join(plane.directory, 'rpms-for-image')
        await mkdir(scratch)
        const distribution = await makeRpm(scratch, { name: 'distribution', version: '1', provides: await whatItRequires(rpm) })
        for (const file of [distribution, await earlierRpm(join(scratch, 'earlier'), rpm, '0.0.1')])
          await node.exec('rpm', '--install', await put(node, file))
      })
      await step('upgraded: another agent, and kubelet goes on', () =>
        keepingKubelet(node, async () => {
          const agent = await node.show(AGENT, 'MainPID')
          await pods.create('rpm')
          assert.match(await pods.said('rpm'), new RegExp(`^kubelet-cfg-agent: ${version} was installed in place of 0\\.0\\.1-1`))
          assert.notDeepEqual(await node.show(AGENT, 'MainPID'), agent)
          await admin.untilCondition({ status: 'True', reason: 'Local' })
        }),
      )
      await step('another pod of it changes nothing', async () => {
        await pods.create('rpm-again')
        assert.equal(await pods.said('rpm-again'), `kubelet-cfg-agent: ${version} is installed already\n`)
      })
      await step('other settings get there, and those that the agent does not take do not', async () => {
        await pods.setSettings({ trialDuration: '20m' })
        await pods.create('rpm-settings')
        assert.equal(await pods.said('rpm-settings'), `kubelet-cfg-agent: ${version} is installed already; it has new settings\n`)
        await pods.setSettings({ trialDuration: 'long' })
        await pods.create('rpm-bad')
        assert.match(await pods.failed('rpm-bad'), /but it does not take the settings of the ConfigMap, see the lines before this one\n$/)
        assert.match(await readFile(node.host('/etc/kubelet-cfg-agent/config.yaml'), 'utf8'), /^trialDuration: 20m$/m)
      })
      await step('removed although kubelet runs an assigned config, which stays, and kubelet goes on', async () => {
        await pods.delete('rpm-bad')
        const { uid, resourceVersion } = await assignNew(node, admin, 'assigned', { maxPods: 61 })
        await node.untilRuns(61)
        await keepingKubelet(node, async () => {
          await pods.create('remove-assigned', ['remove', '--while-assigned'])
          assert.equal(await pods.said('remove-assigned'), 'kubelet-cfg-agent: it was removed. kubelet was not restarted\n')
          assert.match(node.read('checkpoints', uid, resourceVersion, 'kubelet') ?? '', /maxPods: 61/)
        })
        await node.systemctl('restart', 'kubelet')
        await node.untilRuns(110)
      })
      await step('installed on a node without it', async () => {
        await admin.unassign()
        await pods.setSettings({})
        await pods.create('rpm-first')
        assert.equal(await pods.said('rpm-first'), `kubelet-cfg-agent: ${version} was installed\n`)
        await admin.untilCondition({ status: 'True', reason: 'Local' })
      })
      await step('removed: the node is as it was, and kubelet goes on', () =>
        keepingKubelet(node, async () => {
          await pods.create('remove-rpm', ['remove'])
          assert.equal(await pods.said('remove-rpm'), 'kubelet-cfg-agent: it was removed. kubelet was not restarted\n')
          assert.deepEqual(await traces(node), before)
        }),
      )
    }),
  )
}

interface PodSpec {
  readonly initContainers: readonly [Container]
  readonly containers: readonly Container[]
}

interface Container {
  readonly args: readonly string[]
}

interface ContainerStatus {
  readonly lastState: { readonly terminated?: { readonly message?: string } }
  readonly state: { readonly terminated?: { readonly message?: string } }
}

/** The pods of both templates on one node, each under a name of its own. */
class Pods {
  readonly #plane: ControlPlane
  readonly #node: Node
  readonly #admin: Administrator
  readonly #templates: Readonly<Record<'install' | 'remove', PodSpec>>
  /** Both scenarios have one cluster. */
  readonly #settings: string

  private constructor(plane: ControlPlane, node: Node, admin: Administrator, templates: Readonly<Record<'install' | 'remove', PodSpec>>) {
    this.#plane = plane
    this.#node = node
    this.#admin = admin
    this.#templates = templates
    this.#settings = `${node.name}-settings`
  }

  static async prepare(plane: ControlPlane, node: Node, admin: Administrator, image: string): Promise<Pods> {
    const inside = await put(node, image)
    await node.exec('ctr', '--namespace', 'k8s.io', 'images', 'import', '--base-name', REPOSITORY, inside)
    await rm(node.host(inside))
    const templates = { install: await readTemplate('daemonset.yaml'), remove: await readTemplate('uninstall.yaml') }
    const pods = new Pods(plane, node, admin, templates)
    const [settings] = await readManifest('daemonset.yaml')
    await admin.create({ ...settings, metadata: { name: pods.#settings, namespace: NAMESPACE } })
    return pods
  }

  async setSettings(settings: object): Promise<void> {
    const data = { 'config.yaml': stringify({ apiVersion: CONFIG_API_VERSION, kind: CONFIG_KIND, ...settings }) }
    await this.#admin.kubectl('-n', NAMESPACE, 'patch', 'configmap', this.#settings, '--patch', JSON.stringify({ data }))
  }

  async create(name: string, args: readonly string[] = [name.startsWith('remove') ? 'remove' : 'install']): Promise<void> {
    const template = this.#templates[args[0] === 'remove' ? 'remove' : 'install']
    // On the lab's nodes, which set cgroupsPerQOS to false, kubelet 1.36.4 panicked in
    // doPodResizeAction when it had to start the second container of a pod that asks for resources.
    const ours = (container: Container) => ({ ...container, imagePullPolicy: 'Never', resources: {} })
    const [first] = template.initContainers
    const spec = {
      ...template,
      nodeName: this.#node.name,
      nodeSelector: {},
      initContainers: [{ ...ours(first), args }],
      containers: template.containers.map(ours),
      volumes: [{ name: 'settings', configMap: { name: this.#settings } }],
    }
    await this.#admin.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: NAMESPACE }, spec })
  }

  /** Waits until the pod is gone, which is when its processes are. */
  async delete(name: string): Promise<void> {
    await this.#admin.kubectl('-n', NAMESPACE, 'delete', 'pod', name)
  }

  /**
   * What its first container said at its end, once it has ended well and the second one runs.
   */
  said(name: string): Promise<string> {
    return this.#message(name, 'has ended well', ({ state: { terminated } }, phase) => {
      assert.equal(phase, 'Running')
      return terminated?.message
    })
  }

  /** What its first container said when it failed. */
  failed(name: string): Promise<string> {
    return this.#message(name, 'has failed', ({ lastState, state }) => (lastState.terminated ?? state.terminated)?.message)
  }

  #message(name: string, what: string, find: (status: ContainerStatus, phase: string) => string | undefined): Promise<string> {
    const probe = async () => {
      const { status } = JSON.parse(await this.#plane.read(`/api/v1/namespaces/${NAMESPACE}/pods/${name}`))
      const said = find(status.initContainerStatuses[0], status.phase)
      assert(said !== undefined, JSON.stringify(status))
      return said
    }
    return eventually(probe, { what: `the first container of ${name} ${what}`, timeoutMs: 180_000 })
  }
}

async function readManifest(name: string): Promise<object[]> {
  return parseAllDocuments(await readFile(join(INSTALL, name), 'utf8')).map((each): object => each.toJS())
}

async function readTemplate(name: string): Promise<PodSpec> {
  const daemonSet = (await readManifest(name)).at(-1) as { readonly spec: { readonly template: { readonly spec: PodSpec } } }
  return daemonSet.spec.template.spec
}

/** @returns where it is on the node */
async function put(node: Node, file: string): Promise<string> {
  const inside = join('/root', basename(file))
  await copyFile(file, node.host(inside))
  return inside
}

/** What the node has under the name of the agent, without what the lab puts there. */
async function traces(node: Node): Promise<readonly string[]> {
  const { stdout } = await node.exec('find', '/etc', '/usr', '/var/lib', '/var/cache', '/run', '-xdev', '-name', `*${AGENT}*`)
  return stdout
    .split('\n')
    .filter((path) => path !== '' && !/containerd|\/kubelet\/pods\//.test(path))
    .sort()
}

async function untilUnpacks(node: Node): Promise<void> {
  const probe = async () => (await node.exec('pgrep', '--full', UNPACKING)).stdout !== ''
  await eventually(probe, { what: 'dpkg unpacks', timeoutMs: 120_000, intervalMs: 50 })
}
