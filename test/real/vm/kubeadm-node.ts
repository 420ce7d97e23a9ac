// SPDX-License-Identifier: Apache-2.0
/**
 * A node in a virtual machine, set up by the real kubeadm with its own defaults: control groups of
 * systemd's, one for each class of pods, reservations, and a static pod.
 */
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { IMAGE_FILE, IMAGE_NAME } from '../node/image.ts'
import { findDeb } from '../node/install-agent.ts'
import { CNI_CONFIG, identityFiles, kubeadmUnit } from '../node/kubeadm-files.ts'
import { staticPod } from '../node/static-pod.ts'
import { HOST, Machine } from './machine.ts'
import { ensureMachineRoot } from './root.ts'

export const STATIC_POD = 'etcd'
/** Emulated, a kubelet takes its time. */
const SLOW_MS = 300_000
const AGENT = 'kubelet-cfg-agent'
const SETTINGS = '/etc/systemd/system/kubelet-cfg-agent.service.d/lab.conf'
const RESERVED = { cpu: '100m', memory: '128Mi' }

export class KubeadmNode {
  readonly name: string
  readonly admin: Administrator
  readonly machine: Machine
  readonly #caFile: string

  private constructor(machine: Machine, admin: Administrator, caFile: string) {
    this.name = machine.name
    this.machine = machine
    this.admin = admin
    this.#caFile = caFile
  }

  static async create(plane: ControlPlane, name: string): Promise<KubeadmNode> {
    const { kubelet, kubeApiserver } = plane.binaries
    const kubeadm = join(dirname(kubeApiserver), 'kubeadm')
    assert(kubelet !== undefined && existsSync(kubeadm), 'the lab has no kubelet and kubeadm of one release')
    const files = {
      ...(await identityFiles(plane, name, { server: plane.server.replace('127.0.0.1', HOST), 'tls-server-name': 'localhost' })),
      '/etc/kubernetes/pki/README': 'ca.crt comes when kubeadm has run\n',
      ...kubeadmUnit(''),
      '/usr/bin/kubelet': await readFile(kubelet),
      '/usr/bin/kubeadm': await readFile(kubeadm),
      '/etc/containerd/config.toml': CONTAINERD_CONFIG,
      '/etc/systemd/system/containerd.service.d/lab.conf': `[Service]\nExecStartPost=/usr/bin/ctr --namespace k8s.io images import ${IMAGE_FILE}\n`,
      ...CNI_CONFIG,
      '/etc/modules-load.d/lab.conf': 'overlay\nbr_netfilter\n',
      [`/etc/kubernetes/manifests/${STATIC_POD}.yaml`]: stringify(staticPod(STATIC_POD)),
      [SETTINGS]: settings({}),
    }
    const directory = join(plane.directory, 'machines', name)
    const machine = await Machine.create(await ensureMachineRoot(), { name, directory, files })
    return new KubeadmNode(machine, new Administrator(plane, name), plane.caFile)
  }

  /**
   * kubeadm writes kubelet's flags and its local config, and starts it. With the certificate of an
   * authority but without its key, kubeadm would ask for all certificates of a control plane.
   */
  async setUpKubelet(version: string): Promise<void> {
    const apiVersion = 'kubeadm.k8s.io/v1beta4'
    const nodeRegistration = { name: this.name, criSocket: 'unix:///run/containerd/containerd.sock' }
    const documents = [
      { apiVersion, kind: 'InitConfiguration', nodeRegistration },
      { apiVersion, kind: 'ClusterConfiguration', kubernetesVersion: version },
      {
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        kubeReserved: RESERVED,
        systemReserved: RESERVED,
      },
    ]
    await this.machine.write('/root/kubeadm.yaml', documents.map((document) => stringify(document)).join('---\n'))
    await this.machine.exec('kubeadm', ['init', 'phase', 'kubelet-start', '--config', '/root/kubeadm.yaml'], { timeoutMs: SLOW_MS })
    await this.machine.copy(this.#caFile, '/etc/kubernetes/pki/ca.crt')
    await this.machine.exec('systemctl', ['enable', 'kubelet'])
    await this.machine.exec('systemctl', ['restart', 'kubelet'])
  }

  /** The package, as it was built last. Kubelet goes on as it was. */
  async installAgent(): Promise<void> {
    const deb = await findDeb()
    assert(deb !== undefined, 'there is no package: run `npm run package` first')
    const inside = `/root/${basename(deb)}`
    await this.machine.copy(deb, inside)
    await this.machine.exec('apt-get', ['install', '--yes', '--no-install-recommends', inside], { timeoutMs: SLOW_MS })
  }

  /** The agent goes on with other settings. */
  async configureAgent(changes: Readonly<Record<string, string>>): Promise<void> {
    await this.machine.write(SETTINGS, settings(changes))
    await this.machine.exec('systemctl', ['daemon-reload'])
    await this.machine.exec('systemctl', ['restart', AGENT])
  }

  async object() {
    return JSON.parse(await this.admin.kubectl('get', 'node', this.name, '-o', 'json'))
  }

  async untilReady(): Promise<void> {
    const isReady = async () => {
      const { status } = await this.object()
      return status.conditions.some(({ type, status }: { type: string; status: string }) => type === 'Ready' && status === 'True')
    }
    await eventually(isReady, { what: `the Node ${this.name} is ready`, timeoutMs: SLOW_MS, intervalMs: 500 })
  }

  /** As kubelet reports it of itself. */
  async untilPods(maxPods: number): Promise<void> {
    const probe = async () => {
      assert.equal((await this.object()).status.capacity.pods, String(maxPods))
      return true
    }
    await eventually(probe, { what: `kubelet runs with maxPods ${maxPods}`, timeoutMs: SLOW_MS, intervalMs: 500 })
  }

  /** As its mirror says; returns the id of its container. */
  async untilStaticPodRuns(): Promise<string> {
    const probe = async (): Promise<string> => {
      const { status } = JSON.parse(await this.admin.kubectl('-n', 'kube-system', 'get', 'pod', `${STATIC_POD}-${this.name}`, '-o', 'json'))
      assert.equal(status.phase, 'Running')
      const [{ ready, containerID }] = status.containerStatuses
      assert(ready && typeof containerID === 'string')
      return containerID
    }
    return eventually(probe, { what: 'the static pod runs', timeoutMs: SLOW_MS, intervalMs: 500 })
  }

  /** One kubelet is told from the next by it. */
  async kubeletProcess(): Promise<string> {
    return (await this.machine.exec('systemctl', ['show', 'kubelet', '--property=InvocationID,MainPID'])).stdout
  }

  /** For a person who wants to know why a test failed. */
  async describe(): Promise<string> {
    const journal = (unit: string) =>
      this.machine.exec('journalctl', ['--no-pager', '--unit', unit, '--lines', '40']).then(
        ({ stdout }) => `--- journal of ${unit}\n${stdout}`,
        (error: unknown) => `--- journal of ${unit}: ${error}`,
      )
    return [await journal(AGENT), await journal('kubelet')].join('\n')
  }
}

function settings(changes: Readonly<Record<string, string>>): string {
  const variables = Object.entries({ SPREAD: '0s', TRIAL_DURATION: '30s', ...changes })
  return `[Service]\n${variables.map(([name, value]) => `Environment=KUBELET_CFG_AGENT_${name}=${value}\n`).join('')}`
}

/** As kubeadm's documentation has it for systemd. */
const CONTAINERD_CONFIG = `version = 2

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${IMAGE_NAME}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
`
