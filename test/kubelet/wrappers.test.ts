// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { decodeText } from '../../src/kubelet/decode.ts'
import { findWrapper } from '../../src/kubelet/wrappers.ts'
import { IN_PLACE } from './in-place-yaml.ts'

t.test('the agent, which reads KubeletConfigurations alone, says what it has in place of one', async (t) => {
  const cases: [text: string, detail: string][] = [
    [
      'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 5}}}\n',
      'kind must be KubeletConfiguration, but is "NodeConfig"; this is a NodeConfig of nodeadm: put here what is in spec.kubelet.config, ' +
        'with apiVersion and kind above it',
    ],
    [
      'apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec: {kubelet: {}}\n',
      'kind must be KubeletConfiguration, but is "Cluster"; this is an object of kOps, which has spec.kubelet: those fields are ' +
        "kOps' own, most of them named after flags, not all of them kubelet's: write a KubeletConfiguration",
    ],
    [
      'apiVersion: v1\nkind: ConfigMap\ndata: {kubelet: ""}\n',
      'kind must be KubeletConfiguration, but is "ConfigMap"; this is the manifest of a ConfigMap, which has data: kubelet reads the text ' +
        'of a key of data, not the manifest: put that text here',
    ],
    [
      '{"kubeletconfig": {"maxPods": 5}}',
      'kind must be KubeletConfiguration, but is not set; this is an answer of /configz, which has kubeletconfig: ' +
        'kubelet-cfg-agent generate --from-file makes a config of it, which takes care of what is empty or a mere default',
    ],
    [
      'apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\n',
      'kind must be KubeletConfiguration, but is "CredentialProviderConfig"; this is a config of credential providers: that is the file of ' +
        '--image-credential-provider-config, not of --config',
    ],
    ['apiVersion: apps/v1\nkind: Deployment\n', 'kind must be KubeletConfiguration, but is "Deployment"'],
    [
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: \u201cKubeletConfiguration\u201d\n',
      'kind must be KubeletConfiguration, but is "\u201cKubeletConfiguration\u201d"; \u201c (U+201C) is not a quotation mark of YAML or JSON: ' +
        'write " or \' in its place',
    ],
    ['maxPods: 5\n', 'kind must be KubeletConfiguration, but is not set'],
  ]
  for (const [text, detail] of cases) t.strictSame(await decodeText(text, IN_PLACE), { ok: false, detail }, text)
})

t.test('of very many configs, none is left out', async (t) => {
  const nodeGroups = Array.from({ length: 100_000 }, () => ({ kubeletExtraConfig: {} }))
  t.equal(findWrapper({ apiVersion: 'eksctl.io/v1alpha5', kind: 'ClusterConfig', nodeGroups })?.held.length, 100_000)
})
