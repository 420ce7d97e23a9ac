/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/preflight/node/check-pressure.test.ts > TAP > the texts > must match snapshot 1`] = `
kubelet would evict pods at once: nodefs.available is 75% (15.0 GiB of 20.0 GiB), below evictionHard 90% (18.0 GiB); set a threshold below what is available, or free some of it first
`

exports[`test/preflight/node/check-pressure.test.ts > TAP > the texts > must match snapshot 2`] = `
kubelet would evict pods after 1m30s: memory.available is 75% (6.0 GiB of 8.0 GiB), below evictionSoft 6.3 GiB; set a threshold below what is available, or free some of it first
`

exports[`test/preflight/node/check-pressure.test.ts > TAP > the texts > must match snapshot 3`] = `
kubelet starts, and never waits for the grace period of this threshold, 5% (1.0 GiB): the one in evictionHard is 2.0 GiB, and comes first; set it above evictionHard, in the same unit
`

exports[`test/preflight/node/check-pressure.test.ts > TAP > the texts > must match snapshot 4`] = `
kubelet would remove unused images at once: 20% of their file system are in use, and imageGCHighThresholdPercent is 20; it removes them until 10% are in use; a pod that needs one of them pulls it again
`
