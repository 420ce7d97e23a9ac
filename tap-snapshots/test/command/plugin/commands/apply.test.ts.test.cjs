/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/plugin/commands/apply.test.ts > TAP > a new config is written with its version; an edit shows what changes, and keeps both > must match snapshot 1`] = `
a.yaml: accepted by the rules of kubelet 1.34.1

Against version 102 (hash c0960322a0), run by 1 of 2 nodes:

   FIELD    BEFORE  AFTER  RISK
~  maxPods  50      60     pod-admission

pod-admission  running pods may fail admission when kubelet restarts, and are
               then killed

1 node runs something else, which is not among the kept versions: not compared.

Wrote ConfigMap kube-system/pods, now version 106 (hash d9bb081877). It goes to 2 nodes, spread over some minutes: kubectl kubelet-config get --watch

`
