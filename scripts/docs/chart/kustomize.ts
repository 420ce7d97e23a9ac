// SPDX-License-Identifier: Apache-2.0
/**
 * The components in kustomize/: each has copies of manifests of deploy/, since kustomize reads no
 * file outside of the directory of a kustomization. Pure.
 */
import { readManifest, splitManifest } from './manifest.ts'

export const KUSTOMIZE = 'kustomize'

interface KustomizeComponent {
  readonly about: string
  /** Below deploy/. */
  readonly files: readonly string[]
}

export const COMPONENTS: Readonly<Record<string, KustomizeComponent>> = {
  nodes: { about: "agents with their nodes' own identity may read the configs", files: ['rbac/node-configmaps.yaml'] },
  serviceaccount: {
    about: 'agents with a ServiceAccount: what they read and report, and the policy that restricts it',
    files: [
      'rbac/serviceaccount.yaml',
      'rbac/status.yaml',
      'rbac/evidence.yaml',
      'rbac/rollout-events.yaml',
      'admission/serviceaccount.yaml',
    ],
  },
  annotation: { about: 'these agents may write their annotation; only with serviceaccount', files: ['rbac/status-annotation.yaml'] },
  drain: { about: 'these agents may see whether their node is drained; only with serviceaccount', files: ['rbac/drain.yaml'] },
  token: { about: 'a token for these agents on each node; only with serviceaccount', files: ['serviceaccount/token.yaml'] },
  selector: { about: 'the channel selector, with a namespace of its own', files: ['rbac/node-fleet-selector.yaml'] },
  configz: { about: 'agents may read /configz of kubelet 1.33 or later', files: ['rbac/node-configz.yaml'] },
  rollout: {
    about: 'rollout of node-config: the right to its record, and the policy for it',
    files: ['rbac/rollout.yaml', 'admission/rollout.yaml'],
  },
  admission: {
    about: 'policies: who may assign and edit configs',
    files: ['admission/channels.yaml', 'admission/configs.yaml', 'admission/editor.yaml'],
  },
  operator: { about: 'roles for people who assign configs', files: ['rbac/operator.yaml'] },
  rules: { about: 'alerts, for Prometheus Operator', files: ['monitoring/rules.yaml'] },
  metrics: {
    about: 'kube-rbac-proxy on each node, and a PodMonitor for Prometheus Operator',
    files: ['monitoring/kube-rbac-proxy.yaml', 'monitoring/podmonitor.yaml'],
  },
  installer: { about: 'the DaemonSet that installs the agent', files: ['install/daemonset.yaml'] },
  remover: { about: 'the DaemonSet that removes the agent again, in place of installer', files: ['install/uninstall.yaml'] },
}

/** @returns the text of each file, by its path */
export function kustomizeFiles(read: (path: string) => string): Readonly<Record<string, string>> {
  const files = Object.entries(COMPONENTS).flatMap(([name, { about, files }]) => {
    const at = (file: string) => `${KUSTOMIZE}/${name}/${file}`
    // Two files of one component may have one name in deploy/.
    const names = files.map((file) => file.replace('/', '-'))
    return [
      [at('kustomization.yaml'), kustomization(about, names)],
      ...files.map((file, index) => [at(names[index] ?? ''), copy(file, readManifest(read, file))]),
    ]
  })
  return Object.fromEntries(files)
}

function kustomization(about: string, files: readonly string[]): string {
  return `# Made by \`npm run docs\`: ${about}.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources:
${files.map((file) => `  - ${file}\n`).join('')}`
}

function copy(file: string, text: string): string {
  return `# Made by \`npm run docs\` from deploy/${file}, which says what it is for. Do not edit.\n${splitManifest(text).join('---\n')}`
}
