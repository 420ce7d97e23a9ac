/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/commands/generate.test.ts > TAP > reads /configz > advice 1`] = `
Defaults are in it too, since kubelet's version is not known: --kubelet-version names it.
To create a ConfigMap from it, save it as kubelet.yaml and run:
  kubectl -n kube-system create configmap node-config --from-file=kubelet=kubelet.yaml
Nodes may read this name by deploy/rbac/node-configmaps.yaml: add another name to its Role first.

`

exports[`test/command/agent/commands/generate.test.ts > TAP > reads /configz > must match snapshot 1`] = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
syncFrequency: 1m0s
clusterDNS:
  - 10.96.0.10
hairpinMode: "no"
evictionHard:
  memory.available: 100Mi
maxPods: 110
enforceNodeAllocatable: []

`
