/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/cli/program.test.ts > TAP > every problem at once > must match snapshot 1`] = `
kubelet-cfg-agent run: 8 problems with flags and settings:
  --crash-limt: unknown flag; the nearest known one is --crash-limit
  extra: unexpected argument
  KUBELET_CFG_AGENT_LOGLEVEL: unknown variable; the nearest known one is KUBELET_CFG_AGENT_LOG_LEVEL
  /c.yaml: apiVersion has to be kubelet-cfg-agent.io/v1alpha1
  /c.yaml: kind has to be AgentConfiguration
  /c.yaml: trialDuraton: unknown key; the nearest known one is trialDuration
  --crash-limit: 0 is out of range: from 1 to 100
  --spread: "5" has no unit: write a number with a unit, as in 10m, 1m30s or 250ms
kubelet-cfg-agent run --help lists the flags

`

exports[`test/cli/program.test.ts > TAP > help > of check 1`] = `
Usage: kubelet-cfg-agent check [flags]

Checks whether the agent can do its work on this node: kubelet's unit, the drop-in, what kubelet
runs, rights, the machine.

Options:
  -o, --output <choice>  for people, or for programs (table, json; default: table)
  -h, --help             this help, or that of a command

Examples:
  kubelet-cfg-agent check    after installation; exits with 1 if something has to be corrected

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of diff 1`] = `
Usage: kubelet-cfg-agent diff [FILE|-|configmap/NAME] [flags]

Compares the config that runs on this node with another one, field by field and not line by line:
order, spelling and comments do not count. Without an argument the other one is what the cluster
assigns to this node.

Arguments:
  FILE|-|configmap/NAME        a file (a config, or the manifest of a ConfigMap), - for standard
                               input, or a ConfigMap in the cluster: configmap/NAME,
                               configmap/NAMESPACE/NAME; with :KEY where that is not kubelet

Options:
  --against <path>             compare with this (a file, or configmap/NAME) and not with what runs
  --kubelet-version <version>  judge for a kubelet of this version, as in 1.28; by default that of
                               this machine's kubelet
  --without-overlay            take configmap/NAME as the cluster has it, and not with this node's
                               overlay
  -o, --output <choice>        for people, or for programs (table, json; default: table)
  -h, --help                   this help, or that of a command

Examples:
  kubelet-cfg-agent diff                                what the cluster has for this node
  kubelet-cfg-agent diff kubelet.yaml                   before it becomes a ConfigMap
  kubelet-cfg-agent diff --against old.yaml new.yaml    anywhere, without a node

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 no difference, 1 they differ, 2 cannot tell, or wrong arguments, flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of generate 1`] = `
Usage: kubelet-cfg-agent generate [flags]

Prints what kubelet runs with, flags and defaults included, as a KubeletConfiguration: the first
version of a ConfigMap. Asks kubelet through the API server, for which the node's own kubeconfig has
no right: name an administrator's with --kubeconfig, or give the answer with --from-file.

Options:
  --from-file <path>  the answer of /configz in this file, or in standard input (-), and ask nobody
  --offline           the config file that runs, as it is on disk: without flags and defaults
  -h, --help          this help, or that of a command

Examples:
  kubelet-cfg-agent generate --kubeconfig /root/.kube/config > kubelet.yaml    as an administrator, with this node's name
  kubelet-cfg-agent generate --from-file configz.json > kubelet.yaml           from kubectl get --raw /api/v1/nodes/NODE/proxy/configz
  kubelet-cfg-agent generate --offline > kubelet.yaml                          without an API server

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of history 1`] = `
Usage: kubelet-cfg-agent history [flags]

Shows what was assigned, activated, promoted, refused and rolled back on this node, oldest first.

Options:
  -n, --limit <number>   only the latest so many (default: 20)
  -o, --output <choice>  for people, or for programs (table, json; default: table)
  -h, --help             this help, or that of a command

Examples:
  kubelet-cfg-agent history                    the latest 20
  kubelet-cfg-agent history -n 1000 -o json    everything that is kept

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of pause 1`] = `
Usage: kubelet-cfg-agent pause [flags]

Holds this node where it is: nothing is activated, kubelet is not restarted and nothing is rolled
back, until resume. What the cluster assigns meanwhile is still saved and reported. Outlives
restarts of the agent and of the node.

Options:
  -h, --help  this help, or that of a command

Examples:
  kubelet-cfg-agent pause    before work on this node

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of plan 1`] = `
Usage: kubelet-cfg-agent plan [flags]

Asks the cluster (or the directory of manifests) once what it wants of this node, checks that as the
agent would, and shows each step up to where the agent would wait, whether and when kubelet is
restarted, and what changes with it. Nothing is written, and a running agent does not notice.

Options:
  -o, --output <choice>  for people, or for programs (table, json; default: table)
  -h, --help             this help, or that of a command

Examples:
  kubelet-cfg-agent plan                            before resume, or before the agent is started
  kubelet-cfg-agent plan -o json | jq '.restart'    whether and when kubelet is restarted

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of release 1`] = `
Usage: kubelet-cfg-agent release [flags]

Run this when the agent has been stopped for good. Where kubelet would start next with a config that
has not passed its trial, last-known-good takes its place. A config file that the agent replaced
gets its original back. Kubelet is not restarted. Packages do this by themselves when they are
removed, and not when they are upgraded.

Options:
  -h, --help  this help, or that of a command

Examples:
  kubelet-cfg-agent release    after systemctl disable --now kubelet-cfg-agent

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of reset 1`] = `
Usage: kubelet-cfg-agent reset [flags]

Returns this node to the config that kubelet was provisioned with, and holds it there whatever the
cluster assigns, until resume. Last-known-good becomes local too. Kubelet is restarted if it runs
something else.

Options:
  -h, --help  this help, or that of a command

Examples:
  kubelet-cfg-agent reset    take this node out of dynamic configuration

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of resume 1`] = `
Usage: kubelet-cfg-agent resume [flags]

Lets this node follow what the cluster assigns again, after pause or reset.

Options:
  -h, --help  this help, or that of a command

Examples:
  kubelet-cfg-agent resume    when the work is done

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of retry 1`] = `
Usage: kubelet-cfg-agent retry [flags]

Drops the verdicts on this node, so that what is assigned is used again although it was refused,
failed or was rolled back.

Options:
  -h, --help  this help, or that of a command

Examples:
  kubelet-cfg-agent retry    after the cause, which was not in the config, is mended

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of rollback 1`] = `
Usage: kubelet-cfg-agent rollback [flags]

Rolls back what kubelet starts with next, as if it had failed: kubelet is restarted with the first
of last-known-good, previous and local that has not failed. What was rolled back is not used again
until its content, kubelet or its flags change, or until retry.

Options:
  -h, --help  this help, or that of a command

Examples:
  kubelet-cfg-agent rollback    this config is no good, whatever its health says

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of run 1`] = `
Usage: kubelet-cfg-agent run [flags]

Follows what the cluster (or a directory of manifests) assigns to this node: saves it, restarts
kubelet with it, promotes what stays healthy and rolls back what fails. Ends on SIGTERM and SIGINT
at a safe point, leaving kubelet as it is; rereads settings on SIGHUP.

Where assignments come from:
  --node-name <name>             name of this machine's Node object (default: from the kubeconfig's
                                 identity, or the host name)
  --kubeconfig <path>            how to reach the API server; may appear later, as in TLS bootstrap
                                 (default: /etc/kubernetes/kubelet.conf)
  --channels <channels>          how the cluster may assign, any of
                                 config-source,label,annotation,selector: the first of these that
                                 says anything decides (default: config-source,label,annotation)
  --config-namespace <name>      namespace of the ConfigMaps that the label and the selector name
                                 (default: kube-system)
  --config-key <key>             key of a ConfigMap where none is given (default: kubelet)
  --default-config-map <name>    namespace/name[:key], the config of a node that no channel assigns
                                 one, as kubeadm's kube-system/kubelet-config (default: none, the
                                 node stays on its local config)
  --manifest-dir <path>          take Node and ConfigMaps from the manifests in this directory and
                                 ask no API server (default: none, the API server is asked)
  --overlay-dir <path>           merge patches (*.yaml, *.yml) that this node lays over what is
                                 assigned, for what differs from node to node; empty: none (default:
                                 /etc/kubelet-cfg-agent/overlay.d)

On disk:
  --dynamic-config-dir <path>    checkpoints, records and history (default:
                                 /var/lib/kubelet-cfg-agent)
  --runtime-dir <path>           what is worth knowing only until the next boot (default:
                                 /run/kubelet-cfg-agent)
  --kubelet-env-file <path>      the file that the drop-in of kubelet's unit reads: writing it is
                                 the activation (default: /var/lib/kubelet-cfg-agent/kubelet.env)
  --adopt                        take over the directory that kubelet itself left (with store/
                                 inside)
  --keep-checkpoints <number>    newest checkpoints kept besides those in use (default: 10)
  --config <path>                settings file; need not exist unless it is named (default:
                                 /etc/kubelet-cfg-agent/config.yaml)

Kubelet:
  --kubelet-unit <unit>          kubelet's systemd unit (default: kubelet.service)
  --activation <choice>          how the unit takes its config: from the env file, or by replacing
                                 the file that it spells out; auto asks the unit (auto, env, file;
                                 default: auto)
  --systemctl <path>             for unusual systems that keep systemctl elsewhere (default:
                                 /usr/bin/systemctl)

Preflight:
  --change-policy <choice>       which changes of kubelet's config a live node takes: any, or none
                                 that can hand the node over, cut it off, or need a reboot (open,
                                 guarded; default: open)
  --allow-changes <list>         exceptions from change-policy: fields, as in maxPods or
                                 authentication.*, and risks, as in class:reboot (default: none)
  --deny-changes <list>          fields and risks that never change on this node, whatever else
                                 allows them (default: none)
  --require-drain <list>         fields and risks that the node has to be drained for (default:
                                 none)
  --preflight <choice>           how far a config is checked before kubelet gets it: by the agent's
                                 own rules, by kubelet loading it in a sandbox too, or by kubelet
                                 starting there (rules, load, start; default: start)
  --unknown-fields <choice>      what becomes of a config with fields that this kubelet does not
                                 know and would ignore (warn, refuse; default: warn)

Trial and rollback:
  --trial-duration <duration>    uninterrupted healthy running time after which a config becomes
                                 last-known-good (default: 10m)
  --start-deadline <duration>    kubelet that is not healthy this long after its start is rolled
                                 back (default: 2m)
  --health-tolerance <duration>  kubelet that was healthy and is not for this long is rolled back
                                 (default: 1m)
  --crash-limit <number>         kubelet that exits this many times unasked is rolled back (default:
                                 3)
  --spread <duration>            nodes take an in-place edit at different moments within this time;
                                 0s: all at once (default: 2m)
  --restarts-per-hour <number>   at most so many restarts of a kubelet that runs; falling back is
                                 exempt (default: 6)

Reports:
  --publish <list>               what the agent writes to its Node, any of config (status.config),
                                 condition, annotation; empty: none of them (default:
                                 config,condition,annotation)
  --metrics-address <host:port>  where /metrics, /healthz and /readyz are served; empty: nowhere
                                 (default: 127.0.0.1:10270)
  --log-level <choice>           least severe lines to write (debug, info, warn, error; default:
                                 info)
  --log-format <choice>          auto writes text on a terminal and JSON otherwise (auto, json,
                                 text; default: auto)

Options:
  -h, --help                     this help, or that of a command

Examples:
  kubelet-cfg-agent run                                                    with the settings of /etc/kubelet-cfg-agent/config.yaml
  kubelet-cfg-agent run --manifest-dir /etc/kubelet-cfg-agent/manifests    without an API server
  kubelet-cfg-agent run --trial-duration 30m --spread 10m                  more careful than by default

Each setting is also read from the environment (--kubelet-unit as KUBELET_CFG_AGENT_KUBELET_UNIT)
and from the config file (as kubeletUnit); flags win over the environment, and that over the file.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of status 1`] = `
Usage: kubelet-cfg-agent status [flags]

Shows what is assigned, active, last-known-good and previous, the trial with the time left, verdicts
and the error. Reads the agent's directory and asks systemd; needs neither the API server nor a
running agent, and changes nothing.

Options:
  -o, --output <choice>  for people, or for programs (table, json; default: table)
  -h, --help             this help, or that of a command

Examples:
  kubelet-cfg-agent status                                     for people
  kubelet-cfg-agent status -o json | jq -r '.assigned.name'    for scripts

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of the program 1`] = `
Usage: kubelet-cfg-agent <command> [flags]

Changes the configuration of this kubelet through the Kubernetes API, and rolls back what fails.

Options:
  --version   print the version
  -h, --help  this help, or that of a command

The agent:
  run         run the agent in the foreground

Look:
  status      what this node runs, what it should run, and how its trial stands
  history     every transition with time, from, to and why
  check       check unit, drop-in, rights and node, one line each
  version     print the version
  help        the help of a command

Judge:
  validate    would kubelet take this config?
  diff        what a config would change, and at what risk
  plan        what the agent would do now and why, without doing it
  generate    this node's config as a file for a ConfigMap

Ask:
  pause       activate and restart nothing until resume
  resume      end pause and reset
  rollback    give up the config that kubelet starts with next
  retry       forget failures and try what is assigned again
  reset       go to the local config and stay there until resume

Remove:
  release     leave kubelet a safe next start, before the agent is removed

First steps:
  kubelet-cfg-agent check     can the agent do its work here?
  kubelet-cfg-agent status    what runs, what should, and how its trial stands

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of validate 1`] = `
Usage: kubelet-cfg-agent validate FILE|-|configmap/NAME [flags]

Judges a KubeletConfiguration, alone or in the manifest of a ConfigMap, with every part of preflight
that applies here, and shows what is wrong, where, and what to do. On a node its kubelet and its
hardware count; elsewhere, as for a repository of configs, the fields alone. What was asked for by
name (a kubelet, the deep stage) has to judge, or the config counts as not judged.

Arguments:
  FILE|-|configmap/NAME        a file (a config, or the manifest of a ConfigMap), - for standard
                               input, or a ConfigMap in the cluster: configmap/NAME,
                               configmap/NAMESPACE/NAME; with :KEY where that is not kubelet

Options:
  --kubelet <path>             judge with this kubelet, as before an upgrade
  --kubelet-version <version>  judge for a kubelet of this version, as in 1.28; by default that of
                               this machine's kubelet
  --without-overlay            take configmap/NAME as the cluster has it, and not with this node's
                               overlay
  --deep                       also start kubelet in a sandbox, for what it rejects only then; takes
                               seconds
  --strict                     refuse keys that kubelet does not know
  -o, --output <choice>        for people, for programs, or for systems that show findings beside
                               the source (table, json, sarif; default: table)
  -h, --help                   this help, or that of a command

Examples:
  kubelet-cfg-agent validate kubelet.yaml                                             before it becomes a ConfigMap
  kubelet-cfg-agent validate configmap/my-node-config                                 what is in the cluster, in kube-system
  kubelet-cfg-agent validate --strict --kubelet-version 1.28 -o sarif kubelet.yaml    in CI, without a kubelet
  kubelet-cfg-agent validate --kubelet /opt/1.30/kubelet kubelet.yaml                 before an upgrade

Finds the agent's files and kubelet's unit by the agent's own settings: flags, environment or
config file, as kubelet-cfg-agent run --help explains them.

Exit codes: 0 accepted, 1 refused, 2 cannot judge, or wrong arguments, flags or settings.


`

exports[`test/cli/program.test.ts > TAP > help > of version 1`] = `
Usage: kubelet-cfg-agent version [flags]

Prints the version of the agent and of the Node.js that runs it.

Options:
  -h, --help  this help, or that of a command

Exit codes: 0 fine, 1 failed, 2 wrong flags or settings.


`
