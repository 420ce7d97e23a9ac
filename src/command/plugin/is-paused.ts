/** Whether a ConfigMap pauses the nodes that it is assigned to, as agents read it. Pure. */
import { readPause } from '../../source/channels/paused-annotation.ts'

export function isPaused(annotations: Readonly<Record<string, string>>): boolean {
  return readPause({ labels: {}, annotations }, 'ConfigMap', '') !== undefined
}
