// SPDX-License-Identifier: Apache-2.0
/** Everything that is shown on a real systemd with a real kubelet. */
import type { ControlPlane } from '../lab/control-plane.ts'
import { modernKubeletMinor } from '../lab/node-choice.ts'
import { addAptScenario } from '../release/apt.ts'
import { addAnsibleScenarios } from './ansible.ts'
import { addAnsibleNodesScenario } from './ansible-nodes.ts'
import { addAnsibleRpmScenario } from './ansible-rpm.ts'
import { addNodeChannelScenarios } from './channels.ts'
import { addCloudInitScenarios } from './cloud-init.ts'
import { addComputedScenarios } from './computed.ts'
import { addConditionScenarios } from './condition.ts'
import { addCrashLoopScenarios } from './crash-loop.ts'
import { addEksScenario } from './eks.ts'
import { addFullDiskScenarios } from './full-disk.ts'
import { addHeldPortScenarios } from './held-ports.ts'
import { addInstallerImageScenarios } from './installer-image.ts'
import { addInterruptionScenarios } from './interruptions.ts'
import { addJudgeScenarios, addModernJudgeScenario } from './judge.ts'
import { addLeftDownScenarios } from './left-down.ts'
import { addLocalConfigScenarios } from './local-config.ts'
import { addManagerScenarios } from './managers.ts'
import { addNodeOutageScenarios } from './outage.ts'
import { addOverlayScenarios } from './overlay.ts'
import { addPaceScenarios } from './pace.ts'
import { addPackageScenarios } from './packages.ts'
import { addPartScenarios } from './part.ts'
import { addPreflightScenarios } from './preflight.ts'
import { addProofScenarios } from './proof/scenarios.ts'
import type { Age } from './proof/stage.ts'
import { addRebootScenarios } from './reboot.ts'
import { addNodeRolloutScenarios } from './rollout.ts'
import { addServedScenario } from './served.ts'
import { addSignalScenarios } from './signals.ts'
import { addSpelledOutScenarios } from './spelled-out.ts'
import { addTextfileScenarios } from './textfile.ts'
import { addNodeTransitionScenarios } from './transitions.ts'
import { addWorkflowScenarios } from './workflow.ts'

/**
 * @param plane whose nodes have the old kubelet, if there is one among `ages`
 * @param ages of the kubelets that there are for scenarios with a cluster of their own
 */
export async function addNodeScenarios(plane: ControlPlane, program: string, ages: readonly Age[]): Promise<void> {
  addWorkflowScenarios(plane, program)
  addConditionScenarios(plane, program)
  addCrashLoopScenarios(plane, program)
  addLeftDownScenarios(plane, program)
  addHeldPortScenarios(plane, program)
  addRebootScenarios(plane, program)
  addManagerScenarios(plane, program)
  addSignalScenarios(plane, program)
  addSpelledOutScenarios(plane, program)
  addFullDiskScenarios(plane, program)
  addNodeOutageScenarios(plane, program)
  addNodeTransitionScenarios(plane, program)
  addOverlayScenarios(plane, program)
  addPaceScenarios(plane, program)
  addPartScenarios(plane, program)
  addComputedScenarios(plane, program)
  addTextfileScenarios(plane, program)
  await addPackageScenarios(plane, program)
  await addAptScenario(plane, program)
  await addAnsibleScenarios(plane, program)
  await addAnsibleRpmScenario(plane, program)
  await addAnsibleNodesScenario(plane, program)
  await addCloudInitScenarios(plane, program)
  if (ages.includes('new')) await addEksScenario(program)
  addInterruptionScenarios(plane, program)
  addProofScenarios(program, ages)
  await addInstallerImageScenarios(plane, program)
  if (ages.includes('old')) {
    // These scenarios compare words of kubelet 1.20.
    addJudgeScenarios(plane, program)
    addPreflightScenarios(plane, program)
  }
}

/** Earlier kubelets find nothing in their deep stage. */
const FIRST_BESIDE_RUNTIME = 30

/** On an API server that drops `configSource`. */
export function addModernNodeScenarios(program: string): void {
  addNodeChannelScenarios(program)
  addLocalConfigScenarios(program)
  if (modernKubeletMinor() >= FIRST_BESIDE_RUNTIME) {
    addModernJudgeScenario(program)
    addServedScenario(program)
  }
  addNodeRolloutScenarios(program)
}
