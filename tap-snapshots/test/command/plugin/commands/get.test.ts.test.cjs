/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/plugin/commands/get.test.ts > TAP > one line a node, and one a config, within 80 columns > must match snapshot 1`] = `
NODE      CONFIG          VERSION  STATE       SINCE  STAGE      MESSAGE
plain     -               -        NoAgent     -      -
worker-1  kubelet-config  212      Promoted    60m    -
worker-2  kubelet-config  212      Promoted    60m    -
worker-3  kubelet-config  212      Promoted    60m    -
worker-4  kubelet-config  212      Promoted    60m    -
worker-5  kubelet-config  212      InTrial     60m    2/5 waits  10m left
worker-6  risky           226      RolledBack  60m    -
    kubelet exited 2 times: invalid MaxFiles 1, must be > 1

kubelet-config    ████████████████▒▒▒▒  4 Promoted  1 InTrial
nothing assigned  ····················  1 NoAgent
risky             !!!!!!!!!!!!!!!!!!!!  1 RolledBack

`
