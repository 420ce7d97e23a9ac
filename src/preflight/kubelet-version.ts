/** Kubelet's version, as `kubelet --version` prints it. Pure. */

export interface KubeletVersion {
  readonly major: number
  readonly minor: number
  readonly patch: number
}

/** Accepts `Kubernetes v1.20.2`, `v1.27.3+k3s1`, `1.30`. undefined: not a version. */
export function parseVersion(text: string): KubeletVersion | undefined {
  const [, major, minor, patch = '0'] = /(?:^|\sv?|^v)(\d{1,3})\.(\d{1,3})(?:\.(\d{1,4}))?(?:[-+.\s]|$)/.exec(text.trim()) ?? []
  if (major === undefined || minor === undefined) return undefined
  return { major: Number(major), minor: Number(minor), patch: Number(patch) }
}

export function formatVersion({ major, minor, patch }: KubeletVersion): string {
  return `${major}.${minor}.${patch}`
}
