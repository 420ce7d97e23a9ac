/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/preflight/node/check-shutdown.test.ts > TAP > a kubelet that runs without its shutdown manager > must match snapshot 1`] = `
kubelet holds no lock of logind, so no shutdown waits for pods, although shutdownGracePeriod is 15m: /usr/lib/systemd/logind.conf.d/unattended-upgrades-logind-maxdelay.conf has logind wait for 30s (InhibitDelayMaxSec), and counts after kubelet's own 99-kubelet.conf; mask that file (ln -s /dev/null /etc/systemd/logind.conf.d/unattended-upgrades-logind-maxdelay.conf), and restart kubelet
`

exports[`test/preflight/node/check-shutdown.test.ts > TAP > a kubelet that runs without its shutdown manager > must match snapshot 2`] = `
kubelet holds no lock of logind, so no shutdown waits for pods, although shutdownGracePeriod is 15m: /etc/systemd/logind.conf.d/z.conf has logind wait for 30s (InhibitDelayMaxSec), and counts after kubelet's own 99-kubelet.conf; remove InhibitDelayMaxSec from /etc/systemd/logind.conf.d/z.conf, and restart kubelet
`

exports[`test/preflight/node/check-shutdown.test.ts > TAP > a kubelet that runs without its shutdown manager > must match snapshot 3`] = `
kubelet holds no lock of logind, so no shutdown waits for pods, although shutdownGracePeriod is 15m: kubelet's log says why ("Failed to start node shutdown manager"); a restart of kubelet tries again
`
