// SPDX-License-Identifier: Apache-2.0
/** Values of the chart: those that it takes, and those that it refuses. Data only. */

const image = (repository: string, tag: string) => ({ repository, tag })
/** Everything that does not depend on the identity, with what deploy/ has. */
export const WHOLE = {
  rollouts: [{ config: 'node-config' }],
  selector: { enabled: true },
  configz: { enabled: true },
  operator: { enabled: true },
  admission: { channels: true, configs: true },
  monitoring: {
    rules: { enabled: true, docsUrl: 'https://docs.example/kubelet-cfg-agent' },
    proxy: { enabled: true },
    podMonitor: { enabled: true },
  },
  installer: { enabled: true, image: { repository: 'registry.example/kubelet-cfg-agent-install' } },
}
export const WITH_ACCOUNT = {
  ...WHOLE,
  // deploy/ binds this one to the nodes, and says how to bind it otherwise.
  selector: { enabled: false },
  agents: 'serviceaccount',
  serviceAccount: { annotation: true, drain: true, token: { enabled: true, image: image('busybox', '1.36') } },
}
/** What operators set besides. */
export const FURNISHED = {
  ...WITH_ACCOUNT,
  selector: { enabled: true },
  rollouts: [
    { config: 'node-config' },
    { config: '70', namespace: '80', record: '90' },
    { config: 'gpu', namespace: 'node-configs', record: 'gpu-stages' },
  ],
  monitoring: { ...WHOLE.monitoring, labels: { release: 'prometheus' }, podMonitor: { enabled: true, interval: '1m' } },
  installer: {
    ...WHOLE.installer,
    image: { repository: 'registry.example/install', digest: `sha256:${'0'.repeat(64)}` },
    allowDowngrade: true,
  },
  nodeSelector: { 'kubelet-cfg-agent.io/install': 'true' },
  imagePullSecrets: [{ name: 'pull' }],
  commonLabels: { team: 'nodes' },
}
/** The other way about. */
export const REMOVING = { installer: { ...WHOLE.installer, remove: true } }
export const SETS = { defaults: {}, nodes: WHOLE, serviceaccount: WITH_ACCOUNT, furnished: FURNISHED, removing: REMOVING }

/** Values, and what helm says of them. */
export const REFUSED: readonly (readonly [object, RegExp])[] = [
  [{ config: {} }, /additional properties 'config' not allowed/],
  [{ configs: { name: 'x' } }, /at '\/configs': additional properties 'name' not allowed/],
  [{ configs: { names: [] } }, /at '\/configs\/names': minItems/],
  [{ configs: { names: 'node-config' } }, /at '\/configs\/names': got string, want array/],
  [{ configs: { names: ['Node_Config'] } }, /at '\/configs\/names\/0': 'Node_Config' does not match pattern/],
  [{ configs: { namespace: "kube-system' || true" } }, /at '\/configs\/namespace': .* does not match pattern/],
  [{ agents: 'kubelet' }, /at '\/agents': value must be one of 'nodes', 'serviceaccount'/],
  [{ admission: { channels: 'yes' } }, /at '\/admission\/channels': got string, want boolean/],
  [{ rollouts: ['node-config'] }, /at '\/rollouts\/0': got string, want object/],
  [{ rollouts: [{ config: 'a', record: 'a' }] }, /the record of a cannot be the config itself/],
  [{ rollouts: [{ config: 'a' }, { config: 'b', record: 'a-rollout' }] }, /a and b have the record kube-system\/a-rollout/],
  [{ installer: { enabled: true } }, /set installer\.image\.repository: the image is one of yours/],
  [{ installer: { enabled: true, image: { repository: 'x', digest: 'sha256:1' } } }, /at '\/installer\/image\/digest': .* does not match/],
  [{ installer: { settings: { trialduration: '30m' } } }, /at '\/installer\/settings': additional properties 'trialduration' not allowed/],
  [
    { agents: 'serviceaccount', serviceAccount: { annotation: true }, admission: { serviceAccount: false } },
    /serviceAccount\.annotation needs/,
  ],
  [{ serviceAccount: { token: { enabled: true, image: image('x', 'y') } } }, /need agents: serviceaccount/],
  [
    { agents: 'serviceaccount', serviceAccount: { token: { enabled: true, image: image('x', '') } } },
    /set serviceAccount\.token\.image\.digest or/,
  ],
  [{ monitoring: { podMonitor: { enabled: true } } }, /monitoring\.podMonitor needs monitoring\.proxy/],
]
