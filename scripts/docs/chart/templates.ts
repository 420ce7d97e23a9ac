// SPDX-License-Identifier: Apache-2.0
/**
 * What the templates of the Helm chart have in place of what deploy/ says: for each file, when it
 * is rendered, and texts of it with the value that replaces them. Data only.
 */

export interface Part {
  /** A condition of Go's templates. undefined: always. */
  readonly when?: string
  /** A list of Go's templates: once for each of its entries, which `.` is. */
  readonly each?: string
  readonly swaps: readonly Swap[]
}

/** What to find, as often as it is there and at least once; and what to put in its place. */
export type Swap = readonly [find: string | RegExp, put: string]

interface TemplateSource {
  /** Below `deploy/`, and below `templates/` of the chart. */
  readonly path: string
  /** One for each document of the file, or one for all of them. */
  readonly parts: readonly Part[]
}

const NAMESPACE = '  namespace: kube-system\n'
// Quoted: a namespace may look like a number.
const RELEASE = '{{ quote $.Release.Namespace }}'
const CONFIGS = '{{ quote $.Values.configs.namespace }}'
const SELECTOR = '{{ quote $.Values.selector.namespace }}'
const ROLLOUT = '{{ .namespace | default $.Values.configs.namespace | quote }}'
const inRelease: Swap = [NAMESPACE, `  namespace: ${RELEASE}\n`]
/** With the labels by which Prometheus selects it; those of Helm come before them. */
const inSelected: Swap = [
  NAMESPACE,
  `    {{- with $.Values.monitoring.labels }}\n    {{- toYaml . | nindent 4 }}\n    {{- end }}\n  namespace: ${RELEASE}\n`,
]
const inConfigs: Swap = [NAMESPACE, `  namespace: ${CONFIGS}\n`]
const names: Swap = ['[node-config, kubelet-config]', '{{ toJson $.Values.configs.names }}']
/** Of a binding, by the identity of the agents. */
const subjects: Swap = [
  /^(?:# Keep the identity .*\n)?subjects:\n(?: .*\n)+/gm,
  'subjects:\n  {{- include "kubelet-cfg-agent.subjects" $ | nindent 2 }}\n',
]
/** Of a rollout, which `.` is. */
const ROLLOUTS = '$.Values.rollouts'
const ofRollout: readonly Swap[] = [
  [NAMESPACE, `  namespace: ${ROLLOUT}\n`],
  [/\bname: (kubelet-cfg-agent:rollout(?:-events)?)$/gm, 'name: $1:{{ .config }}'],
]
const record: Swap = ['[node-config-rollout]', '{{ list (include "kubelet-cfg-agent.record" .) | toJson }}']
const NODES = 'eq $.Values.agents "nodes"'
const ACCOUNT = 'eq $.Values.agents "serviceaccount"'
/** As Helm has it, in place of one label. */
const labelled = (name: string, component: string): readonly Swap[] => [
  [
    new RegExp(`^( +)matchLabels: \\{ app: ${name} \\}$`, 'gm'),
    `$1matchLabels: {{ include "kubelet-cfg-agent.selector" (list $ "${component}") }}`,
  ],
  [new RegExp(`^( +)labels: \\{ app: ${name} \\}$`, 'gm'), `$1labels: {{ include "kubelet-cfg-agent.selector" (list $ "${component}") }}`],
]
/** The spec of a pod gets what only some clusters need. */
const pullSecrets: Swap = [
  /^( {4}spec:)$/gm,
  '$1\n      {{- with $.Values.imagePullSecrets }}\n      imagePullSecrets: {{ toJson . }}\n      {{- end }}',
]
const image = (find: RegExp, path: string): Swap => [
  find,
  `image: {{ include "kubelet-cfg-agent.image" (list $ "${path}" $.Values.${path}) }}`,
]

const INSTALL = 'and $.Values.installer.enabled (not $.Values.installer.remove)'
const ofInstaller = (name: string, component: string): readonly Swap[] => [
  inRelease,
  ...labelled(name, component),
  pullSecrets,
  image(/image: registry\.example\/\S+$/gm, 'installer.image'),
]

const account = (path: string, when: string, ...swaps: readonly Swap[]): TemplateSource => ({
  path,
  parts: [{ when: `and (${ACCOUNT}) ${when}`, swaps: [subjects, ...swaps] }],
})

export const TEMPLATES: readonly TemplateSource[] = [
  { path: 'rbac/node-configmaps.yaml', parts: [{ when: NODES, swaps: [inConfigs, names, subjects] }] },
  {
    path: 'rbac/node-fleet-selector.yaml',
    parts: [
      // Uninstalling the release would delete the configs with it.
      { when: 'never', swaps: [] },
      { when: '$.Values.selector.enabled', swaps: [['  namespace: node-configs\n', `  namespace: ${SELECTOR}\n`]] },
      {
        when: '$.Values.selector.enabled',
        swaps: [['  namespace: node-configs\n', `  namespace: ${SELECTOR}\n`], subjects],
      },
    ],
  },
  { path: 'rbac/node-configz.yaml', parts: [{ when: '$.Values.configz.enabled', swaps: [subjects] }] },
  {
    path: 'rbac/operator.yaml',
    parts: [{ when: '$.Values.operator.enabled', swaps: [inConfigs] }],
  },
  {
    path: 'rbac/serviceaccount.yaml',
    parts: [
      { when: ACCOUNT, swaps: [inRelease] },
      { when: ACCOUNT, swaps: [] },
      { when: ACCOUNT, swaps: [subjects] },
      { when: ACCOUNT, swaps: [inConfigs, names] },
      { when: ACCOUNT, swaps: [subjects, inConfigs] },
    ],
  },
  account('rbac/status.yaml', '$.Values.serviceAccount.status'),
  account('rbac/status-annotation.yaml', '$.Values.serviceAccount.annotation'),
  account('rbac/evidence.yaml', '$.Values.serviceAccount.evidence'),
  account('rbac/drain.yaml', '$.Values.serviceAccount.drain'),
  {
    path: 'rbac/rollout.yaml',
    parts: [
      { each: ROLLOUTS, swaps: [record, ...ofRollout] },
      { each: ROLLOUTS, swaps: [subjects, ...ofRollout] },
    ],
  },
  { path: 'rbac/rollout-events.yaml', parts: [{ when: ACCOUNT, each: ROLLOUTS, swaps: [subjects, ...ofRollout] }] },
  { path: 'admission/channels.yaml', parts: [{ when: '$.Values.admission.channels', swaps: [] }] },
  {
    path: 'admission/configs.yaml',
    parts: [
      {
        when: '$.Values.admission.configs',
        swaps: [
          [`request.namespace == 'node-configs'`, `request.namespace == '{{ $.Values.selector.namespace }}'`],
          [`request.namespace == 'kube-system'`, `request.namespace == '{{ $.Values.configs.namespace }}'`],
          [`['node-config', 'kubelet-config']`, `['{{ join "', '" $.Values.configs.names }}']`],
        ],
      },
      { when: '$.Values.admission.configs', swaps: [] },
    ],
  },
  { path: 'admission/editor.yaml', parts: [{ when: 'or $.Values.admission.channels $.Values.admission.configs', swaps: [] }] },
  {
    path: 'admission/rollout.yaml',
    parts: [
      { when: `and $.Values.admission.rollout ${ROLLOUTS}`, swaps: [] },
      {
        when: '$.Values.admission.rollout',
        each: ROLLOUTS,
        swaps: [
          [
            'name: kubelet-cfg-agent-rollout-node-config\n',
            'name: kubelet-cfg-agent-rollout-{{ include "kubelet-cfg-agent.place" (list $ .) }}\n',
          ],
          ['    name: node-config\n', '    name: {{ .config | quote }}\n'],
          ['    namespace: kube-system\n', `    namespace: ${ROLLOUT}\n`],
          ['metadata.name: kube-system\n', `metadata.name: ${ROLLOUT}\n`],
          record,
        ],
      },
    ],
  },
  { path: 'admission/serviceaccount.yaml', parts: [{ when: `and (${ACCOUNT}) $.Values.admission.serviceAccount`, swaps: [] }] },
  {
    path: 'serviceaccount/token.yaml',
    parts: [
      {
        when: `and (${ACCOUNT}) $.Values.serviceAccount.token.enabled`,
        swaps: [
          inRelease,
          [
            /^( +)(matchLabels|labels):\n +app\.kubernetes\.io\/name: kubelet-cfg-agent-token$/gm,
            '$1$2: {{ include "kubelet-cfg-agent.selector" (list $ "token") }}',
          ],
          pullSecrets,
          [/^( +)hostNetwork: true$/gm, '$&\n$1{{- with $.Values.nodeSelector }}\n$1nodeSelector: {{ toJson . }}\n$1{{- end }}'],
          image(/image: busybox:.*$/gm, 'serviceAccount.token.image'),
        ],
      },
    ],
  },
  {
    path: 'monitoring/kube-rbac-proxy.yaml',
    parts: [
      {
        when: '$.Values.monitoring.proxy.enabled',
        swaps: [
          [/^( +)namespace: kube-system$/gm, `$1namespace: ${RELEASE}`],
          ...labelled('kubelet-cfg-agent-metrics', 'metrics'),
          pullSecrets,
          [/^ +# Where only some Nodes have an agent.*\n.*\n/gm, ''],
          [
            'nodeSelector: { kubernetes.io/os: linux }',
            'nodeSelector: {{ merge (dict "kubernetes.io/os" "linux") $.Values.nodeSelector | toJson }}',
          ],
          image(/image: \S+\/kube-rbac-proxy:.*$/gm, 'monitoring.proxy.image'),
        ],
      },
    ],
  },
  {
    path: 'monitoring/rules.yaml',
    parts: [
      {
        when: '$.Values.monitoring.rules.enabled',
        swaps: [
          inSelected,
          [
            /^( *)runbook_url: https:\/\/docs\.example\/kubelet-cfg-agent(\/.*)$/gm,
            '$1{{- with $.Values.monitoring.rules.docsUrl }}\n$1runbook_url: {{ . }}$2\n$1{{- end }}',
          ],
        ],
      },
    ],
  },
  {
    path: 'monitoring/podmonitor.yaml',
    parts: [
      {
        when: '$.Values.monitoring.podMonitor.enabled',
        swaps: [
          inSelected,
          ...labelled('kubelet-cfg-agent-metrics', 'metrics').slice(0, 1),
          [
            /^ {2}scrapeClass: .*$/gm,
            '  {{- with $.Values.monitoring.podMonitor.scrapeClass }}\n  scrapeClass: {{ . | quote }}\n  {{- end }}',
          ],
          [/^( +)scheme: https$/gm, '$&\n$1{{- with $.Values.monitoring.podMonitor.interval }}\n$1interval: {{ . | quote }}\n$1{{- end }}'],
        ],
      },
    ],
  },
  {
    path: 'install/daemonset.yaml',
    parts: [
      {
        when: INSTALL,
        swaps: [
          inRelease,
          [
            / {4}apiVersion: kubelet-cfg-agent\.io\/v1alpha1\n {4}kind: AgentConfiguration\n(?: {4}\S.*\n)*/g,
            '    {{- include "kubelet-cfg-agent.settings" $ | nindent 4 }}\n',
          ],
        ],
      },
      {
        when: INSTALL,
        swaps: [
          ...ofInstaller('kubelet-cfg-agent-install', 'installer'),
          [
            /^ {4}metadata:$/gm,
            '$&\n      # A change of the settings goes from node to node, as one of the image does.\n      annotations:\n        checksum/settings: {{ include "kubelet-cfg-agent.settings" $ | sha256sum }}',
          ],
          ['args: [install]', 'args: [install{{ if $.Values.installer.allowDowngrade }}, --allow-downgrade{{ end }}]'],
        ],
      },
    ],
  },
  {
    path: 'install/uninstall.yaml',
    parts: [
      {
        when: 'and $.Values.installer.enabled $.Values.installer.remove',
        swaps: [
          ...ofInstaller('kubelet-cfg-agent-uninstall', 'remover'),
          ...labelled('kubelet-cfg-agent-install', 'installer').slice(0, 1),
        ],
      },
    ],
  },
]

/** Files of deploy/ beside these that are neither in the chart nor in kustomize/, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  'rbac/configz.yaml': 'nodes/proxy opens all of kubelet: who wants that applies it by hand',
  'monitoring/scrape.yaml': 'a piece of the configuration of Prometheus',
  'serviceaccount/kubeconfig.yaml': 'a file of the node',
  'install/cloud-init.yaml': 'user data of a machine',
}
