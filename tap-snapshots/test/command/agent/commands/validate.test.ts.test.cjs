/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/command/agent/commands/validate.test.ts > TAP > prints findings for people > accepted 1`] = `
fields   accepted     1 field checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available
kubelet.yaml: accepted, not checked by kubelet

`

exports[`test/command/agent/commands/validate.test.ts > TAP > prints findings for people > in colour 1`] = `
[1mx:4:1:[0m [31merror:[0m kubeAPIQPS (--kube-api-qps) -1 must not be a negative number [2m[fields/range][0m
[2m   4 | [0mkubeAPIQPS: -1
[2m     | [0m[1m^~~~~~~~~~[0m

[1mx:3:1:[0m [33mwarning:[0m unknown field maxPod: kubelet ignores it [2m[fields/unknown-key][0m
[2m   3 | [0mmaxPod: 110
[2m     | [0m[1m^~~~~~[0m
     = did you mean maxPods?

[1mx:6:1:[0m [33mwarning:[0m duplicate key maxPods; the last one counts [2m[fields/repeated-key][0m
[2m   6 | [0mmaxPods: 65
[2m     | [0m[1m^~~~~~~[0m
     = keep only one of them

fields   [31mrefused[0m      5 fields checked against the rules of every kubelet version
kubelet  [33mnot checked[0m  no kubelet is available
x: [31mrefused[0m: 1 error, 2 warnings

`

exports[`test/command/agent/commands/validate.test.ts > TAP > prints findings for people > not YAML 1`] = `
kubelet.yaml:2:1: error: Flow sequence in block collection must be sufficiently indented and end with a ] [fields/load]
   2 |
     | ^

source  refused  Flow sequence in block collection must be sufficiently indented and end with a ]
kubelet.yaml: refused: 1 error

`

exports[`test/command/agent/commands/validate.test.ts > TAP > prints findings for people > refused 1`] = `
kubelet.yaml:4:1: error: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number [fields/range]
   4 | kubeAPIQPS: -1
     | ^~~~~~~~~~

kubelet.yaml:3:1: warning: unknown field maxPod: kubelet ignores it [fields/unknown-key]
   3 | maxPod: 110
     | ^~~~~~
     = did you mean maxPods?

kubelet.yaml:6:1: warning: duplicate key maxPods; the last one counts [fields/repeated-key]
   6 | maxPods: 65
     | ^~~~~~~
     = keep only one of them

fields   refused      5 fields checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available
kubelet.yaml: refused: 1 error, 2 warnings

`

exports[`test/command/agent/commands/validate.test.ts > TAP > prints JSON and SARIF for programs > must match snapshot 1`] = `
{
  "apiVersion": "kubelet-cfg-agent.io/v1alpha1",
  "kind": "ValidationReport",
  "candidate": "kubelet.yaml",
  "outcome": "refused",
  "parts": [
    {
      "part": "fields",
      "outcome": "refused",
      "detail": "5 fields checked against the rules of every kubelet version"
    },
    {
      "part": "kubelet",
      "outcome": "unjudged",
      "detail": "no kubelet is available"
    }
  ],
  "findings": [
    {
      "rule": "fields/range",
      "severity": "refuse",
      "reason": "validate",
      "path": "kubeAPIQPS",
      "steps": [
        "kubeAPIQPS"
      ],
      "position": {
        "line": 4,
        "column": 1
      },
      "problem": "kubeAPIQPS (--kube-api-qps) -1 must not be a negative number",
      "advice": null
    },
    {
      "rule": "fields/unknown-key",
      "severity": "warn",
      "reason": "validate",
      "path": "maxPod",
      "steps": [
        "maxPod"
      ],
      "position": {
        "line": 3,
        "column": 1
      },
      "problem": "unknown field maxPod: kubelet ignores it",
      "advice": "did you mean maxPods?"
    },
    {
      "rule": "fields/repeated-key",
      "severity": "warn",
      "reason": "load",
      "path": "maxPods",
      "steps": [
        "maxPods"
      ],
      "position": {
        "line": 6,
        "column": 1
      },
      "problem": "duplicate key maxPods; the last one counts",
      "advice": "keep only one of them"
    }
  ],
  "layers": [],
  "fields": []
}

`

exports[`test/command/agent/commands/validate.test.ts > TAP > shows which layer each field of a merged config comes from > must match snapshot 1`] = `
kubelet.yaml over local:5:5: error: evictionHard.a: unsupported eviction signal "a" [fields/value]
   5 |     "a": "1"
     |     ^~~
     = from /var/lib/kubelet/config.yaml

kubelet.yaml over local:9:5: warning: featureGates.A: unrecognized feature gate: A [fields/gate-unknown]
   9 |     "A": true
     |     ^~~
     = from kubelet.yaml

Merged from, the lowest first:
  /var/lib/kubelet/config.yaml
    all other fields
  kubelet.yaml
    evictionHard["nodefs.available"] (removed), featureGates.A
  /etc/kubelet.d/50.conf
    maxPods, readOnlyPort

fields   refused      3 fields checked against the rules of every kubelet version
kubelet  not checked  no kubelet is available
kubelet.yaml over local: refused: 1 error, 1 warning

`
