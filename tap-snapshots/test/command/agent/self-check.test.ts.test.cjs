/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/self-check.test.ts > TAP > a node without problems > must match snapshot 1`] = `
ok  unit     kubelet.service is running: active (running)
ok  drop-in  kubelet.service gets its config through /var/lib/kubelet-cfg-agent/kubelet.env
ok  kubelet  process 1 runs /var/lib/kubelet/config.yaml; the next start uses its local config
ok  rights   root; may write /var/lib/kubelet-cfg-agent
ok  node     Debian GNU/Linux 12 (bookworm), kernel 6.1.0, 4 CPUs (x64), 16.0 GiB memory, no swap

`

exports[`test/command/agent/self-check.test.ts > TAP > the drop-in, and how to correct it > must match snapshot 1`] = `
fail  drop-in  (masked): run systemctl unmask kubelet.service, then systemctl start kubelet.service
fail  drop-in  (drop-in-missing): add a drop-in to kubelet.service with EnvironmentFile=-/var/lib/kubelet-cfg-agent/kubelet.env in [Service], then systemctl daemon-reload
fail  drop-in  (daemon-reload-needed): run systemctl daemon-reload
fail  drop-in  (overridden): remove the setting that overrides the drop-in (systemctl cat kubelet.service shows it)
fail  drop-in  (flag-wins): remove the flag that wins (systemctl cat kubelet.service shows it)
fail  drop-in  (no-config-argument): start kubelet from a unit of its own, with the flag --config
fail  drop-in  (dynamic-config-dir): remove kubelet's flag --dynamic-config-dir, or remove this agent: the two would work against each other
fail  drop-in  (owned-by-operator): remove this agent from this node

`

exports[`test/command/agent/self-check.test.ts > TAP > the unit > must match snapshot 1`] = `
ok    unit  kubelet.service is running: active (running)
ok    unit  kubelet.service is starting: active (running)
warn  unit  kubelet.service exited and waits for its automatic restart: active (running)
warn  unit  kubelet.service is stopped, and stays so until somebody starts it; its next start uses the activated config: active (running)
warn  unit  kubelet.service ended without an error, and systemd does not start it again: active (running)
warn  unit  kubelet.service is down, since a unit that it requires failed: active (running)
warn  unit  kubelet.service failed: systemd does not restart it any more: active (running)
ok    unit  kubelet.service is stopping, as it does in a restart: active (running)

`

exports[`test/command/agent/self-check.test.ts > TAP > what in the unit can leave kubelet down > must match snapshot 1`] = `
kubelet.service has Requires=sandbox-image.service: systemd leaves kubelet down if sandbox-image.service fails when kubelet is restarted; while a config is assigned, the agent starts it again
kubelet.service has BindsTo=containerd.service: systemd stops kubelet when containerd.service ends; while a config is assigned, the agent starts it again
kubelet.service has Restart=on-failure: systemd does not start kubelet again after every exit; while a config is assigned, the agent starts it again
`
