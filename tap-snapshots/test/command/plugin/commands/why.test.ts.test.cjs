/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/plugin/commands/why.test.ts > TAP > a config that was rolled back > must match snapshot 1`] = `
worker-6: RolledBack; KubeletConfigReady has been False for 60m

It runs kube-system/kubelet-config:kubelet@212.
It should run kube-system/risky:kubelet@226, assigned by the label kubelet-cfg-agent.node-restriction.kubernetes.io/config of the Node.

The agent says: kube-system/risky:kubelet@226 failed, kube-system/kubelet-config:kubelet@212 runs: kubelet exited 2 times: invalid MaxFiles 1, must be > 1
kubelet failed with the config, or an operator rolled it back.
The verdict on kube-system/risky:kubelet@226: confirmed, crash-loop.
The agent has the version 0.1.0.

What to do: Find the cause in kubelet's log, from the time of the trial. If it is the config, correct the ConfigMap: the new content gets a trial of its own. If it was elsewhere, correct that and run "kubelet-cfg-agent retry" on the node.

Latest events:
  60m  KubeletConfigRolledBack: Kubelet config rolled back from kube-system/risky.v2:kubelet@212 to kube-system/kubelet-config:kubelet@212: kubelet exited 3 times
  61m  KubeletConfigChanged: Kubelet restarting to use kube-system/risky.v2:kubelet@212

`

exports[`test/command/plugin/commands/why.test.ts > TAP > a trial, a wait in a rollout, a node that asks for something else, and one without an agent > must match snapshot 1`] = `
trial: InTrial; KubeletConfigReady has been Unknown for 60m

It runs kube-system/c:kubelet@212.
That is what the label kubelet-cfg-agent.node-restriction.kubernetes.io/config of the Node assigns.
If that fails, it goes back to kube-system/old:kubelet@1.

The agent says: trial of kube-system/c:kubelet@212 until 2026-11-23T12:10:00Z
kubelet runs the assigned config, which has not passed its trial yet.
Its trial began at 2026-11-23T12:00:00Z and ends at 2026-11-23T12:10:00Z, in 10m.
The agent has the version 0.1.0.

What to do: Wait. If the message says that the trial does not come to an end, find out why kubelet is not healthy for long enough.

`
