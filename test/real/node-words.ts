// SPDX-License-Identifier: Apache-2.0
/**
 * The words that people write on a Node and read from it, as the README has them and not the
 * agent's own code.
 */
export const GUARDED_PREFIX = 'kubelet-cfg-agent.node-restriction.kubernetes.io'
export const CONFIG_LABEL = `${GUARDED_PREFIX}/config`
export const CONFIG_SOURCE_ANNOTATION = 'kubelet-cfg-agent.io/config-source'
export const PAUSED_ANNOTATION = 'kubelet-cfg-agent.io/paused'
export const STATUS_ANNOTATION = 'kubelet-cfg-agent.io/status'
