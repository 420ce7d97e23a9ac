// SPDX-License-Identifier: Apache-2.0
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax is that of systemd
import t from 'tap'
import type { UnitDefinition } from '../../src/systemd/unit-definition.ts'
import { describeKubelet } from '../../src/systemd/wiring.ts'

const ENV_FILE = '/var/lib/kubelet-cfg-agent/kubelet.env'

function describe(words: readonly string[], files: Readonly<Record<string, string>> = {}, choice: 'auto' | 'env' | 'file' = 'auto') {
  const unit: UnitDefinition = {
    path: words[0] ?? '',
    words,
    environment: new Map(),
    environmentFiles: Object.entries(files).map(([path, text]) => ({ path, text })),
    needDaemonReload: false,
    dropIn: 'absent',
    dropInNames: [],
    binaryIdentity: '1:2:3',
  }
  return describeKubelet(unit, ENV_FILE, choice, undefined)
}

/** ExecStart of OpenShift 4, shortened. */
const OPENSHIFT = [
  '/usr/local/bin/kubenswrapper',
  '/usr/bin/kubelet',
  '--config=/etc/kubernetes/kubelet.conf',
  '--address=${KUBELET_NODE_IP}',
]

t.test('the distribution that put kubelet there, and the activation that fits', async (t) => {
  const cases: [words: readonly string[], files: Readonly<Record<string, string>>, name: string, fits: string | undefined][] = [
    [
      ['/usr/bin/kubelet', '$KUBELET_KUBECONFIG_ARGS', '$KUBELET_CONFIG_ARGS', '$KUBELET_KUBEADM_ARGS', '$KUBELET_EXTRA_ARGS'],
      { '/var/lib/kubelet/kubeadm-flags.env': '' },
      'kubeadm',
      'env',
    ],
    [
      ['/usr/bin/kubelet', '$NODEADM_KUBELET_ARGS'],
      { '/etc/eks/kubelet/environment': "NODEADM_KUBELET_ARGS='--config=/etc/kubernetes/kubelet/config.json --v=2'" },
      'Amazon EKS, AL2023',
      'file',
    ],
    [
      ['/usr/bin/kubelet', '$NODEADM_KUBELET_ARGS'],
      {
        '/etc/eks/kubelet/environment':
          "NODEADM_KUBELET_ARGS='--config=/etc/kubernetes/kubelet/config.json --config-dir=/etc/kubernetes/kubelet/config.json.d'",
      },
      'Amazon EKS, AL2023',
      'drop-in',
    ],
    [['/usr/bin/kubelet', '--config', '/etc/kubernetes/kubelet/kubelet-config.json', '$KUBELET_ARGS'], {}, 'Amazon EKS, AL2', 'file'],
    [['/opt/azure/containers/start-kubelet.sh'], { '/etc/default/kubelet': 'KUBELET_FLAGS=--v=2' }, 'AKS, with a start script', undefined],
    [
      ['/usr/local/bin/kubelet', '$KUBELET_CONFIG_FILE_FLAGS', '$KUBELET_FLAGS'],
      { '/etc/default/kubelet': 'KUBELET_CONFIG_FILE_FLAGS="--config /etc/default/kubeletconfig.json"' },
      'AKS',
      'file',
    ],
    [
      ['/usr/local/bin/kubelet', '$DAEMON_ARGS'],
      { '/etc/sysconfig/kubelet': 'DAEMON_ARGS="--config=/var/lib/kubelet/kubelet.conf --v=2"' },
      'kOps',
      'file',
    ],
    [['/usr/local/bin/k3s', 'agent'], {}, 'k3s', 'drop-in'],
    [['/usr/local/bin/rke2', 'server'], {}, 'RKE2', undefined],
    [['/usr/local/bin/k0s', 'controller', '--config=/etc/k0s/k0s.yaml', '--enable-worker'], {}, 'k0s', undefined],
    [OPENSHIFT, { '/etc/os-release': '' }, 'OpenShift', undefined],
    [['/usr/bin/snap', 'run', 'microk8s.daemon-kubelite'], {}, 'MicroK8s', undefined],
  ]
  for (const [words, files, name, fits] of cases) {
    const { distribution, wiring } = describe(words, files)
    t.match(distribution, { name, fits }, name)
    if (fits === 'file') t.match(wiring, { kind: 'ready', activation: fits }, `${name} is wired so`)
  }
  t.equal(describe(['/usr/bin/kubelet', '--config=/etc/mine.yaml']).distribution, undefined)
})

t.test('a kubelet whose config an operator owns is refused, whatever the setting says', async (t) => {
  for (const words of [OPENSHIFT, ['/usr/bin/snap', 'run', 'microk8s.daemon-kubelite']])
    for (const choice of ['auto', 'file', 'env'] as const)
      t.match(describe(words, {}, choice).wiring, { kind: 'broken', reason: 'owned-by-operator' }, choice)
  t.match(describe(OPENSHIFT).wiring, { detail: /^this kubelet is OpenShift's: the Machine Config Operator owns its config/ })
})
