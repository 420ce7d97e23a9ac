// SPDX-License-Identifier: Apache-2.0
/** The shapes are those that the tools document; see `kubelet/wrappers.ts`. */
import t from 'tap'
import type { CommandContext } from '../../src/command/agent/command.ts'
import { validateCommand } from '../../src/command/agent/commands/validate.ts'
import { readWrapped } from '../../src/command/wrapped-text.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { found } from '../overlay/local-configs.ts'
import { execute, fakeNode } from './agent/fake-node.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const read = (text: string) => readWrapped(text, IN_PLACE)

const EKSCTL = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: eu-north-1}
nodeGroups:
- name: one
- name: two
  kubeletExtraConfig:
    # room for the system
    kubeReserved:
      memory: 300Mi
    maxPod: 50
  instanceType: m5.large
`
const NODEADM = `---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config: {maxPod: 50}
    flags: [--node-labels=a=b]
`
const MIME = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="BOUNDARY"

--BOUNDARY
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
echo {{

--BOUNDARY
Content-Type: application/node.eks.aws

${NODEADM}
--BOUNDARY--
`
const TWO_PARTS = MIME.replace('--BOUNDARY--', `--BOUNDARY\nContent-Type: application/node.eks.aws\n\n${NODEADM}--BOUNDARY--`)
const OPENSHIFT = `apiVersion: machineconfiguration.openshift.io/v1
kind: KubeletConfig
metadata: {name: c}
spec:
  machineConfigPoolSelector: {matchLabels: {a: b}}
  kubeletConfig:
    maxPod: 50

    systemReserved: {cpu: 500m}
`
const KUBEADM = `apiVersion: kubeadm.k8s.io/v1beta3
kind: InitConfiguration
---
# nothing
---
apiVersion: kubeadm.k8s.io/v1beta3
kind: ClusterConfiguration
---
${HEAD}maxPod: 50
`
const K0S =
  'apiVersion: k0s.k0sproject.io/v1beta1\nkind: ClusterConfig\nspec:\n  workerProfiles:\n  - name: a\n    values:\n      maxPod: 50\n'
const TALOS = 'version: v1alpha1\nmachine:\n  kubelet:\n    extraConfig:\n      maxPod: 50\n'

t.test('takes a config that is exact, and knows where each field of it was', async (t) => {
  const cases: (readonly [name: string, text: string, from: string, isPart: boolean, line: number, column: number, config?: string])[] = [
    [
      'eksctl',
      EKSCTL,
      'nodeGroups[1].kubeletExtraConfig of a ClusterConfig of eksctl, line 7',
      true,
      11,
      5,
      `${HEAD}# room for the system\nkubeReserved:\n  memory: 300Mi\nmaxPod: 50\n`,
    ],
    ['nodeadm', NODEADM, 'spec.kubelet.config of a NodeConfig of nodeadm, line 6', true, 6, 14, `${HEAD}maxPod: 50\n`],
    ['user data', MIME, 'spec.kubelet.config of a NodeConfig of nodeadm, line 18', true, 18, 14, `${HEAD}maxPod: 50\n`],
    ['user data with CRLF', MIME.replaceAll('\n', '\r\n'), 'spec.kubelet.config of a NodeConfig of nodeadm, line 18', true, 18, 14],
    [
      'OpenShift',
      OPENSHIFT,
      'spec.kubeletConfig of a KubeletConfig of OpenShift, line 6',
      true,
      7,
      5,
      `${HEAD}maxPod: 50\n\nsystemReserved: {cpu: 500m}\n`,
    ],
    ['kubeadm', KUBEADM, 'document 3, line 9', false, 11, 1, `${HEAD}maxPod: 50\n`],
    ['k0s', K0S, 'spec.workerProfiles[0].values of a ClusterConfig of k0s, line 6', true, 7, 7, `${HEAD}maxPod: 50\n`],
    ['Talos', TALOS, 'machine.kubelet.extraConfig of a machine config of Talos, line 4', true, 5, 7, `${HEAD}maxPod: 50\n`],
    [
      'a config with its head',
      OPENSHIFT.replace('    maxPod', `${HEAD.replace(/^/gm, '    ').trimEnd()}\n    maxPod`),
      'spec.kubeletConfig of a KubeletConfig of OpenShift, line 6',
      true,
      9,
      5,
      `${HEAD}maxPod: 50\n\nsystemReserved: {cpu: 500m}\n`,
    ],
    [
      'an alias out of it',
      EKSCTL.replace('metadata: {name: c', 'metadata: {labels: &l {memory: 300Mi}, name: c').replace('\n      memory: 300Mi', ' *l'),
      'nodeGroups[1].kubeletExtraConfig of a ClusterConfig of eksctl, line 7',
      true,
      10,
      5,
      `${HEAD}kubeReserved:\n  memory: 300Mi\nmaxPod: 50\n`,
    ],
    ...['{maxPod: 50}', '!!map\n      maxPod: 50', '&a\n      maxPod: 50'].map(
      (body) =>
        [
          `lines that cannot follow others: ${body}`,
          `${TALOS.slice(0, TALOS.lastIndexOf('maxPod'))}${body}\n`,
          'machine.kubelet.extraConfig of a machine config of Talos, line 4',
          true,
          body.includes('\n') ? 6 : 5,
          body.startsWith('{') ? 8 : 7,
          `${HEAD}maxPod: 50\n`,
        ] as const,
    ),
  ]
  for (const [name, text, from, isPart, line, column, config] of cases) {
    const reading = await read(text)
    t.match(reading, { kind: 'taken', from, isPart }, name)
    if (reading.kind !== 'taken') continue
    if (config !== undefined) t.equal(reading.text, config, name)
    const parsed = await IN_PLACE.first(reading.text)
    const position = parsed.ok ? parsed.locate(['maxPod']) : undefined
    t.strictSame(position && reading.place(position, ['maxPod']), { line, column }, name)
  }
})

t.test('names what it cannot take, with its place', async (t) => {
  const kops = 'apiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nspec:\n  kubelet:\n    evictionHard: memory.available<5%\n'
  const own = (whose: string) => `those fields are ${whose}, not all of them kubelet's: write a KubeletConfiguration`
  const cases: [text: string, problem: string, line: number | undefined, advice: string | RegExp][] = [
    [kops, 'this is an object of kOps, and no KubeletConfiguration', 4, own("kOps' own, most of them named after flags")],
    [`a: 1\n---\n${kops}`, 'document 2 is an object of kOps, and no KubeletConfiguration', 6, /kOps' own/],
    [
      '{"cpuManagerPolicy": "static",\n"cpuCfsQuota": true, "podMaxPids": 100}',
      'this is a custom kubelet configuration of AKS, and no KubeletConfiguration',
      1,
      'write a KubeletConfiguration: cpuCfsQuota is cpuCFSQuota; podMaxPids is podPidsLimit',
    ],
    [
      'linuxConfig: {}\nkubeletConfig:\n  cpuCFSQuota: true\n',
      'this is a node configuration of GKE or AKS, and no KubeletConfiguration',
      2,
      own('the names of the cloud'),
    ],
    [
      'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec: {kubelet: {maxPods: 5}}\n',
      'this is an object of Karpenter, and no KubeletConfiguration',
      3,
      own("Karpenter's own"),
    ],
    [
      KUBEADM.slice(0, KUBEADM.lastIndexOf('---')),
      'document 1 is a document of kubeadm, and no KubeletConfiguration',
      1,
      /flags of kubelet at most: write a KubeletConfiguration/,
    ],
    ['kubelet-arg: [a=b]\n', 'this is a config file of k3s or RKE2, and no KubeletConfiguration', 1, /flags of kubelet/],
    [
      'apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nkubeadmConfigPatches: []\n',
      'this is a Cluster of kind, and no KubeletConfiguration',
      3,
      /in the text of one of its patches/,
    ],
    [
      JSON.stringify({
        syncFrequency: '1m',
        fileCheckFrequency: '20s',
        httpCheckFrequency: '20s',
        nodeStatusUpdateFrequency: '10s',
        runtimeRequestTimeout: '2m',
      }),
      'this is the config in an answer of /configz, and no KubeletConfiguration',
      1,
      /^kubelet-cfg-agent generate --from-file makes a config of it/,
    ],
    ['{"kubeletconfig":\n {"maxPods": 50}}', 'this is an answer of /configz, and no KubeletConfiguration', 1, /generate --from-file/],
    [
      EKSCTL.slice(0, EKSCTL.indexOf('  kubeletExtra')),
      'this is a ClusterConfig of eksctl, and no KubeletConfiguration',
      1,
      'a KubeletConfiguration would be in nodeGroups[].kubeletExtraConfig: it has none there',
    ],
    [
      EKSCTL.replace('- name: one\n', '- name: one\n  kubeletExtraConfig: {maxPods: 5}\n'),
      'this holds 2 KubeletConfigurations: nodeGroups[0].kubeletExtraConfig of a ClusterConfig of eksctl, line 6; ' +
        'nodeGroups[1].kubeletExtraConfig of a ClusterConfig of eksctl, line 8',
      undefined,
      'save one of them as a file, and give that',
    ],
    [
      `${KUBEADM}---\n${HEAD}`,
      'this holds 2 KubeletConfigurations: document 3, line 9; document 4, line 13',
      undefined,
      'save one of them as a file, and give that',
    ],
    [
      TWO_PARTS,
      'this holds 2 KubeletConfigurations: spec.kubelet.config of a NodeConfig of nodeadm, document 1, line 18; ' +
        'spec.kubelet.config of a NodeConfig of nodeadm, document 2, line 29',
      undefined,
      'save one of them as a file, and give that',
    ],
    [
      TWO_PARTS.slice(0, TWO_PARTS.lastIndexOf('--BOUNDARY--')),
      'this holds 2 KubeletConfigurations: spec.kubelet.config of a NodeConfig of nodeadm, document 1, line 18; ' +
        'spec.kubelet.config of a NodeConfig of nodeadm, document 2, line 29',
      undefined,
      'save one of them as a file, and give that',
    ],
    [
      TWO_PARTS.replace('--BOUNDARY\nContent-Type: text', `${'--BOUNDARY\n\n'.repeat(300)}--BOUNDARY\nContent-Type: text`),
      'this holds 2 KubeletConfigurations: spec.kubelet.config of a NodeConfig of nodeadm, document 1, line 618; ' +
        'spec.kubelet.config of a NodeConfig of nodeadm, document 2, line 629',
      undefined,
      'save one of them as a file, and give that',
    ],
    [
      `${EKSCTL.slice(0, EKSCTL.indexOf('- name: one'))}${'- kubeletExtraConfig: {maxPods: 5}\n'.repeat(30)}`,
      `this holds 30 KubeletConfigurations: ${Array.from({ length: 10 }, (_, at) => `nodeGroups[${at}].kubeletExtraConfig of a ClusterConfig of eksctl, line ${at + 5}`).join('; ')}, and more`,
      undefined,
      'save one of them as a file, and give that',
    ],
    [
      MIME.replace('application/node.eks.aws', 'text/plain'),
      'this is user data in MIME parts, and none of them is an application/node.eks.aws in plain text',
      undefined,
      'save the KubeletConfiguration as a file of its own, and give that',
    ],
  ]
  for (const [text, problem, line, advice] of cases) {
    const reading = await read(text)
    t.match(reading, { kind: 'named', problem, advice }, problem)
    t.equal(reading.kind === 'named' && reading.position?.line, line, problem)
  }
})

t.test('of many configs in one document, the document is read for their places once', async (t) => {
  let reads = 0
  const counted: typeof IN_PLACE.firstOfAny = (text) => {
    reads += 1
    return IN_PLACE.firstOfAny(text)
  }
  const text = EKSCTL.replace('- name: one\n', '- kubeletExtraConfig: {maxPods: 5}\n'.repeat(9))
  t.match(await readWrapped(text, { all: IN_PLACE.all, firstOfAny: counted }), { kind: 'named', problem: /^this holds 10 / })
  t.equal(reads, 1)
})

t.test('leaves alone what may be a config or a part as it is', async (t) => {
  for (const text of [
    '',
    HEAD,
    `${HEAD}---\n${HEAD}`,
    `---\n---\n${HEAD}`,
    `${HEAD.replace('kind', 'Kind')}---\n${HEAD}`,
    'maxPods: 5\n',
    'maxPods: 5\npodMaxPids: 5\n',
    'podMaxPid: 5\n',
    'apiVersion: apps/v1\nkind: Deployment\n',
    'MIME-Version: 1.0\n',
    'a: [\n',
    '{{ x }}',
    '- a\n',
    'a: |\n  ---\n  kind: KubeletConfiguration\n',
    '~\n---\nkind: KubeletConfiguration\n',
  ])
    t.strictSame(await read(text), { kind: 'none' }, JSON.stringify(text))
})

t.test('validate says what was taken, and shows the lines of the file', async (t) => {
  const nowhere: Pick<CommandContext, 'unit'> = { unit: { observe: async () => ({ kind: 'unknown', detail: 'no systemd' }) } }
  const readLocalConfig = async () => found('port: 10250\n')
  const validate = async (text: string, output = 'table', { unit } = nowhere) => {
    const readInput = async () => ({ kind: 'read', bytes: Buffer.from(text) }) as const
    const node = fakeNode({ context: { readInput, unit, readLocalConfig } })
    return { code: await execute(validateCommand, node, { output }, ['x.yaml']), out: node.out() }
  }
  const eksctl = await validate(EKSCTL)
  t.equal(eksctl.code, 0)
  t.match(eksctl.out, 'x.yaml:11:5: warning: unknown field maxPod: kubelet ignores it [fields/unknown-key]\n  11 |     maxPod: 50\n')
  t.match(eksctl.out, /^file +accepted +taken from nodeGroups\[1\]\.kubeletExtraConfig of a ClusterConfig of eksctl, line 7$/m)
  const reserving = EKSCTL.replace('maxPod: 50', 'cpuManagerPolicy: static').replace('memory: 300Mi', 'pid: "100"')
  t.match(
    await validate(reserving),
    { code: 0, out: /:11:5: warning: .*\(the node's local config or a flag .*\[fields\/static-policy\]/ },
    'eksctl may supply the rest',
  )
  const kops = await validate('apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec:\n  kubelet: {}\n')
  t.equal(kops.code, 1)
  t.match(kops.out, 'x.yaml:4:3: error: this is an object of kOps, and no KubeletConfiguration [source/wrapper]\n   4 |   kubelet: {}\n')
  const node = await validate(EKSCTL, 'json', fakeNode().context)
  t.match(
    JSON.parse(node.out),
    {
      candidate: 'x.yaml over local',
      layers: ['/var/lib/kubelet/config.yaml', 'x.yaml'],
      parts: [{ part: 'file', detail: /^taken from/ }],
    },
    'merged over local',
  )
  t.match(JSON.parse((await validate(KUBEADM, 'json')).out), { parts: [{ part: 'file', outcome: 'accepted' }] })
})

t.test('long texts take bounded time', async (t) => {
  const units = ['---\n', 'a: 1\n---\n', '--a\n', '- {kubeletExtraConfig: {}}\n', ' ', '\n', '#', `---\n${HEAD}`, 'a:\n', '%\n']
  const heads = ['', 'Content-Type: a; boundary=a\n\n', 'apiVersion: eksctl.io/v1\nkind: ClusterConfig\nnodeGroups:\n', 'Content-Type: ']
  for (const unit of units) for (const head of heads) t.ok(await read(head + unit.repeat(60_000 / unit.length)), unit)
})
t.setTimeout(120_000)
