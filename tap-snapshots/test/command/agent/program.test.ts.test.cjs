/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/program.test.ts > TAP > help > of check 1`] = `
Usage: kubelet-cfg-agent check [flags]

Checks whether the agent can work on this node: whether it runs, kubelet's unit, the distribution
that it looks like, the drop-in, the config that kubelet runs and what of it has no effect, the
files that the agent needs, and the machine. Asks the API server who the agent is, whether the
assigned config can be read, and which rights are missing. Files are checked from the sandbox of the
running agent; where none runs, from outside. One line each. Changes nothing. A file in deploy/ is
in /usr/share/doc/kubelet-cfg-agent/examples/ where the package is installed.

Options:
  -o, --output <choice>  output format: a table for people, or JSON for programs (table, json;
                         default: table)
  --settings             check only the settings, as systemctl reload does before the agent rereads
                         them
  -h, --help             show help for the program or a command

Examples:
  kubelet-cfg-agent check
      after installation; exits with 1 if a check fails
  kubelet-cfg-agent check --settings
      after an edit of the settings; exits with 2 if one is invalid

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of diff 1`] = `
Usage: kubelet-cfg-agent diff [FILE|-|configmap/NAME] [flags]

Compares the config that runs on this node with another config, field by field: order, notation and
comments do not matter. Kubelet's drop-ins (--config-dir) are merged with both, unless --against is
given. Says which changes have no effect on a registered Node, and, unless --against is given, what
kubelet would do at once. Without an argument, the other config is the one that the cluster assigns
to this node.

Arguments:
  FILE|-|configmap/NAME        a file (a config, or the manifest of a ConfigMap), - for standard
                               input, or a ConfigMap in the cluster: configmap/NAME,
                               configmap/NAMESPACE/NAME; append :KEY if the key is not kubelet

Options:
  --against <path>             compare with this config (a file, or configmap/NAME) instead of the
                               one that runs
  --kubelet-version <version>  check for a kubelet of this version, as in 1.28; default: the version
                               of this machine's kubelet
  --without-overlay            use configmap/NAME without this node's overlay and the layers that
                               match the node
  -o, --output <choice>        output format: a table for people, or JSON for programs (table, json;
                               default: table)
  -h, --help                   show help for the program or a command

Examples:
  kubelet-cfg-agent diff
      compare with what the cluster assigns to this node
  kubelet-cfg-agent diff kubelet.yaml
      check a file before you create a ConfigMap from it
  kubelet-cfg-agent diff --against old.yaml new.yaml
      compare two files, also on a machine that is not a node

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 no difference, 1 the configs differ, 2 cannot compare, or invalid arguments, flags or
settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of generate 1`] = `
Usage: kubelet-cfg-agent generate [flags]

Prints the config that kubelet runs with, including what its flags set, as a KubeletConfiguration: a
first version for a ConfigMap. Leaves out the defaults of that kubelet, so that a later kubelet uses
its own; says what a later kubelet reads in another way. Asks kubelet 1.33 or later for /configz on
its own port, which needs the right get on nodes/configz; an older one through the API server, which
needs nodes/proxy. The node's own kubeconfig has neither right by itself: grant nodes/configz, use
an administrator's kubeconfig with --kubeconfig, or pass the response with --from-file.

Options:
  --from-file <path>           read the response of /configz, or its kubeletconfig alone, from this
                               file, or from standard input (-), instead of asking for it
  --kubelet-version <version>  of the kubelet whose response --from-file has, as in 1.36; without
                               it, defaults are not left out
  --all                        also print the defaults of this kubelet
  --offline                    print the config file that runs, as it is on disk, with kubelet's
                               drop-ins, without flags and defaults
  -h, --help                   show help for the program or a command

Examples:
  kubelet-cfg-agent generate --kubeconfig /root/.kube/config > kubelet.yaml
      read /configz with an administrator's kubeconfig
  kubelet-cfg-agent generate --from-file configz.json --kubelet-version 1.36 > kubelet.yaml
      convert the output of kubectl get --raw /api/v1/nodes/NODE/proxy/configz
  kubelet-cfg-agent generate --offline > kubelet.yaml
      use the file on disk, without an API server

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of history 1`] = `
Usage: kubelet-cfg-agent history [flags]

Shows what was assigned, activated, promoted, refused and rolled back on this node, oldest first.

Options:
  -n, --limit <number>   show only this many of the latest transitions (default: 20)
  -o, --output <choice>  output format: a table for people, or JSON for programs (table, json;
                         default: table)
  -h, --help             show help for the program or a command

Examples:
  kubelet-cfg-agent history
      show the latest 20
  kubelet-cfg-agent history -n 1000 -o json
      show all that are kept, for programs

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of pause 1`] = `
Usage: kubelet-cfg-agent pause [flags]

Keeps this node as it is: until resume, no config is activated, kubelet is not restarted and nothing
is rolled back. The agent still saves and reports what the cluster assigns. A pause survives
restarts of the agent and of the node.

Options:
  -h, --help  show help for the program or a command

Examples:
  kubelet-cfg-agent pause
      before you work on this node

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of plan 1`] = `
Usage: kubelet-cfg-agent plan [flags]

Reads from the cluster (or the directory of manifests) what is assigned to this node, checks it as
the agent would, and shows each step until the agent would wait, whether and when kubelet is
restarted, and which fields change. Writes nothing and does not affect a running agent.

Options:
  -o, --output <choice>  output format: a table for people, or JSON for programs (table, json;
                         default: table)
  -h, --help             show help for the program or a command

Examples:
  kubelet-cfg-agent plan
      before resume, or before you start the agent
  kubelet-cfg-agent plan -o json | jq '.restart'
      show whether and when kubelet is restarted

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of preflight-upgrade 1`] = `
Usage: kubelet-cfg-agent preflight-upgrade [flags]

Checks every config that this node holds (assigned, active, last-known-good, previous, what a return
to local left, local) against another kubelet: which it would refuse, which fields and feature gates
it ignores or no longer knows, and what it reads in another way than the kubelet that runs. Name its
binary, which then judges itself, or its version. Without either, the kubelet on disk counts. The
agent's change policy does not apply.

Options:
  --kubelet <path>             check with this kubelet: the new binary
  --kubelet-version <version>  check for a kubelet of this version, as in 1.28; default: the version
                               of this machine's kubelet
  --deep                       also start kubelet in a sandbox, to find what it rejects only then;
                               takes seconds for each config
  -o, --output <choice>        output format: a table for people, or JSON for programs (table, json;
                               default: table)
  -h, --help                   show help for the program or a command

Examples:
  kubelet-cfg-agent preflight-upgrade --kubelet /opt/1.36/kubelet
      check with the new binary
  kubelet-cfg-agent preflight-upgrade --kubelet /opt/1.36/kubelet --deep
      start it too, in a sandbox
  kubelet-cfg-agent preflight-upgrade --kubelet-version 1.36
      check with the rules for a version, without its binary

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 every config is accepted, 1 a config is refused, 2 not all could be checked, or
invalid arguments, flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of promote 1`] = `
Usage: kubelet-cfg-agent promote [flags]

A trial is held if evidence says no and the agent does not know how the node was before the config,
for example since the API server did not answer then. With this command you say that the node was
like that before, or that you accept it: the config becomes last-known-good when its trial is over.
If the node worked before, the command does not overrule evidence that says no: set that kind to
watched. The promotion proves nothing in a rollout.

Options:
  -h, --help  show help for the program or a command

Examples:
  kubelet-cfg-agent promote
      end a trial on a node that was not Ready before the config either

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of release 1`] = `
Usage: kubelet-cfg-agent release [flags]

Run this after you stopped the agent for good. If the next start of kubelet would use a config that
has not passed its trial, last-known-good replaces it. A config file that the agent replaced gets
its original content back, and a drop-in that the agent added is removed. Kubelet is not restarted.
The conditions, the annotation and the label of the agent are removed from the Node where the API
server can be reached. The packages run this when they are removed, not when they are upgraded.

Options:
  -h, --help  show help for the program or a command

Examples:
  kubelet-cfg-agent release
      after systemctl disable --now kubelet-cfg-agent

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of reset 1`] = `
Usage: kubelet-cfg-agent reset [flags]

Returns this node to the config that kubelet was provisioned with. The node ignores what the cluster
assigns until resume. Last-known-good and previous become local too, so the trial after resume has
local as its only fallback. Kubelet is restarted if it runs another config. If this kubelet refuses
its local config, add --force. If kubelet fails with local, the node goes back to what ran.

Options:
  --force     reset even if this kubelet refuses its local config
  -h, --help  show help for the program or a command

Examples:
  kubelet-cfg-agent reset
      take this node out of dynamic configuration
  kubelet-cfg-agent reset --force
      the same, although preflight refuses the local config

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of resume 1`] = `
Usage: kubelet-cfg-agent resume [flags]

Ends pause and reset: this node follows what the cluster assigns again. A pause by an annotation
stays, and is named: remove the annotation to end it.

Options:
  -h, --help  show help for the program or a command

Examples:
  kubelet-cfg-agent resume
      when your work on the node is done

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of retry 1`] = `
Usage: kubelet-cfg-agent retry [flags]

Drops the verdicts on this node. The agent then tries the assigned config again, even if it was
refused, failed or was rolled back. Does not remove a veto in a rollout: raise retry in its plan.

Options:
  -h, --help  show help for the program or a command

Examples:
  kubelet-cfg-agent retry
      after you removed a cause outside the config

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of rollback 1`] = `
Usage: kubelet-cfg-agent rollback [flags]

Rolls back the config that kubelet starts with next, as if it had failed: kubelet is restarted with
the first of last-known-good, previous and local that has not failed. The agent does not use the
config again until its content, kubelet or the flags of kubelet change, or until retry. In a rollout
that is not finished this is a veto, which by default halts the rollout for all nodes, and which
retry does not remove: the command asks first. It also asks where only a local config is left that
kubelet refuses. To take only this node off the config, use reset.

Options:
  -y, --yes   do not ask before the change
  -h, --help  show help for the program or a command

Examples:
  kubelet-cfg-agent rollback
      reject a config that looks healthy to the agent
  kubelet-cfg-agent rollback --yes
      the same from a script, even if that halts a rollout

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of rollout 1`] = `
Usage: kubelet-cfg-agent rollout [flags]

Shows the stage, the witnesses, the vetoes, and whether this node waits and why. The stage is read
from the cluster now; this node's turn is what the running agent knew last. Changes nothing.

Options:
  -o, --output <choice>  output format: a table for people, or JSON for programs (table, json;
                         default: table)
  -h, --help             show help for the program or a command

Examples:
  kubelet-cfg-agent rollout
      find out what this node waits for
  kubelet-cfg-agent rollout -o json | jq -r '.turn.detail'
      get the reason in a script

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of run 1`] = `
Usage: kubelet-cfg-agent run [flags]

Follows the config that the cluster (or a directory of manifests) assigns to this node: saves it,
restarts kubelet with it, promotes it if kubelet stays healthy, and rolls it back if not. SIGTERM
and SIGINT end the agent at a safe point and leave kubelet as it is; SIGHUP rereads the settings.

Where assignments come from:
  --node-name <name>             name of this machine's Node (default: from the kubeconfig's
                                 identity, else kubelet's --hostname-override, else the host name)
  --kubeconfig <path>            kubeconfig for the API server; the file may appear later, as in TLS
                                 bootstrap (default: /etc/kubernetes/kubelet.conf)
  --channels <channels>          channels that may assign a config, any of
                                 config-source,label,annotation,selector; where several assign one,
                                 the first in this fixed order decides (default:
                                 config-source,label,annotation)
  --config-namespace <name>      namespace of the ConfigMaps that the channels label and selector
                                 use (default: kube-system)
  --config-key <key>             key in the ConfigMap, if the assignment does not name one (default:
                                 kubelet)
  --default-config-map <name>    config for a node that no channel assigns one to, as
                                 namespace/name[:key]; for example kubeadm's
                                 kube-system/kubelet-config (default: none; the node stays on its
                                 local config)
  --manifest-dir <path>          read the Node and ConfigMaps from manifests in this directory
                                 instead of the API server (default: none; the agent reads the API
                                 server)
  --overlay-dir <path>           directory of merge patches (*.yaml, *.yml) that this node applies
                                 to its assigned config; empty: none (default:
                                 /etc/kubelet-cfg-agent/overlay.d)

On disk:
  --dynamic-config-dir <path>    directory for checkpoints, records and history (default:
                                 /var/lib/kubelet-cfg-agent)
  --runtime-dir <path>           directory for state that matters only until the next boot (default:
                                 /run/kubelet-cfg-agent)
  --kubelet-env-file <path>      environment file that the drop-in of kubelet's unit reads; the
                                 agent activates a config by writing it (default:
                                 /var/lib/kubelet-cfg-agent/kubelet.env)
  --adopt                        take over a directory that the Dynamic Kubelet Configuration of
                                 kubelet itself left behind (it contains store/)
  --keep-checkpoints <number>    number of newest checkpoints to keep besides those in use (default:
                                 10)
  --config <path>                settings file; if you name one, it must exist (default:
                                 /etc/kubelet-cfg-agent/config.yaml)

Kubelet:
  --kubelet-unit <unit>          kubelet's systemd unit (default: kubelet.service)
  --activation <choice>          how kubelet gets a config: env writes the environment file; file
                                 replaces the file that the unit names; drop-in adds a file to its
                                 --config-dir (kubelet 1.32 or later); auto chooses env or file by
                                 the unit (auto, env, file, drop-in; default: auto)
  --kubelet-config-dir <path>    directory of kubelet's drop-ins, for activation drop-in where
                                 kubelet is a part of k3s, whose unit does not name it (default:
                                 none; --config-dir in the unit counts)
  --systemctl <path>             path of systemctl (default: /bin/systemctl)
  --system-bus <path>            socket of D-Bus's system bus, on which systemd says what happens to
                                 kubelet's unit; without one, systemctl is asked more often
                                 (default: /run/dbus/system_bus_socket)

Preflight:
  --change-policy <choice>       changes that this node accepts: open accepts all; guarded only
                                 those of fields that can neither give others control of the node
                                 nor cut it off (open, guarded; default: open)
  --allow-changes <list>         exceptions to change-policy: fields, as in maxPods or
                                 authentication.*, and risk classes, as in class:reboot (default:
                                 none)
  --deny-changes <list>          fields and risk classes that must not change on this node;
                                 overrides allow-changes (default: none)
  --require-drain <list>         fields and risk classes that change only while the node is drained
                                 (default: none)
  --guards-off <list>            guards that only warn instead of refusing a config that would take
                                 the node out of the cluster or end what runs on it: run-once,
                                 content-type, node-lease, static-pods, healthz, reservation,
                                 eviction, resolv-conf, runtime-endpoint, cgroup-driver (default:
                                 none)
  --preflight <choice>           checks before kubelet gets a config: rules are the agent's own;
                                 load has kubelet load it in a sandbox too; start also starts
                                 kubelet there (rules, load, start; default: start)
  --unknown-fields <choice>      whether to warn about or refuse a config that contains fields which
                                 this kubelet does not know and would ignore (warn, refuse; default:
                                 warn)

Trial and rollback:
  --trial-duration <duration>    how long kubelet must run healthy without interruption before a
                                 config becomes last-known-good (default: 10m)
  --start-deadline <duration>    roll back if kubelet is not healthy this long after it started
                                 (default: 2m)
  --health-tolerance <duration>  roll back if a kubelet that was healthy stays unhealthy this long
                                 (default: 1m)
  --crash-limit <number>         roll back if kubelet exits unexpectedly this many times (default:
                                 3)
  --spread <duration>            apply a change of a shared ConfigMap or selector at a different
                                 time on each node, within this duration; 0s: all at once (default:
                                 2m)
  --restarts-per-hour <number>   maximum number of restarts of a running kubelet per hour; falling
                                 back and leaving an ill kubelet are exempt (default: 6)
  --when-refused <choice>        what to do if preflight refuses the assigned config: stay keeps the
                                 running config and goes on with its trial; last-known-good falls
                                 back at once, as kubelet's own dynamic configuration did (stay,
                                 last-known-good; default: stay)
  --evidence <kind=level,...>    what a trial must prove: for each of runtime, lease, ready,
                                 serving, static-pods, pods one of required (a no rolls back),
                                 watched (a no is only reported), off (asked only where another kind
                                 needs it); for example lease=watched,pods=off (default: all
                                 required)

Reports:
  --publish <list>               what the agent publishes, any of config (status.config), condition,
                                 annotation (kubelet-cfg-agent.io/status), label
                                 (kubelet-cfg-agent.io/state), rollout-events (on the config);
                                 empty: nothing (default:
                                 config,condition,annotation,rollout-events)
  --metrics-address <host:port>  address that serves /metrics, /healthz and /readyz; empty: off
                                 (default: 127.0.0.1:10270)
  --metrics-textfile <path>      write the metrics to this file too, for the textfile collector of
                                 the node exporter; its name ends in .prom (default: none)
  --log-level <choice>           lowest severity that is logged (debug, info, warn, error; default:
                                 info)
  --log-format <choice>          format of the log; auto writes text to the journal and to a
                                 terminal, and JSON elsewhere (auto, json, text; default: auto)

Options:
  -h, --help                     show help for the program or a command

Examples:
  kubelet-cfg-agent run
      use the settings in /etc/kubelet-cfg-agent/config.yaml
  kubelet-cfg-agent run --manifest-dir /etc/kubelet-cfg-agent/manifests
      use manifests instead of an API server
  kubelet-cfg-agent run --trial-duration 30m --spread 10m
      be more careful than the defaults

Each setting can also be set in the environment (--kubelet-unit as KUBELET_CFG_AGENT_KUBELET_UNIT)
and in the config file (as kubeletUnit). Flags win over the environment, and the environment wins
over the file.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of set-aside 1`] = `
Usage: kubelet-cfg-agent set-aside [flags]

Kubelet's unit runs this before it starts kubelet. A cpu_manager_state or memory_manager_state in
the root directory of kubelet with which kubelet would not start, such as that of another policy, is
renamed to NAME.set-aside-N next to it. The last three are kept. A file that fits, or that cannot be
judged, stays as it is, and so does each file while kubelet runs.

Options:
  -h, --help  show help for the program or a command

Examples:
  kubelet-cfg-agent set-aside
      before kubelet starts, with what it would start with now

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of status 1`] = `
Usage: kubelet-cfg-agent status [flags]

Shows what is assigned, active, last-known-good and previous, the remaining time of a trial,
verdicts and the error. For a config that this node merges, it shows where each field comes from.
Reads the agent's directory and systemd, and shows what the agent reported last. Needs neither the
API server nor a running agent, and changes nothing.

Options:
  -o, --output <choice>  output format: a table for people, or JSON for programs (table, json;
                         default: table)
  -h, --help             show help for the program or a command

Examples:
  kubelet-cfg-agent status
      print a table
  kubelet-cfg-agent status -o json | jq -r '.assigned.name'
      get one field in a script

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of the program 1`] = `
Usage: kubelet-cfg-agent <command> [flags]

Changes the configuration of this kubelet through the Kubernetes API, and rolls back what fails.

Options:
  --version          print the version
  -h, --help         show help for the program or a command

Run:
  run                run the agent in the foreground
  set-aside          set aside a state file of kubelet's managers with which kubelet would not start

Inspect:
  status             show what this node runs, what it should run, and the trial
  history            show the transitions of this node: when, from, to and why
  rollout            show how far the config's rollout has come, and this node's turn
  check              check agent, unit, drop-in, kubelet, files, API server and rights
  version            print the version
  help               show help for a command

Check configs:
  validate           check whether kubelet would accept a config
  diff               show what a config would change, and the risk
  plan               show what the agent would do now, without doing it
  preflight-upgrade  check this node's configs against another kubelet, before an upgrade
  generate           print this node's config as a file for a ConfigMap

Control:
  pause              stop activations, restarts and rollbacks until resume
  resume             end pause and reset
  rollback           roll back the config that kubelet starts with next
  retry              drop verdicts and try the assigned config again
  promote            promote the config on trial although it is not known how the node was before
  reset              return to the local config until resume

Remove:
  release            make the next start of kubelet safe before you remove the agent

First steps:
  kubelet-cfg-agent check     check that the agent can work on this node
  kubelet-cfg-agent status    show what kubelet runs, what is assigned, and the trial

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of validate 1`] = `
Usage: kubelet-cfg-agent validate FILE|-|configmap/NAME [flags]

Checks a KubeletConfiguration, alone, in the manifest of a ConfigMap, or in a file of another tool,
with every check of preflight that applies here, and shows each problem, its place, and what to do.
For a config that this node merges, it shows where each field comes from. On a node, this includes
its kubelet and its hardware; elsewhere, as in CI, only the fields are checked. If you name a check
(--kubelet, --deep) and it cannot run, the config counts as not checked.

Arguments:
  FILE|-|configmap/NAME        a file (a config, or the manifest of a ConfigMap), - for standard
                               input, or a ConfigMap in the cluster: configmap/NAME,
                               configmap/NAMESPACE/NAME; append :KEY if the key is not kubelet

Options:
  --kubelet <path>             check with this kubelet, for example before an upgrade
  --kubelet-version <version>  check for a kubelet of this version, as in 1.28; default: the version
                               of this machine's kubelet
  --from <version>             also compare with what the config means to a kubelet of this version,
                               as in 1.36
  --node <path>                compute values for the Node in this file, as \`kubectl get node NAME
                               -o json\` prints it
  --without-overlay            use configmap/NAME without this node's overlay and the layers that
                               match the node
  --deep                       also start kubelet in a sandbox, to find what it rejects only then;
                               takes seconds
  --strict                     refuse fields that kubelet does not know
  -o, --output <choice>        output format: a table for people, JSON for programs, or SARIF for
                               code scanning (table, json, sarif; default: table)
  -h, --help                   show help for the program or a command

Examples:
  kubelet-cfg-agent validate kubelet.yaml
      check a file before you create a ConfigMap from it
  kubelet-cfg-agent validate configmap/my-node-config
      check a ConfigMap in kube-system
  kubelet-cfg-agent validate --strict --kubelet-version 1.28 -o sarif kubelet.yaml
      check in CI, without a kubelet
  kubelet-cfg-agent validate --kubelet /opt/1.30/kubelet kubelet.yaml
      check with the next kubelet before an upgrade
  kubelet-cfg-agent validate --kubelet-version 1.37 --from 1.36 kubelet.yaml
      find what the next kubelet reads in another way

Uses the agent's settings (flags, environment, config file) to find its files and kubelet's unit:
see kubelet-cfg-agent run --help.

Exit codes: 0 accepted, 1 refused, 2 not checked, or invalid arguments, flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > help > of version 1`] = `
Usage: kubelet-cfg-agent version [flags]

Prints the version of this program and of the Node.js that runs it.

Options:
  -h, --help  show help for the program or a command

Examples:
  kubelet-cfg-agent version
      for a report of a fault

Exit codes: 0 success, 1 failure, 2 invalid flags or settings.

`

exports[`test/command/agent/program.test.ts > TAP > reports all problems together > must match snapshot 1`] = `
kubelet-cfg-agent run: --crash-limt: unknown flag; the nearest known one is --crash-limit
kubelet-cfg-agent run: extra: unexpected argument
kubelet-cfg-agent run: KUBELET_CFG_AGENT_LOGLEVEL: unknown variable; the nearest known one is KUBELET_CFG_AGENT_LOG_LEVEL
kubelet-cfg-agent run: /c.yaml: apiVersion must be kubelet-cfg-agent.io/v1alpha1
kubelet-cfg-agent run: /c.yaml: kind must be AgentConfiguration
kubelet-cfg-agent run: /c.yaml: trialDuraton: unknown key; the nearest known one is trialDuration
kubelet-cfg-agent run: --crash-limit: 0 is out of range: from 1 to 100
kubelet-cfg-agent run: --spread: "5" has no unit: write a number with a unit, for example 10m, 1m30s or 250ms
kubelet-cfg-agent run --help says more

`
