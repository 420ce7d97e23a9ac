/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/cli/validate.test.ts > TAP > what people see > accepted 1`] = `
fields  accepted  read: 1 field is set, and within the rules of every version
kubelet.yaml: accepted

`

exports[`test/cli/validate.test.ts > TAP > what people see > in colour 1`] = `
[1mx:[0m [31merror:[0m kubeAPIQPS (--kube-api-qps) -1 must not be a negative number [2m[fields/value][0m

[1mx:3:1:[0m [33mwarning:[0m maxPod: no kubelet knows this field: it is ignored [2m[fields/unknown-key][0m
[2m   3 | [0mmaxPod: 110
[2m     | [0m[1m^~~~~~[0m
     = the nearest known name is maxPods

[1mx:6:1:[0m [33mwarning:[0m the same key again: the last one counts [2m[fields/repeated-key][0m
[2m   6 | [0mmaxPods: 65
[2m     | [0m[1m^~~~~~~[0m

fields  [31mrefused[0m  read, but not as it should be
x: [31mrefused[0m: 1 error, 2 warnings

`

exports[`test/cli/validate.test.ts > TAP > what people see > no YAML 1`] = `
kubelet.yaml:2:1: error: Flow sequence in block collection must be sufficiently indented and end with a ] [fields/load]
   2 |
     | ^

fields  refused  kubelet could not read it
kubelet.yaml: refused: 1 error

`

exports[`test/cli/validate.test.ts > TAP > what people see > refused 1`] = `
kubelet.yaml: error: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number [fields/value]

kubelet.yaml:3:1: warning: maxPod: no kubelet knows this field: it is ignored [fields/unknown-key]
   3 | maxPod: 110
     | ^~~~~~
     = the nearest known name is maxPods

kubelet.yaml:6:1: warning: the same key again: the last one counts [fields/repeated-key]
   6 | maxPods: 65
     | ^~~~~~~

fields  refused  read, but not as it should be
kubelet.yaml: refused: 1 error, 2 warnings

`

exports[`test/cli/validate.test.ts > TAP > what programs see > must match snapshot 1`] = `
{
  "apiVersion": "kubelet-cfg-agent.io/v1alpha1",
  "kind": "ValidationReport",
  "candidate": "kubelet.yaml",
  "outcome": "refused",
  "parts": [
    {
      "part": "fields",
      "outcome": "refused",
      "detail": "read, but not as it should be"
    }
  ],
  "findings": [
    {
      "rule": "fields/value",
      "severity": "refuse",
      "reason": "validate",
      "path": "",
      "steps": [],
      "position": null,
      "problem": "kubeAPIQPS (--kube-api-qps) -1 must not be a negative number",
      "advice": null
    },
    {
      "rule": "fields/unknown-key",
      "severity": "warn",
      "reason": "load",
      "path": "maxPod",
      "steps": [
        "maxPod"
      ],
      "position": {
        "line": 3,
        "column": 1
      },
      "problem": "no kubelet knows this field: it is ignored",
      "advice": "the nearest known name is maxPods"
    },
    {
      "rule": "fields/repeated-key",
      "severity": "warn",
      "reason": "load",
      "path": "",
      "steps": [],
      "position": {
        "line": 6,
        "column": 1
      },
      "problem": "the same key again: the last one counts",
      "advice": null
    }
  ]
}

`
