/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/plugin/commands/rollout.test.ts > TAP > a rollout is followed to its end: a line for each change > must match snapshot 1`] = `
the rollout has not begun
stage 0 of 5, open to witnesses only: 0 of 1 proofs, 1 on trial
stage 1 of 5, open to witnesses only: 1 of 5 proofs
stage 5 of 5, open to all nodes: finished

`

exports[`test/command/plugin/commands/rollout.test.ts > TAP > on a terminal it is one line with a bar > must match snapshot 1`] = `
██ ██ ██ ▒▒ ·· ··  stage 3 of 5, 10 % of the nodes: 1 of 5 proofs, 1 on trial
On trial: n2

`
