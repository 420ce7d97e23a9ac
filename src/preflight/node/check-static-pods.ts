/**
 * Guards the static pods that run. Pure. Kubelet stops the static pods of a directory that its
 * config no longer names. It also replaces those whose manifest it finds in another directory: the
 * path is part of a static pod's hash (`applyDefaults`, pkg/kubelet/config/common.go), so that a
 * copy is another pod. On a control plane node they are etcd and the API server.
 */
import { posix } from 'node:path'
import type { NodeProblem, NodeView } from './node-view.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * The directory or file that the config leaves. undefined: none, or it is unknown. The base of a
 * relative path of the running config is unknown.
 */
export function leftManifests(view: NodeView): string | undefined {
  const before = view.running('staticPodPath')
  if (typeof before !== 'string' || !before.startsWith('/') || view.isUnknown('staticPodPath')) return undefined
  const after = view.resolve('staticPodPath')
  const isUnclear = after === undefined && view.text('staticPodPath') !== undefined
  return isUnclear || normal(before) === (after && normal(after)) ? undefined : normal(before)
}

export function checkStaticPods(view: NodeView, { manifests }: Surroundings): NodeProblem[] {
  const left = leftManifests(view)
  const count = left === undefined ? undefined : manifests.get(left)
  if (left === undefined || count === undefined || count === 0) return []
  const after = view.text('staticPodPath')
  const what = after === undefined ? 'staticPodPath is removed' : `${view.called('staticPodPath')} moves to ${after}`
  const holds = count === 1 ? `${left} holds a manifest` : `${left} holds ${count} manifests`
  return [
    {
      rule: 'guard/static-pods',
      severity: 'refuse',
      at: 'staticPodPath',
      problem: `${what}, but ${holds}: kubelet would ${after === undefined ? 'stop' : 'stop or replace'} these static pods`,
      advice: `keep staticPodPath: ${left}, or move the manifests away first`,
    },
  ]
}

/** Kubelet cleans the path before it hashes it. */
function normal(path: string): string {
  return posix.normalize(path).replace(/(.)\/$/, '$1')
}
