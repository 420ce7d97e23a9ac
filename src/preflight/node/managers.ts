/**
 * Whether kubelet has its CPU manager and its memory manager at all, which hangs on feature gates. Pure. Source: pkg/features/kube_features.go: CPUManager was
 * on from 1.10 and locked in 1.26; MemoryManager came off in 1.21, was on from 1.22 and locked in 1.32.
 */
import type { NodeView } from './node-view.ts'

export function usesCpuManager(view: NodeView): boolean {
  return view.gate('CPUManager') !== false
}

/** `maybe`: the version is not known. */
export function usesMemoryManager(view: NodeView): 'yes' | 'no' | 'maybe' {
  const { minor } = view
  const gate = view.gate('MemoryManager')
  if (gate === false) return 'no'
  if (minor === undefined) return 'maybe'
  return minor >= 22 || (minor === 21 && gate === true) ? 'yes' : 'no'
}

/** Where kubelet keeps what its managers have handed out. */
export function stateFile(view: NodeView, name: 'cpu_manager_state' | 'memory_manager_state'): string | undefined {
  const root = view.flag('root-dir') ?? '/var/lib/kubelet'
  return root.startsWith('/') ? `${root.replace(/\/+$/, '')}/${name}` : undefined
}
