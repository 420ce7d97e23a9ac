/** Everything that is shown on a real systemd with a real kubelet. */
import type { ControlPlane } from '../lab/control-plane.ts'
import { addWorkflowScenarios } from './workflow.ts'

export function addNodeScenarios(plane: ControlPlane, program: string): void {
  addWorkflowScenarios(plane, program)
}
