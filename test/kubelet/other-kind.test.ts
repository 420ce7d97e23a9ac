// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { findOtherKind } from '../../src/kubelet/decode.ts'
import { parseDocument } from '../../src/kubelet/yaml.ts'
import { isObject } from '../../src/values/is-object.ts'

const K0S = 'apiVersion: k0s.k0sproject.io/v1beta1\nkind: ClusterConfig\nmetadata:\n  name: k0s\nspec:\n  kind: Inner\n'
const OURS = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'

t.test('a file of another kind', async (t) => {
  const cases: [text: string, kind: string][] = [
    [K0S, 'ClusterConfig'],
    [`\ufeff# by an operator\n%YAML 1.1\n---\n\n${K0S}`, 'ClusterConfig'],
    [K0S.replaceAll('\n', '\r\n'), 'ClusterConfig'],
    [K0S.replaceAll(/^/gm, '  '), 'ClusterConfig'],
    ['spec: {}\n"kind" : "ClusterConfig" # a remark\n', 'ClusterConfig'],
    ["'kind': 'ClusterConfig'", 'ClusterConfig'],
    ['kind: !!str ClusterConfig', 'ClusterConfig'],
    ['kind: &kind ClusterConfig\t# a remark', 'ClusterConfig'],
    [`${K0S}---\n${OURS}`, 'ClusterConfig'],
    ['kind: KubeletConfiguration\nkind: ClusterConfig\n', 'ClusterConfig'],
    ['kind: kubeletConfiguration', 'kubeletConfiguration'],
    ['{"apiVersion": "v1", "kind": "Config"}', 'Config'],
    [' \n{"spec": {"kind": "KubeletConfiguration"}, "kind": "ClusterConfig"}', 'ClusterConfig'],
    ['{"kind": 5}', '5'],
  ]
  for (const [text, kind] of cases) t.equal(findOtherKind(text), kind, text)
  for (const [text, kind] of cases.filter(([text]) => !text.includes('{"') && !text.startsWith('\ufeff') && !text.includes('!!'))) {
    const read = parseDocument(text)
    t.equal(read.ok && isObject(read.value) && read.value.kind, kind, `the parser of YAML says the same of ${text}`)
  }
})

t.test("kubelet's own, or a file whose kind cannot be told", async (t) => {
  for (const text of [
    OURS,
    `---\n${OURS}---\n${K0S}`,
    `\ufeff${OURS}`,
    `${OURS}shutdownGracePeriodByPodPriority:\n- kind: Other\nauthentication:\n  kind: Other\n`,
    `${OURS}# kind: Other\nnote: |\n  kind: Other\n`,
    '{"kind": "KubeletConfiguration", "x": {"kind": "Other"}}',
    '',
    '\n# nothing\n---\n',
    'maxPods: 5\n',
    'a plain text',
    'kind',
    'kind:\n',
    'kind: # none\n',
    'kind: ~',
    'kind: null',
    'kind: ""',
    'kind: *other',
    'kind: |\n  Other\n',
    'kind: {a: b}',
    'kind: [a]',
    '- kind: Other',
    'kind:Other',
    '{"kind": ""}',
    '{"kind": null}',
    '{"kind": "Other"',
    '{kind: Other}',
    '[{"kind": "Other"}]',
    'Kind: Other',
    '\0\ufffd',
  ])
    t.equal(findOtherKind(text), undefined, text)
})
