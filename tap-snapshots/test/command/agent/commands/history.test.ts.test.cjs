/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/commands/history.test.ts > TAP > prints a table for people > must match snapshot 1`] = `
TIME                  WHAT         FROM                                    TO                                      WHY
2023-11-14T22:13:20Z  assigned     local                                   kube-system/my-node-config:kubelet@212  the Node names it
2023-11-14T22:13:21Z  restarting   local                                   kube-system/my-node-config:kubelet@212  kubelet runs another config
2023-11-14T22:14:21Z  rolled-back  kube-system/my-node-config:kubelet@212  local                                   exited 3 times: ?[31mpanic
2023-11-14T22:14:22Z  set-aside    -                                       -                                       meta/previous is not YAML

`

exports[`test/command/agent/commands/history.test.ts > TAP > prints JSON for programs > must match snapshot 1`] = `
{
  "apiVersion": "kubelet-cfg-agent.io/v1alpha1",
  "kind": "TransitionList",
  "items": [
    {
      "at": "2023-11-14T22:14:21.500Z",
      "atNs": "1700000061500000000",
      "kind": "rolled-back",
      "from": {
        "kind": "configMap",
        "namespace": "kube-system",
        "name": "my-node-config",
        "kubeletConfigKey": "kubelet",
        "uid": "uid-1",
        "resourceVersion": "212"
      },
      "to": {
        "kind": "local"
      },
      "why": "exited 3 times:\\n\\u001b[31mpanic"
    },
    {
      "at": "2023-11-14T22:14:22.000Z",
      "atNs": "1700000062000000000",
      "kind": "set-aside",
      "from": null,
      "to": null,
      "why": "meta/previous is not YAML"
    }
  ]
}

`
