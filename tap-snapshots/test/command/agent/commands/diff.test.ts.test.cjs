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
  ]
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

exports[`test/command/agent/commands/diff.test.ts > TAP > shows risks, their meaning and the policy > must match snapshot 1`] = `
/var/lib/kubelet/config.yaml -> new.yaml: 3 fields differ

   FIELD             BEFORE                                                        AFTER        RISK     POLICY
~  x                 1                                                             2            restart  allowed
~  cpuManagerPolicy  1                                                             2            drain    drain (policy/requireDrain[0])
~  staticPodPath     xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  "\\u001b[2J"  restart  denied (policy/guarded)

restart  kubelet is restarted
drain    drain first

`
