/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/commands/plan.test.ts > TAP > prints JSON for programs > must match snapshot 1`] = `
{
  "apiVersion": "kubelet-cfg-agent.io/v1alpha1",
  "kind": "Plan",
  "node": "node-1",
  "agent": {
    "running": true,
    "pid": 812
  },
  "unit": {
    "activity": "running",
    "detail": "active (running)"
  },
  "hold": "none",
  "wanted": {
    "kind": "configMap",
    "namespace": "kube-system",
    "name": "my-node-config",
    "kubeletConfigKey": "kubelet",
    "uid": "uid-1",
    "resourceVersion": "200"
  },
  "assigned": {
    "kind": "configMap",
    "namespace": "kube-system",
    "name": "my-node-config",
    "kubeletConfigKey": "kubelet",
    "uid": "uid-1",
    "resourceVersion": "100",
    "checkpoint": "present"
  },
  "active": {
    "kind": "configMap",
    "namespace": "kube-system",
    "name": "my-node-config",
    "kubeletConfigKey": "kubelet",
    "uid": "uid-1",
    "resourceVersion": "100",
    "checkpoint": "present"
  },
  "lastKnownGood": {
    "kind": "configMap",
    "namespace": "kube-system",
    "name": "my-node-config",
    "kubeletConfigKey": "kubelet",
    "uid": "uid-1",
    "resourceVersion": "100",
    "checkpoint": "present"
  },
  "steps": [
    {
      "step": "assign",
      "detail": "assign kube-system/my-node-config:kubelet@200",
      "afterSeconds": 0
    },
    {
      "step": "preflight",
      "detail": "check kube-system/my-node-config:kubelet@200: accepted",
      "afterSeconds": 0
    },
    {
      "step": "wait",
      "detail": "waits for its turn to use kube-system/my-node-config:kubelet@200: shared changes are spread over 10m",
      "afterSeconds": 0
    },
    {
      "step": "activate",
      "detail": "make kube-system/my-node-config:kubelet@200 what kubelet starts with",
      "afterSeconds": 216
    },
    {
      "step": "restart",
      "detail": "restart kubelet to use kube-system/my-node-config:kubelet@200",
      "afterSeconds": 216
    }
  ],
  "rest": {
    "phase": "in-trial",
    "detail": "trial of kube-system/my-node-config:kubelet@200"
  },
  "restart": {
    "due": true,
    "afterSeconds": 216
  },
  "afterResume": null,
  "preflight": {
    "apiVersion": "kubelet-cfg-agent.io/v1alpha1",
    "kind": "ValidationReport",
    "candidate": "configmap/kube-system/my-node-config:kubelet",
    "outcome": "accepted",
    "parts": [
      {
        "part": "fields",
        "outcome": "accepted",
        "detail": "1 field checked against the rules of every kubelet version"
      },
      {
        "part": "kubelet",
        "outcome": "unjudged",
        "detail": "no kubelet is available"
      }
    ],
    "findings": []
  },
  "changes": [
    {
      "path": "maxPods",
      "steps": [
        "maxPods"
      ],
      "before": 110,
      "after": 64,
      "risk": "pod-admission",
      "meaning": "running pods may fail admission when kubelet restarts, and are then killed",
      "policy": {
        "outcome": "allowed",
        "rule": null
      }
    }
  ],
  "changesDetail": null
}

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > a config that preflight refuses 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          running: active (running)
Wanted           kube-system/my-node-config:kubelet  200  uid-1
Assigned         kube-system/my-node-config:kubelet  100  uid-1
Active           kube-system/my-node-config:kubelet  100  uid-1
Last known good  kube-system/my-node-config:kubelet  100  uid-1

The agent would, if all goes well:
1  now   assign kube-system/my-node-config:kubelet@200
2  now   check kube-system/my-node-config:kubelet@200: refused
   then  refused: kube-system/my-node-config:kubelet@100 runs in place of what is assigned
Kubelet is not restarted.

Preflight of configmap/kube-system/my-node-config:kubelet: refused

configmap/kube-system/my-node-config:kubelet:3:1: error: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number [fields/range]
   3 | kubeAPIQPS: -1
     | ^~~~~~~~~~

configmap/kube-system/my-node-config:kubelet:4:1: warning: unknown field maxPod: kubelet ignores it [fields/unknown-key]
   4 | maxPod: 64
     | ^~~~~~
     = did you mean maxPods?

fields   refused      2 fields checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available

What changes:
   FIELD       BEFORE   AFTER        RISK  POLICY
~  kubeAPIQPS  50       -1           load  allowed
+  maxPod      not set  (not shown)  none  allowed

load  shifts load: on the node, the container runtime, the registry or the API server
none  no effect: this kubelet does not know the field and ignores it

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > a new version 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          running: active (running)
Wanted           kube-system/my-node-config:kubelet  200  uid-1
Assigned         kube-system/my-node-config:kubelet  100  uid-1
Active           kube-system/my-node-config:kubelet  100  uid-1
Last known good  kube-system/my-node-config:kubelet  100  uid-1

The agent would, if all goes well:
1  now       assign kube-system/my-node-config:kubelet@200
2  now       check kube-system/my-node-config:kubelet@200: accepted
3  now       waits for its turn to use kube-system/my-node-config:kubelet@200: shared changes are spread over 10m
4  in 3m36s  make kube-system/my-node-config:kubelet@200 what kubelet starts with
5  in 3m36s  restart kubelet to use kube-system/my-node-config:kubelet@200
   then      in-trial: trial of kube-system/my-node-config:kubelet@200
Kubelet is restarted in 3m36s.
It becomes last-known-good after 10m of healthy running.

Preflight of configmap/kube-system/my-node-config:kubelet: accepted

fields   accepted     1 field checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available

What changes:
   FIELD    BEFORE  AFTER  RISK           POLICY
~  maxPods  110     64     pod-admission  allowed

pod-admission  running pods may fail admission when kubelet restarts, and are then killed

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > another config 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          running: active (running)
Wanted           kube-system/other:kubelet           7    uid-2
Assigned         kube-system/my-node-config:kubelet  100  uid-1
Active           kube-system/my-node-config:kubelet  100  uid-1
Last known good  kube-system/my-node-config:kubelet  100  uid-1

The agent would, if all goes well:
1  now   assign kube-system/other:kubelet@7
2  now   check kube-system/other:kubelet@7: accepted
3  now   make kube-system/other:kubelet@7 what kubelet starts with
4  now   restart kubelet to use kube-system/other:kubelet@7
   then  in-trial: trial of kube-system/other:kubelet@7
Kubelet is restarted at once.
It becomes last-known-good after 10m of healthy running.

Preflight of configmap/kube-system/other:kubelet: accepted

fields   accepted     1 field checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available

What changes:
   FIELD    BEFORE  AFTER  RISK           POLICY
~  maxPods  110     64     pod-admission  allowed

pod-admission  running pods may fail admission when kubelet restarts, and are then killed

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > back to local 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          running: active (running)
Wanted           local
Assigned         kube-system/my-node-config:kubelet  100  uid-1
Active           kube-system/my-node-config:kubelet  100  uid-1
Last known good  kube-system/my-node-config:kubelet  100  uid-1

The agent would, if all goes well:
1  now   return to the local config
2  now   check local: accepted
3  now   make local what kubelet starts with
4  now   restart kubelet to use local
   then  settled: local
Kubelet is restarted at once.

No field changes.

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > kubelet stopped 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          stopped: inactive (dead)
Wanted           kube-system/my-node-config:kubelet  200  uid-1
Assigned         kube-system/my-node-config:kubelet  100  uid-1
Active           none: no kubelet process
Last known good  kube-system/my-node-config:kubelet  100  uid-1

The agent would, if all goes well:
1  now     assign kube-system/my-node-config:kubelet@200
2  now     check kube-system/my-node-config:kubelet@200: accepted
3  now     waits for its turn to use kube-system/my-node-config:kubelet@200: shared changes are spread over 2m
4  in 44s  make kube-system/my-node-config:kubelet@200 what kubelet starts with
   then    kubelet-stopped: kubelet is stopped; its next start uses kube-system/my-node-config:kubelet@200
Kubelet is not restarted.

Preflight of configmap/kube-system/my-node-config:kubelet: accepted

fields   accepted     1 field checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available

What changes:
   FIELD    BEFORE  AFTER  RISK           POLICY
~  maxPods  110     64     pod-admission  allowed

pod-admission  running pods may fail admission when kubelet restarts, and are then killed

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > not wired 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          running: active (running)
Wanted           kube-system/my-node-config:kubelet  200  uid-1
Assigned         local
Active           local
Last known good  local

The agent would, if all goes well:
1  now   assign kube-system/my-node-config:kubelet@200
   then  blocked: systemd has not read the drop-in
Kubelet is not restarted.

Preflight of configmap/kube-system/my-node-config:kubelet: accepted

fields   accepted     0 fields checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available

No field changes.

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > nothing to do 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          running: active (running)
Wanted           kube-system/my-node-config:kubelet  100  uid-1
Assigned         kube-system/my-node-config:kubelet  100  uid-1
Active           kube-system/my-node-config:kubelet  100  uid-1
Last known good  kube-system/my-node-config:kubelet  100  uid-1

The agent would do nothing.
  now  settled: kube-system/my-node-config:kubelet@100
Kubelet is not restarted.

Preflight of configmap/kube-system/my-node-config:kubelet: accepted

fields   accepted     1 field checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available

No field changes.

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > paused 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          running: active (running)
Wanted           kube-system/my-node-config:kubelet  200  uid-1
Assigned         kube-system/my-node-config:kubelet  100  uid-1
Active           kube-system/my-node-config:kubelet  100  uid-1
Last known good  kube-system/my-node-config:kubelet  100  uid-1
Hold             paused, until resume

The agent would, if all goes well:
1  now   assign kube-system/my-node-config:kubelet@200
   then  paused: paused on the node; wanted is kube-system/my-node-config:kubelet@200
Kubelet is not restarted.

After resume, it would, if all goes well:
1  now     assign kube-system/my-node-config:kubelet@200
2  now     check kube-system/my-node-config:kubelet@200: accepted
3  now     waits for its turn to use kube-system/my-node-config:kubelet@200: shared changes are spread over 2m
4  in 44s  make kube-system/my-node-config:kubelet@200 what kubelet starts with
5  in 44s  restart kubelet to use kube-system/my-node-config:kubelet@200
   then    in-trial: trial of kube-system/my-node-config:kubelet@200
Kubelet is restarted in 44s.
It becomes last-known-good after 10m of healthy running.

Preflight of configmap/kube-system/my-node-config:kubelet: accepted

fields   accepted     1 field checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available

What changes:
   FIELD    BEFORE  AFTER  RISK           POLICY
~  maxPods  110     64     pod-admission  allowed

pod-admission  running pods may fail admission when kubelet restarts, and are then killed

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > the API server is away 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          running: active (running)
Wanted           unknown: Node node-1 cannot be read: connection refused
Assigned         kube-system/my-node-config:kubelet  100  uid-1
Active           kube-system/my-node-config:kubelet  100  uid-1
Last known good  kube-system/my-node-config:kubelet  100  uid-1

The agent would do nothing.
  now  settled: kube-system/my-node-config:kubelet@100
Kubelet is not restarted.

Cannot tell what would change: the config that is assigned to this node is unknown: Node node-1 cannot be read: connection refused

`

exports[`test/command/agent/commands/plan.test.ts > TAP > prints the plan for people > the ConfigMap is gone 1`] = `
Node             node-1
Agent            running (pid 812)
Kubelet          running: active (running)
Wanted           unknown: kube-system/my-node-config:kubelet: it does not exist
Assigned         kube-system/my-node-config:kubelet  100  uid-1
Active           kube-system/my-node-config:kubelet  100  uid-1
Last known good  kube-system/my-node-config:kubelet  100  uid-1

The agent would do nothing.
  now  settled: kube-system/my-node-config:kubelet@100
Kubelet is not restarted.

Cannot tell what would change: configmap/kube-system/my-node-config:kubelet: it does not exist

`
