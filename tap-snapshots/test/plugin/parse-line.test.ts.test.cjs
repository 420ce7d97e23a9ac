/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/plugin/parse-line.test.ts > TAP > help and version > must match snapshot 1`] = `
Shows and changes the configuration of the kubelets of a cluster, where
kubelet-cfg-agent runs on its nodes.

Usage: kubectl kubelet-config <command> [flags]

Look:
  get  show the nodes, their configs and their states

Flags of every command:
  -n, --namespace <name>   namespace of the ConfigMaps, whatever the context says (default: kube-system)
      --context <name>     in place of the current context
      --kubeconfig <path>  in place of KUBECONFIG and ~/.kube/config

kubectl kubelet-config <command> --help says more of a command.

`
