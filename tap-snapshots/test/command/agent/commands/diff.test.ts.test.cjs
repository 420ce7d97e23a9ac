/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/commands/diff.test.ts > TAP > compares what runs here with a file > as JSON 1`] = `
{
  "apiVersion": "kubelet-cfg-agent.io/v1alpha1",
  "kind": "ConfigDiff",
  "from": "/var/lib/kubelet/config.yaml",
  "to": "new.yaml",
  "changes": [
    {
      "path": "evictionHard[\\"memory.available\\"]",
      "steps": [
        "evictionHard",
        "memory.available"
      ],
      "before": "100Mi",
      "after": "200Mi",
      "risk": "evictions",
      "meaning": "pods may be evicted sooner, later, or not in time",
      "policy": {
        "outcome": "allowed",
        "rule": null
      }
    }
  ],
  "findings": []
}

`

exports[`test/command/agent/commands/diff.test.ts > TAP > compares what runs here with a file > in colour 1`] = `
/var/lib/kubelet/config.yaml -> new.yaml: 1 field differs

[1m[0m   [1mFIELD[0m                             [1mBEFORE[0m  [1mAFTER[0m  [1mRISK[0m       [1mPOLICY[0m
[33m~[0m  [33mevictionHard["memory.available"][0m  100Mi   200Mi  evictions  allowed

evictions  [2mpods may be evicted sooner, later, or not in time[0m

`

exports[`test/command/agent/commands/diff.test.ts > TAP > compares what runs here with a file > must match snapshot 1`] = `
/var/lib/kubelet/config.yaml -> new.yaml: 1 field differs

   FIELD                             BEFORE  AFTER  RISK       POLICY
~  evictionHard["memory.available"]  100Mi   200Mi  evictions  allowed

evictions  pods may be evicted sooner, later, or not in time

`

exports[`test/command/agent/commands/diff.test.ts > TAP > says what a change does not do on a registered Node > must match snapshot 1`] = `
/var/lib/kubelet/config.yaml -> x.yaml: 6 fields differ

   FIELD                               BEFORE   AFTER                                  RISK            POLICY
~  serverTLSBootstrap                  false    true                                   server-clients  allowed
+  evictionHard["nodefs.available"]    not set  10%                                    evictions       allowed
+  evictionHard["nodefs.inodesFree"]   not set  5%                                     evictions       allowed
+  evictionHard["imagefs.available"]   not set  15%                                    evictions       allowed
+  evictionHard["imagefs.inodesFree"]  not set  5%                                     evictions       allowed
+  registerWithTaints                  not set  [{"key":"gpu","effect":"NoSchedule"}]  registration    allowed

server-clients  clients of kubelet may be disrupted: the API server, metrics, exec, logs, port forwarding
evictions       pods may be evicted sooner, later, or not in time
registration    no effect on a registered Node

with serverTLSBootstrap, kubelet has no serving certificate until its request is approved: logs, exec, port forwarding and metrics fail until then
     = approve the request after the restart (kubectl get csr, then kubectl certificate approve NAME), or run a controller that approves kubernetes.io/kubelet-serving

changing registerWithTaints has no effect on a registered Node: kubelet reads it only when it creates its Node
     = change the Node itself: kubectl taint nodes NODE gpu:NoSchedule --overwrite; or drain the node, delete its Node and restart kubelet, which then creates it anew

`

exports[`test/command/agent/commands/diff.test.ts > TAP > says what kubelet would do at once, and what it skips, of what is for this node > must match snapshot 1`] = `
/var/lib/kubelet/config.yaml -> same.json: no difference

same.json: warning: node/eviction is found [node/eviction]
     = mend it

same.json: warning: guard/eviction is found [guard/eviction]
     = mend it

same.json: warning: drop-ins/skipped is found [drop-ins/skipped]
     = mend it

`

exports[`test/command/agent/commands/diff.test.ts > TAP > shows risks, their meaning and the policy > must match snapshot 1`] = `
/var/lib/kubelet/config.yaml -> new.yaml: 3 fields differ

   FIELD             BEFORE                                                        AFTER        RISK     POLICY
~  x                 1                                                             2            restart  allowed
~  cpuManagerPolicy  1                                                             2            drain    drain (policy/requireDrain[0])
~  staticPodPath     xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  "\\u001b[2J"  restart  denied (policy/guarded)

restart  kubelet is restarted
drain    drain first

`
