/** The kubelet configs of the demo, each with the line that matters at its end. Pure. */

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration'

/** `healthzPort`: a real kubelet has 10248; here another one may run on that. */
export function podsConfig(healthzPort: number, maxPods: number): string {
  return `${HEAD}\nhealthzPort: ${healthzPort}\nmaxPods: ${maxPods}\n`
}

/** The example that upstream's own tests use. */
export const BROKEN_CONFIG = '{0xdeadbeef}\n'

/** Loads, validates, and ends every kubelet when it looks at this node. Preflight sees it coming. */
export function brickConfig(healthzPort: number): string {
  return `${HEAD}\nhealthzPort: ${healthzPort}\ncgroupsPerQOS: true\ncgroupRoot: /nope\n`
}

/** Passes every check, and ends every kubelet once it has met its container runtime. */
export function crashingConfig(healthzPort: number): string {
  return `${HEAD}\nhealthzPort: ${healthzPort}\nallowedUnsafeSysctls: [vm.nr_hugepages]\n`
}

export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
