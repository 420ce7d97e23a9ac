/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/commands/rollout.test.ts > TAP > prints the stage, the witnesses, the vetoes, and what this node waits for > must match snapshot 1`] = `
Config      kube-system/my-node-config
Record      rollouts
Generation  7
Stage       3 of 5, halted
Open to     10 % of the nodes
Proofs      1 of 5
On trial    n2
Veto        n3: crash-loop: kubelet exited 3 times
This node   waits: stage 3 of 5 (open to 10 % of the nodes): 3 of 5 proofs; this node starts in stage 4 (50 % of the nodes) (in 12s)

`
