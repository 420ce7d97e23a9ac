// SPDX-License-Identifier: Apache-2.0
/**
 * The files that kubeadm and Debian's packages put on a node, written into its root before it
 * boots: kubelet's unit with its drop-in, its flags, its local config and the node's identity. And
 * the little that a container needs to be a node: `LAB_CONFIG`, and kernel settings that look as
 * kubelet wants them, since it may not write those of the machine that runs the tests.
 */
import { chmod, mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import type { ControlPlane } from '../lab/control-plane.ts'
import { IMAGE_FILE, IMAGE_NAME } from './image.ts'
import { K3S_CONFIG_DIR, K3S_DEFAULTS, K3S_KUBECONFIG, K3S_RUNTIME, K3S_UNIT, k3sUnit } from './k3s-stand-in.ts'

export type UnitKind = 'kubeadm' | 'spelled-out' | 'nodeadm' | 'k3s'

export interface NodePorts {
  readonly kubelet: number
  readonly healthz: number
}

interface NodeFiles {
  readonly name: string
  readonly unit: UnitKind
  readonly ports: NodePorts
  /** Of its kubelet: 1.MINOR. */
  readonly kubeletMinor: number
}

/** Where kubelet's local config is. */
export const LOCAL_CONFIG: Readonly<Record<UnitKind, string>> = {
  kubeadm: '/var/lib/kubelet/config.yaml',
  'spelled-out': '/etc/kubernetes/kubelet/kubelet-config.json',
  nodeadm: '/etc/kubernetes/kubelet/config.json',
  k3s: `${K3S_CONFIG_DIR}/00-k3s-defaults.conf`,
}

/** The unit that kubelet runs in. */
export const UNIT_NAMES: Readonly<Record<UnitKind, string>> = {
  kubeadm: 'kubelet',
  'spelled-out': 'kubelet',
  nodeadm: 'kubelet',
  k3s: K3S_UNIT,
}

/** Where nodeadm puts what the user data say of kubelet. */
export const NODEADM_DROP_IN = '/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf'
/** The number of pods in these user data. */
export const NODEADM_PODS = 30

/**
 * As `kubeadm init` writes it, with what a container cannot give left out. `changes` are on top.
 */
export function kubeletConfig(ports: NodePorts, kubeletMinor: number, changes: object = {}): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' } },
    authorization: { mode: 'Webhook' },
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    rotateCertificates: true,
    staticPodPath: '/etc/kubernetes/manifests',
    port: ports.kubelet,
    healthzPort: ports.healthz,
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    ...(kubeletMinor >= FIRST_WITH_FAIL_CGROUP_V1 && { failCgroupV1: false }),
    // All of them, since one that is missing is worth a warning.
    evictionHard: {
      ...{ 'memory.available': '1Mi', 'nodefs.available': '1Mi', 'imagefs.available': '1Mi' },
      ...{ 'nodefs.inodesFree': '1%', 'imagefs.inodesFree': '1%' },
    },
    ...changes,
  }
}

/**
 * For machines that still have cgroup v1, which kubelet 1.35 and later refuse. Earlier ones know
 * the field, and so their config serves after an upgrade.
 */
const FIRST_WITH_FAIL_CGROUP_V1 = 31

/**
 * Passes validation, and kills kubelet when it sets up its cgroups. Preflight sees at once that
 * there is no such cgroup.
 */
export const BRICK = { cgroupsPerQOS: true, enforceNodeAllocatable: [], cgroupRoot: '/nope' }

/** A config of which kubelet dies at each start. */
export interface Crash {
  readonly changes: object
  /** The last words of kubelet before it exits. */
  readonly lastWords: string
}

/**
 * Only a kubelet that starts says so, and preflight with it, unless that is left out
 * (`UP_TO_LOADING`). From 1.24 on the rules of preflight know it.
 */
const CRASH_OF_LOG_MANAGER: Crash = {
  changes: { containerLogMaxFiles: 1 },
  lastWords: 'failed to run Kubelet: failed to create kubelet: failed to initialize container log manager: invalid MaxFiles 1, must be > 1',
}
/** No container runtime answers in that time. Later kubelets say more. */
const CRASH_OF_TIMEOUT: Crash = {
  changes: { runtimeRequestTimeout: '2us' },
  lastWords: 'failed to run Kubelet: context deadline exceeded',
}
/** 1.30 is the first that has this field. */
const CRASH_OF_LOGS_DIRECTORY: Crash = {
  changes: { podLogsDir: '/proc/none' },
  lastWords:
    'Failed to initialize internal modules: error creating pod logs root directory "/proc/none": mkdir /proc/none: no such file or directory',
}

export function crashOf(kubeletMinor: number): Crash {
  if (kubeletMinor < 24) return CRASH_OF_LOG_MANAGER
  return kubeletMinor < 30 ? CRASH_OF_TIMEOUT : CRASH_OF_LOGS_DIRECTORY
}

/**
 * A setting for nodes on which a config that crashes kubelet has to reach it: the deep stage of
 * preflight would refuse it.
 */
export const UP_TO_LOADING = { PREFLIGHT: 'load' }

export async function writeNodeFiles(plane: ControlPlane, root: string, { name, unit, ports, kubeletMinor }: NodeFiles): Promise<void> {
  const config = kubeletConfig(ports, kubeletMinor, FOR_UNIT[unit])
  const text = unit === 'kubeadm' ? stringify(config) : `${JSON.stringify(config, null, 4)}\n`
  const identity = await identityFiles(plane, name)
  const files: Record<string, string> = {
    '/etc/hostname': `${name}\n`,
    '/etc/hosts': `127.0.0.1 localhost\n127.0.1.1 ${name}\n`,
    ...identity,
    '/etc/kubernetes/pki/ca.crt': await readFile(plane.caFile, 'utf8'),
    [LOCAL_CONFIG[unit]]: text,
    ...(unit === 'k3s'
      ? { ...k3sUnit(name), [K3S_DEFAULTS]: text, [K3S_KUBECONFIG]: identity['/etc/kubernetes/kubelet.conf'] ?? '' }
      : UNITS[unit](runtimeFlags(name, kubeletMinor))),
    ...labFiles(),
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  for (const secret of ['/etc/kubernetes/kubelet.conf', CURRENT_PEM]) await chmod(join(root, secret), 0o600)
  await mkdir(join(root, '/etc/kubernetes/manifests'), { recursive: true })
}

/**
 * The node's kubeconfig, and the file with its certificate and key.
 * @param cluster how the node reaches the API server, where that is not as this machine does
 */
export async function identityFiles(plane: ControlPlane, name: string, cluster: object = {}): Promise<Record<string, string>> {
  const identity = JSON.parse(await readFile(await plane.nodeKubeconfig(name), 'utf8'))
  const { user } = identity.users[0]
  const pem = await readFile(await realpath(user['client-certificate']), 'utf8')
  identity.users[0].user = { 'client-certificate': CURRENT_PEM, 'client-key': CURRENT_PEM }
  Object.assign(identity.clusters[0].cluster, cluster)
  return { '/etc/kubernetes/kubelet.conf': stringify(identity), [CURRENT_PEM]: pem }
}

const CURRENT_PEM = '/var/lib/kubelet/pki/kubelet-client-current.pem'

/** The first without the flag `--container-runtime` (CHANGELOG-1.27). */
const WITHOUT_DOCKERSHIM_FLAG = 27

function runtimeFlags(name: string, kubeletMinor: number): string {
  const remote = kubeletMinor < WITHOUT_DOCKERSHIM_FLAG ? '--container-runtime=remote ' : ''
  return `${remote}--container-runtime-endpoint=unix:///run/containerd/containerd.sock --hostname-override=${name}`
}

/** Upstream's `cmd/kubepkg/templates/latest/deb/kubelet` of 1.20. */
function kubeletService(execStart: string): string {
  return `[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/home/
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=${execStart}
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
`
}

/** kubeadm's drop-in, with the flags that kubeadm before 1.34 writes. */
export function kubeadmUnit(flags: string): Record<string, string> {
  return {
    '/lib/systemd/system/kubelet.service': kubeletService('/usr/bin/kubelet'),
    '/etc/systemd/system/kubelet.service.d/10-kubeadm.conf': `# Note: This dropin only works with kubeadm and kubelet v1.11+
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=${LOCAL_CONFIG.kubeadm}"
# This is a file that "kubeadm init" and "kubeadm join" generates at runtime, populating the KUBELET_KUBEADM_ARGS variable dynamically
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
# This is a file that the user can use for overrides of the kubelet args as a last resort. Preferably, the user should use
# the .NodeRegistration.KubeletExtraArgs object in the configuration files instead. KUBELET_EXTRA_ARGS should be sourced from this file.
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`,
    '/var/lib/kubelet/kubeadm-flags.env': `KUBELET_KUBEADM_ARGS="${flags}"\n`,
  }
}

/** With `--config-dir`, kubelet takes the default in place of an empty list. */
const WITH_CONFIG_DIR = { enforceNodeAllocatable: ['none'] }

const FOR_UNIT: Readonly<Record<UnitKind, object>> = {
  kubeadm: {},
  'spelled-out': {},
  nodeadm: WITH_CONFIG_DIR,
  k3s: { ...WITH_CONFIG_DIR, containerRuntimeEndpoint: K3S_RUNTIME, healthzBindAddress: '127.0.0.1' },
}

/** As images of cloud providers have it. */
function spelledOutUnit(flags: string): Record<string, string> {
  const config = `--config ${LOCAL_CONFIG['spelled-out']} --kubeconfig /etc/kubernetes/kubelet.conf`
  return { '/etc/systemd/system/kubelet.service': kubeletService(`/usr/bin/kubelet ${config} ${flags}`) }
}

/** `/usr/lib/systemd/system/kubelet.service` of EKS' image for Amazon Linux 2023. */
function nodeadmUnit(flags: string): Record<string, string> {
  const options = `--config=${LOCAL_CONFIG.nodeadm} --config-dir=${dirname(NODEADM_DROP_IN)} --kubeconfig=/etc/kubernetes/kubelet.conf`
  const service = kubeletService('/usr/bin/kubelet $NODEADM_KUBELET_ARGS')
  return {
    '/etc/systemd/system/kubelet.service': service.replace('ExecStart', 'EnvironmentFile=/etc/eks/kubelet/environment\nExecStart'),
    '/etc/eks/kubelet/environment': `NODEADM_KUBELET_ARGS="${options} ${flags}"\n`,
    [NODEADM_DROP_IN]: JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods: NODEADM_PODS }),
  }
}

const UNITS: Readonly<Record<Exclude<UnitKind, 'k3s'>, (flags: string) => Record<string, string>>> = {
  kubeadm: kubeadmUnit,
  'spelled-out': spelledOutUnit,
  nodeadm: nodeadmUnit,
}

/** The kernel settings that kubelet makes at its start, where they are not so. */
const KERNEL_SETTINGS = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
}

function labFiles(): Record<string, string> {
  const settings = Object.entries(KERNEL_SETTINGS).map(([name, value]) => ({ name, value, file: `/etc/lab/${name.replaceAll('/', '.')}` }))
  const mounts = settings.map(({ name, file }) => `ExecStart=/bin/mount --bind ${file} /proc/sys/${name}`)
  return {
    ...Object.fromEntries(settings.map(({ file, value }) => [file, `${value}\n`])),
    '/etc/systemd/system/lab-kernel-settings.service': [
      '[Unit]\nBefore=kubelet.service\n',
      `[Service]\nType=oneshot\nRemainAfterExit=yes\n${mounts.join('\n')}\nExecStart=${WRITABLE_CONTROLLERS}\n`,
    ].join('\n'),
    // A kubelet that starts before its runtime exits once and waits 10 s: each boot of a test would
    // take that long.
    '/etc/systemd/system/containerd.service.d/lab.conf': [
      '[Unit]\nRequires=lab-kernel-settings.service\nAfter=lab-kernel-settings.service\nBefore=kubelet.service\n',
      `[Service]\nExecStartPost=/usr/bin/ctr --namespace k8s.io images import ${IMAGE_FILE}\n`,
    ].join('\n'),
    '/etc/containerd/config.toml': CONTAINERD_CONFIG,
    ...CNI_CONFIG,
  }
}

/**
 * A network plugin that is never called, since all pods are on the network of their host. With one,
 * the node becomes ready.
 */
export const CNI_CONFIG: Readonly<Record<string, string>> = {
  '/etc/cni/net.d/10-lab.conflist': JSON.stringify({ cniVersion: '0.4.0', name: 'lab', plugins: [{ type: 'loopback' }] }),
}

/**
 * systemd-nspawn mounts the controllers of cgroup v1 read-only; runc makes a group in each for
 * every container.
 */
const WRITABLE_CONTROLLERS =
  "/usr/bin/find /sys/fs/cgroup -mindepth 1 -maxdepth 1 -type d -fstype cgroup -exec mount -o remount,bind,rw {} ';'"

/**
 * Debian's, with what a container in a container cannot have left out: lower OOM scores
 * (CAP_SYS_RESOURCE) and session keyrings (nspawn's system call filter).
 */
const CONTAINERD_CONFIG = `version = 2

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${IMAGE_NAME}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      NoNewKeyring = true
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
`
