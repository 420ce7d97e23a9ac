// SPDX-License-Identifier: Apache-2.0
/** The evidence by which a trial proves a config, and the troubles for which it condemns none. */
import { NEWEST_MINOR } from '../../lab/build-modern-kubernetes.ts'
import { modernKubeletMinor } from '../../lab/node-choice.ts'
import { addConfigzScenarios } from '../configz.ts'
import { addDropInScenarios } from '../drop-in.ts'
import { addK3sScenarios } from '../k3s.ts'
import { addKubeadmEndpointScenarios } from '../kubeadm-endpoint.ts'
import { addKubeadmUpgradeScenarios } from '../kubeadm-upgrade.ts'
import { addOtherTransitionScenarios } from '../transitions.ts'
import { addUpgradeScenarios } from '../upgrade.ts'
import { addCrashLoopProofs } from './crash-loop.ts'
import { addCutOffScenarios } from './cut-off.ts'
import { addFaultScenarios } from './faults.ts'
import { addHungScenarios } from './hung.ts'
import { addLostDirectoryScenarios } from './lost-directory.ts'
import { addNotifyScenarios } from './notify.ts'
import { addRefusalScenarios } from './refusal.ts'
import { addServingScenarios } from './serving.ts'
import type { Age } from './stage.ts'
import { addStaticPodScenarios } from './static-pods.ts'

/** The long ones first: the lanes end together. */
export function addProofScenarios(program: string, ages: readonly Age[]): void {
  addFaultScenarios(program, ages)
  addStaticPodScenarios(program, ages)
  addCutOffScenarios(program, ages)
  addServingScenarios(program, ages)
  addCrashLoopProofs(program, ages)
  addHungScenarios(program, ages)
  addNotifyScenarios(program, ages)
  addLostDirectoryScenarios(program, ages)
  addRefusalScenarios(program, ages)
  if (!ages.includes('new')) return
  const minor = modernKubeletMinor()
  for (const { since, add } of OF_LATER_KUBELETS) if (minor >= since) add(program)
}

/** By the first minor version of kubelet that has what they show. */
const OF_LATER_KUBELETS: readonly { readonly since: number; readonly add: (program: string) => void }[] = [
  // The right nodes/configz (KEP-2862).
  { since: 33, add: addConfigzScenarios },
  // The activation kind asks for it.
  { since: 32, add: addDropInScenarios },
  { since: 32, add: addOtherTransitionScenarios },
  { since: 32, add: addK3sScenarios },
  // The field failCgroupV1, without which the newest kubelet does not start on every machine.
  { since: 31, add: addUpgradeScenarios },
  // The field containerRuntimeEndpoint.
  { since: 27, add: addKubeadmEndpointScenarios },
  // kubeadm takes a kubelet that is at most three minor versions older.
  { since: NEWEST_MINOR - 3, add: addKubeadmUpgradeScenarios },
]
