// SPDX-License-Identifier: Apache-2.0
/** The kubelet configs of the demo; the last line of each is the one that matters. Pure. */
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration'

/** @param healthzPort not kubelet's default 10248, which a real kubelet may use here */
export function podsConfig(healthzPort: number, maxPods: number): string {
  return `${HEAD}\nhealthzPort: ${healthzPort}\nmaxPods: ${maxPods}\n`
}

/** A config that nodes share names no port: each node's overlay does. */
export function sharedConfig(maxPods: number): string {
  return `${HEAD}\nmaxPods: ${maxPods}\n`
}

export function portOverlay(healthzPort: number): string {
  return `healthzPort: ${healthzPort}\n`
}

/** The example that upstream's own tests use. */
export const BROKEN_CONFIG = '{0xdeadbeef}\n'

/** Valid, but kubelet exits on this node. Preflight detects it. */
export function brickConfig(healthzPort: number): string {
  return `${HEAD}\nhealthzPort: ${healthzPort}\ncgroupsPerQOS: true\ncgroupRoot: /nope\n`
}

/** `us` in place of `m`: passes every check, but no container runtime answers in that time. */
const CRASHING = 'runtimeRequestTimeout: 2us'

export function crashingConfig(healthzPort: number): string {
  return `${HEAD}\nhealthzPort: ${healthzPort}\n${CRASHING}\n`
}

export const SHARED_CRASHING_CONFIG = `${HEAD}\n${CRASHING}\n`

export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
