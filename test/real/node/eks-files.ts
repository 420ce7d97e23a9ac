// SPDX-License-Identifier: Apache-2.0
/**
 * What an image of Amazon EKS for AL2023 has beside kubelet: the units of nodeadm, kubelet and
 * cloud-init in their order, and programs in place of those of AWS. nodeadm itself is real. It
 * writes all else that kubelet has.
 *
 * Sources: github.com/awslabs/amazon-eks-ami, `templates/al2023/runtime/rootfs` of July 2026
 * (81fec2e), with the commands of nodeadm of February 2024 (cfab22a).
 */
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from '../lab/processes.ts'
import { CLOUD_CONFIG, SEED } from './cloud-init.ts'
import { REGION } from './instance-metadata.ts'
import type { Node } from './node.ts'

export const CLUSTER = 'lab'
export const KUBELET_FILES = '/etc/kubernetes/kubelet'
/** The journal has each call of the plugin: the process that wants a token, and its group. */
export const PLUGIN_LOG = 'aws-stand-in'
/** As `aws eks get-token` of AWS has it. */
const TOKEN_LIFE = '14 min'

interface Image {
  readonly hostName: string
  /** Where nodeadm asks for metadata. */
  readonly metadataUrl: string
  /** For cloud-init, which has it from the same service on EC2. */
  readonly userData: string
  /** A bearer token of this node. */
  readonly token: string
}

const UNITS = '/etc/systemd/system'
const CLOUD_INIT = ['cloud-init-local', 'cloud-init', 'cloud-config', 'cloud-final']
/** Only Debian's cloud-init has this order, which the units of nodeadm would turn into a circle. */
const DEBIAN_ORDER = /^(Before=sysinit|After=multi-user)\.target\n/gm

export async function becomeEksImage(node: Node, image: Image): Promise<void> {
  for (const left of ['/etc/eks', KUBELET_FILES, '/etc/kubernetes/pki', '/etc/kubernetes/kubelet.conf', '/var/lib/kubelet/pki']) {
    await rm(node.host(left), { recursive: true, force: true })
  }
  // nodeadm starts kubelet, and not systemd.
  await rm(node.host(UNITS, 'multi-user.target.wants/kubelet.service'))
  for (const [path, text] of Object.entries({ ...unitFiles(image), ...cloudInitFiles(image), '/etc/hostname': `${image.hostName}\n` })) {
    await mkdir(dirname(node.host(path)), { recursive: true })
    await writeFile(node.host(path), text)
  }
  for (const [path, text] of Object.entries(programs(image))) {
    await mkdir(dirname(node.host(path)), { recursive: true })
    await writeFile(node.host(path), text)
    await chmod(node.host(path), 0o755)
  }
  for (const unit of ['nodeadm-config.service', 'nodeadm-run.service']) {
    await symlink(join(UNITS, unit), node.host(UNITS, 'multi-user.target.wants', unit))
  }
  for (const name of CLOUD_INIT) {
    await rm(node.host(UNITS, `${name}.service`))
    const text = await readFile(node.host('/usr/lib/systemd/system', `${name}.service`), 'utf8')
    await writeFile(node.host(UNITS, `${name}.service`), text.replace(DEBIAN_ORDER, ''))
  }
  await run('chroot', [node.host('/'), 'cloud-init', 'clean', '--logs'])
}

/** containerd keeps its config, since the sandbox image of nodeadm would come from a registry. */
const KUBELET_ALONE = '--daemon kubelet'

function unitFiles({ metadataUrl }: Image): Record<string, string> {
  const nodeadm = (args: string) => `[Service]
Type=oneshot
Environment=AWS_EC2_METADATA_SERVICE_ENDPOINT=${metadataUrl}
ExecStart=/usr/bin/nodeadm init ${args} ${KUBELET_ALONE}
StandardError=journal+console

[Install]
WantedBy=multi-user.target
`
  return {
    [`${UNITS}/nodeadm-config.service`]: `[Unit]
Description=EKS Nodeadm Config
Before=cloud-init.service
After=systemd-networkd-wait-online.service

${nodeadm('--skip run')}`,
    [`${UNITS}/nodeadm-run.service`]: `[Unit]
Description=EKS Nodeadm Run
After=nodeadm-config.service cloud-final.service
Requires=nodeadm-config.service

${nodeadm('--skip config')}`,
    [`${UNITS}/kubelet.service`]: `[Unit]
Description=Kubernetes Kubelet
Documentation=https://github.com/kubernetes/kubernetes
After=containerd.service
Wants=containerd.service

[Service]
Slice=runtime.slice
EnvironmentFile=/etc/eks/kubelet/environment
ExecStartPre=/sbin/iptables -P FORWARD ACCEPT -w 5
ExecStart=/usr/bin/kubelet $NODEADM_KUBELET_ARGS

Restart=on-failure
RestartForceExitStatus=SIGPIPE
RestartSec=5
KillMode=process
CPUAccounting=true
MemoryAccounting=true

[Install]
WantedBy=multi-user.target
`,
    [`${UNITS}/runtime.slice`]: '[Unit]\nDescription=Kubernetes and container runtime slice\nBefore=slices.target\n',
    [`${UNITS}/containerd.service.d/00-runtime-slice.conf`]: '[Service]\nSlice=runtime.slice\n',
  }
}

function cloudInitFiles({ userData }: Image): Record<string, string> {
  return {
    [`${SEED}/user-data`]: userData,
    [`${SEED}/meta-data`]: 'instance-id: i-0123456789abcdef0\n',
    '/etc/cloud/cloud.cfg': CLOUD_CONFIG,
  }
}

function programs({ token }: Image): Record<string, string> {
  const credential = {
    kind: 'ExecCredential',
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    spec: {},
    status: { expirationTimestamp: '%s', token },
  }
  return {
    '/usr/bin/aws': `#!/bin/sh
[ "$*" = 'eks get-token --cluster-name ${CLUSTER} --region ${REGION}' ] || exit 2
# The agent runs it by timeout(1).
logger --tag ${PLUGIN_LOG} "$(cut -d ' ' -f 4 /proc/$PPID/stat) $(tail -n 1 /proc/self/cgroup)"
printf '${JSON.stringify(credential)}\\n' "$(date --utc --date '${TOKEN_LIFE}' +%Y-%m-%dT%H:%M:%SZ)"
`,
    '/etc/eks/image-credential-provider/ecr-credential-provider': '#!/bin/sh\nexit 1\n',
    // A node of the lab must not write into the network that it shares.
    '/usr/sbin/iptables': '#!/bin/sh\n',
  }
}
