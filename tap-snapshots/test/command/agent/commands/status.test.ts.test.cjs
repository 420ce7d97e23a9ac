/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/commands/status.test.ts > TAP > prints JSON for programs > must match snapshot 1`] = `
{
  "apiVersion": "kubelet-cfg-agent.io/v1alpha1",
  "kind": "AgentStatus",
  "node": "node-1",
  "agent": {
    "running": true,
    "pid": 812
  },
  "unit": {
    "activity": "running",
    "detail": "active (running)"
  },
  "wiring": {
    "state": "ready",
    "activation": "env"
  },
  "hold": "none",
  "paused": null,
  "channel": null,
  "requests": [],
  "rollout": null,
  "phase": "fallen-back",
  "detail": "kube-system/my-node-config:kubelet@100 runs in place of what is assigned",
  "assigned": {
    "kind": "configMap",
    "namespace": "kube-system",
    "name": "my-node-config",
    "kubeletConfigKey": "kubelet",
    "uid": "5274a9bd-00f5-49fe-a395-53c08b3087db",
    "resourceVersion": "200",
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
  "nextStart": {
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
  "previous": {
    "kind": "local"
  },
  "target": {
    "kind": "configMap",
    "namespace": "kube-system",
    "name": "my-node-config",
    "kubeletConfigKey": "kubelet",
    "uid": "uid-1",
    "resourceVersion": "100",
    "checkpoint": "present"
  },
  "evidence": [],
  "trial": null,
  "waitRemainingSeconds": null,
  "restarts": {
    "lastHour": 2,
    "fallbacksLastHour": 1,
    "limitPerHour": 6
  },
  "verdicts": [
    {
      "source": {
        "kind": "configMap",
        "namespace": "kube-system",
        "name": "my-node-config",
        "kubeletConfigKey": "kubelet",
        "uid": "5274a9bd-00f5-49fe-a395-53c08b3087db",
        "resourceVersion": "200"
      },
      "state": "confirmed",
      "reason": "crash-loop",
      "detail": "kubelet exited 3 times: exit-code, healthz refused",
      "at": "1970-01-01T00:00:00.000Z",
      "superseded": false
    }
  ],
  "layers": [],
  "fields": [],
  "computed": [],
  "reported": null,
  "error": "failed to run config: kubelet crash-looped; rolled back to last-known-good: kubelet exited 3 times: exit-code, healthz refused",
  "overlay": null,
  "misread": null
}

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > a restart is due 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   running: active (running)
State     due: restart kubelet to use kube-system/my-node-config:kubelet@200
Reported  nothing yet
Restarts  0 of at most 6 in the last hour
Error     none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Active           kube-system/my-node-config:kubelet  100      uid-1
Next start       kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > a tie, as last read 1`] = `
Node         node-1
Agent        running (pid 812)
Kubelet      running: active (running)
State        settled: kube-system/my-node-config:kubelet@100
Reported     nothing yet
Assigned by  annotation kubelet-cfg-agent.io/node-selector of the ConfigMap
Restarts     0 of at most 6 in the last hour
Error        failed to sync: ConfigMaps a, b match with the same priority 0

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  100      uid-1
Active           kube-system/my-node-config:kubelet  100      uid-1
Next start       kube-system/my-node-config:kubelet  100      uid-1
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > held on local 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   running: active (running)
State     due: return to the local config
Reported  nothing yet
Hold      local: held on the local config until resume
Restarts  0 of at most 6 in the last hour
Error     none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  100      uid-1
Active           kube-system/my-node-config:kubelet  100      uid-1
Next start       kube-system/my-node-config:kubelet  100      uid-1
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > kubelet stopped 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   stopped: inactive (dead)
State     kubelet-stopped: kubelet is stopped; its next start uses kube-system/my-node-config:kubelet@100
Reported  nothing yet
Restarts  0 of at most 6 in the last hour
Error     none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  100      uid-1
Active           none: no kubelet process
Next start       kube-system/my-node-config:kubelet  100      uid-1
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > never assigned anything 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   running: active (running)
State     settled: local
Reported  nothing yet
Restarts  0 of at most 6 in the last hour
Error     none known on this node

                 SOURCE  VERSION  UID
Assigned         local
Active           local
Next start       local
Last known good  local
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > not wired 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   running: active (running)
State     settled: systemd has not read the drop-in
Reported  nothing yet
Wiring    daemon-reload-needed: systemd has not read the drop-in
Restarts  0 of at most 6 in the last hour
Error     none known on this node

                 SOURCE  VERSION  UID
Assigned         local
Active           local
Next start       unknown: systemd has not read the drop-in
Last known good  local
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > nothing can be read 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   unknown: systemctl: no such file
State     unknown: systemctl: no such file
Reported  nothing yet
Wiring    systemctl: no such file
Restarts  0 of at most 6 in the last hour
Error     internal failure: meta/assigned is not YAML

                 SOURCE  VERSION  UID
Assigned         unknown: meta/assigned is not YAML
Active           unknown: systemctl: no such file
Next start       unknown: systemctl: no such file
Last known good  local
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > on trial 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   running: active (running)
State     in-trial: trial of kube-system/my-node-config:kubelet@200
Reported  nothing yet
Trial     9m12s left of 10m
Restarts  0 of at most 6 in the last hour
Error     none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Active           kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Next start       kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > paused 1`] = `
Node       node-1
Agent      running (pid 812)
Kubelet    running: active (running)
State      due: drop the verdicts on configs: retry was requested on the node
Reported   nothing yet
Hold       paused: activates, restarts and rolls back nothing until resume
Requested  rollback, retry
Restarts   0 of at most 6 in the last hour
Error      none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  100      uid-1
Active           kube-system/my-node-config:kubelet  100      uid-1
Next start       kube-system/my-node-config:kubelet  100      uid-1
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > paused by the cluster, with channel label 1`] = `
Node         node-1
Agent        running (pid 812)
Kubelet      running: active (running)
State        settled: kube-system/my-node-config:kubelet@100
Reported     nothing yet
Assigned by  label kubelet-cfg-agent.node-restriction.kubernetes.io/config of the Node
Paused       paused by annotation kubelet-cfg-agent.io/paused of Node node-1
Restarts     0 of at most 6 in the last hour
Error        none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  100      uid-1
Active           kube-system/my-node-config:kubelet  100      uid-1
Next start       kube-system/my-node-config:kubelet  100      uid-1
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > promotion is due 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   running: active (running)
State     due: promote kube-system/my-node-config:kubelet@200 to last-known-good
Reported  nothing yet
Restarts  0 of at most 6 in the last hour
Error     none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Active           kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Next start       kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > rolled back 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   running: active (running)
State     fallen-back: kube-system/my-node-config:kubelet@100 runs in place of what is assigned
Reported  nothing yet
Restarts  2 of at most 6 in the last hour, plus 1 to fall back
Error     failed to run config: kubelet crash-looped; rolled back to last-known-good: kubelet exited 3 times: exit-code, healthz refused

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Active           kube-system/my-node-config:kubelet  100      uid-1
Next start       kube-system/my-node-config:kubelet  100      uid-1
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

VERDICT    SOURCE                              VERSION  SINCE                 WHY
confirmed  kube-system/my-node-config:kubelet  200      1970-01-01T00:00:00Z  crash-loop: kubelet exited 3 times: exit-code, healthz refused

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > settled 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   running: active (running)
State     settled: kube-system/my-node-config:kubelet@100
Reported  nothing yet
Restarts  0 of at most 6 in the last hour
Error     none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  100      uid-1
Active           kube-system/my-node-config:kubelet  100      uid-1
Next start       kube-system/my-node-config:kubelet  100      uid-1
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > prints the status for people > waiting its turn 1`] = `
Node      node-1
Agent     running (pid 812)
Kubelet   running: active (running)
State     spread: waits for its turn to use kube-system/my-node-config:kubelet@200: shared changes are spread over 1h
Reported  nothing yet
Waits     23m3s more
Restarts  0 of at most 6 in the last hour
Error     none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  200      5274a9bd-00f5-49fe-a395-53c08b3087db
Active           kube-system/my-node-config:kubelet  100      uid-1
Next start       kube-system/my-node-config:kubelet  100      uid-1
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

`

exports[`test/command/agent/commands/status.test.ts > TAP > shows what the assigned config is merged from, and which layer each field comes from > must match snapshot 1`] = `
Node         node-1
Agent        running (pid 812)
Kubelet      running: active (running)
State        settled: kube-system/my-node-config:kubelet@100
Reported     nothing yet
Assigned by  label kubelet-cfg-agent.node-restriction.kubernetes.io/config of the Node
Restarts     0 of at most 6 in the last hour
Error        none known on this node

                 SOURCE                              VERSION  UID
Assigned         kube-system/my-node-config:kubelet  100      uid-1
Active           kube-system/my-node-config:kubelet  100      uid-1
Next start       kube-system/my-node-config:kubelet  100      uid-1
Last known good  kube-system/my-node-config:kubelet  100      uid-1
Previous         local

Merged from, the lowest first:
  /var/lib/kubelet/config.yaml
    all other fields
  ConfigMap kube-system/base:kubelet
    featureGates.CPUManager (removed)
  ConfigMap kube-system/my-node-config:kubelet
    maxPods
  overlay 10-size.yaml
    evictionHard["memory.available"]
  /var/lib/kubelet/instance-config.yaml
    nothing

`
