/** What a trial proves, and what it condemns nothing for. */
import { addConfigzScenarios } from '../configz.ts'
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

/**
 * The long ones first: the lanes end together.
 * @param withModern whether there are an API server and a kubelet of today
 */
export function addProofScenarios(program: string, withModern: boolean): void {
  const ages: readonly Age[] = withModern ? ['old', 'new'] : ['old']
  addFaultScenarios(program, ages)
  addStaticPodScenarios(program, ages)
  addCutOffScenarios(program, ages)
  addServingScenarios(program, ages)
  addCrashLoopProofs(program, ages)
  addHungScenarios(program, ages)
  addNotifyScenarios(program, ages)
  addLostDirectoryScenarios(program, ages)
  addRefusalScenarios(program, ages)
  if (withModern) addConfigzScenarios(program)
}
