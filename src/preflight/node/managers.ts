/**
 * Whether kubelet uses its CPU manager and its memory manager, which depends on feature gates.
 * Pure. Source: pkg/features/kube_features.go: CPUManager is on by default since 1.10 and locked
 * since 1.26; MemoryManager came with 1.21, off by default, is on since 1.22 and locked since 1.32.
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

/** The file in which a manager keeps its assignments. */
export function stateFile(view: NodeView, name: 'cpu_manager_state' | 'memory_manager_state'): string | undefined {
  const root = view.flag('root-dir') ?? '/var/lib/kubelet'
  return root.startsWith('/') ? `${root.replace(/\/+$/, '')}/${name}` : undefined
}
