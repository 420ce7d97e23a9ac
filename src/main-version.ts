/** The version of this program, as the build sets it. */

declare const KUBELET_CFG_AGENT_VERSION: string | undefined

/** The placeholder is for a program that runs from source. */
export const VERSION = typeof KUBELET_CFG_AGENT_VERSION === 'string' ? KUBELET_CFG_AGENT_VERSION : '0.0.0-dev'
