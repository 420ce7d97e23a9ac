/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/parse-line.test.ts > TAP > help and version > must match snapshot 1`] = `
Usage: kubectl kubelet-config <command> [flags]

Shows and changes the configuration of the kubelets of a cluster, where
kubelet-cfg-agent runs on its nodes.

Options:
  --version               print the version
  -h, --help              show help for the program or a command

Flags of every command:
  -n, --namespace <name>  namespace of the ConfigMaps, whatever the context says
                          (default: kube-system)
  --context <name>        in place of the current context
  --kubeconfig <path>     in place of KUBECONFIG and ~/.kube/config

Look:
  get                     show the nodes, their configs and their states
  why                     say why a node runs what it runs, and what to do
  diff                    show what the assigned config changes on a node
  check                   say who may edit the configs that nodes run
  upgrade-check           say what another kubelet makes of the configs of all
                          nodes
  versions                list the kept versions of a config, and how many nodes
                          run each
  version                 print the version
  help                    show help for a command

Change:
  apply                   check a config, show what it changes, and write it
  assign                  have nodes use a config
  unassign                take nodes back to their local config
  undo                    go back to an earlier version of a config

Roll out:
  rollout status          follow the rollout of a config until it is done or
                          halted
  rollout pause           keep further nodes from starting a config
  rollout resume          end a pause of a config
  rollout retry           roll the same content out again after it was halted
  rollout exclude         take a node out of the rollouts of a config
  rollout include         let an excluded node take part again
  rollout init            set up the rollout of a config: record, rights, policy

kubectl kubelet-config <command> --help describes a command.

Exit codes: 0 success, 1 failure, 2 invalid command line.

`
