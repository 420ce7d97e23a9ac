/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/settings/resolve-settings.test.ts > TAP > reports all problems at once, each with its place > must match snapshot 1`] = `
/etc/kubelet-cfg-agent/config.yaml: apiVersion must be kubelet-cfg-agent.io/v1alpha1
/etc/kubelet-cfg-agent/config.yaml: kind must be AgentConfiguration
/etc/kubelet-cfg-agent/config.yaml: restartsPerHour: must be a single value
/etc/kubelet-cfg-agent/config.yaml: keepCheckpoints: has no value: give one, or remove the line
/etc/kubelet-cfg-agent/config.yaml: x: unknown key; the nearest known one is adopt
--kubelet-unit: "kubelet" is not a service unit: the name must end in .service, as in kubelet.service
--crash-limit: 0 is out of range: from 1 to 100
KUBELET_CFG_AGENT_SPREAD: "2" has no unit: write a number with a unit, for example 10m, 1m30s or 250ms
KUBELET_CFG_AGENT_LOG_LEVEL: is empty: give a value, or leave it out to use the default
`
