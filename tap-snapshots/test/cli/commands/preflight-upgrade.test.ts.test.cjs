/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/cli/commands/preflight-upgrade.test.ts > TAP > what a version refuses, ignores, and where the node would fall back to > must match snapshot 1`] = `
kube-system/my-node-config:kubelet@212 (assigned, active)
kube-system/my-node-config:kubelet@212:5:3: error: featureGates.CPUManager: unrecognized feature gate: CPUManager [fields/gate-gone]
   5 |   CPUManager: true
     |   ^~~~~~~~~~
     = kubelet 1.33 removed this gate: remove it

fields   refused      2 fields checked against the rules of kubelet 1.36.0
kubelet  not checked  no kubelet 1.36.0 is available
kube-system/my-node-config:kubelet@212: refused: 1 error

kube-system/my-node-config:kubelet@150 (last-known-good)
kube-system/my-node-config:kubelet@150:4:1: warning: unknown field maxPod: kubelet ignores it [fields/unknown-key]
   4 | maxPod: 3
     | ^~~~~~
     = did you mean maxPods?

fields   accepted     2 fields checked against the rules of kubelet 1.36.0
kubelet  not checked  no kubelet 1.36.0 is available
kube-system/my-node-config:kubelet@150: accepted, not checked by kubelet: 1 warning

/var/lib/kubelet/config.yaml (previous, local)
fields   accepted     1 field checked against the rules of kubelet 1.36.0
kubelet  not checked  no kubelet 1.36.0 is available
/var/lib/kubelet/config.yaml: accepted, not checked by kubelet

This kubelet refuses kube-system/my-node-config:kubelet@212.
The agent would fall back to kube-system/my-node-config:kubelet@150.

`
