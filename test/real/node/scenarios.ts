/** Everything that is shown on a real systemd with a real kubelet. */
import type { ControlPlane } from '../lab/control-plane.ts'
import { addNodeChannelScenarios } from './channels.ts'
import { addConditionScenarios } from './condition.ts'
import { addCrashLoopScenarios } from './crash-loop.ts'
import { addFullDiskScenarios } from './full-disk.ts'
import { addInterruptionScenarios } from './interruptions.ts'
import { addJudgeScenarios } from './judge.ts'
import { addNodeOutageScenarios } from './outage.ts'
import { addOverlayScenarios } from './overlay.ts'
import { addPackageScenarios } from './packages.ts'
import { addPreflightScenarios } from './preflight.ts'
import { addProofScenarios } from './proof/scenarios.ts'
import { addRebootScenarios } from './reboot.ts'
import { addNodeRolloutScenarios } from './rollout.ts'
import { addSpelledOutScenarios } from './spelled-out.ts'
import { addNodeTransitionScenarios } from './transitions.ts'
import { addWorkflowScenarios } from './workflow.ts'

/** @param withModern whether there are an API server and a kubelet of today */
export async function addNodeScenarios(plane: ControlPlane, program: string, withModern: boolean): Promise<void> {
  addWorkflowScenarios(plane, program)
  addConditionScenarios(plane, program)
  addCrashLoopScenarios(plane, program)
  addJudgeScenarios(plane, program)
  addPreflightScenarios(plane, program)
  addRebootScenarios(plane, program)
  addSpelledOutScenarios(plane, program)
  addFullDiskScenarios(plane, program)
  addNodeOutageScenarios(plane, program)
  addNodeTransitionScenarios(plane, program)
  addOverlayScenarios(plane, program)
  addNodeChannelScenarios(program)
  addNodeRolloutScenarios(program, withModern)
  await addPackageScenarios(plane, program)
  addInterruptionScenarios(plane, program)
  addProofScenarios(program, withModern)
}
