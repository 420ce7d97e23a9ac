/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/commands/requests.test.ts > TAP > pause, reset and resume > pause while the hold is local 1`] = `
This replaces the earlier reset: the node is no longer held on its local config.
Paused: no config is activated, kubelet is not restarted and nothing is rolled back until kubelet-cfg-agent resume.
The running agent (pid 812) applies this at once.

`

exports[`test/command/agent/commands/requests.test.ts > TAP > pause, reset and resume > pause while the hold is none 1`] = `
Paused: no config is activated, kubelet is not restarted and nothing is rolled back until kubelet-cfg-agent resume.
The running agent (pid 812) applies this at once.

`

exports[`test/command/agent/commands/requests.test.ts > TAP > pause, reset and resume > pause while the hold is paused 1`] = `
Already paused; kubelet-cfg-agent resume ends the pause.

`

exports[`test/command/agent/commands/requests.test.ts > TAP > pause, reset and resume > reset while the hold is local 1`] = `
Already held on the local config; kubelet-cfg-agent resume ends this.

`

exports[`test/command/agent/commands/requests.test.ts > TAP > pause, reset and resume > reset while the hold is none 1`] = `
Reset: kubelet returns to its local config, and is restarted if it runs another one.
What the cluster assigns is ignored until kubelet-cfg-agent resume.
The running agent (pid 812) applies this at once.

`

exports[`test/command/agent/commands/requests.test.ts > TAP > pause, reset and resume > reset while the hold is paused 1`] = `
This replaces the earlier pause.
Reset: kubelet returns to its local config, and is restarted if it runs another one.
What the cluster assigns is ignored until kubelet-cfg-agent resume.
The running agent (pid 812) applies this at once.

`

exports[`test/command/agent/commands/requests.test.ts > TAP > pause, reset and resume > resume while the hold is local 1`] = `
Resumed from reset: this node follows what the cluster assigns again.
The running agent (pid 812) applies this at once.

`

exports[`test/command/agent/commands/requests.test.ts > TAP > pause, reset and resume > resume while the hold is none 1`] = `
Nothing to resume: this node is neither paused nor reset.

`

exports[`test/command/agent/commands/requests.test.ts > TAP > pause, reset and resume > resume while the hold is paused 1`] = `
Resumed from pause: this node follows what the cluster assigns again.
The running agent (pid 812) applies this at once.

`
