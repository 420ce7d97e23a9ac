// SPDX-License-Identifier: Apache-2.0
/**
 * The agent as it is shipped, on a real kube-apiserver, driven by real kubectl commands:
 * `npm run test:real`, or with words to run only the scenarios that have all of them in their name
 * (`npm run test:real -- node: reboot`); `--help` has the rest. Those called `node:` have a real
 * systemd and a real kubelet too, the others a simulated one. Those called `proof:` say what a
 * trial proves. Without words they run in lanes, a few of them side by side, and a proof runs on
 * kubelet 1.20 only where that differs; all proofs on both kubelets are `npm run test:real --
 * proof:`. With `--kubelet` those called `node:` run on that kubelet alone. Prints each step with
 * the time it took, and ends with `N passed, N failed`. Whatever it started ends with it.
 */
import { buildAgent, buildAgentForLanes } from './agent.ts'
import { addChartScenarios } from './chart/scenarios.ts'
import { addCommandLineScenarios } from './command-line.ts'
import { addCrashLoopScenarios } from './crash-loop.ts'
import { addEditScenarios } from './edits.ts'
import { addHostileScenarios } from './hostile.ts'
import { addInterruptionScenarios } from './interruptions.ts'
import { readInvocationOrExit } from './invocation.ts'
import { addKubeletTroubleScenarios } from './kubelet-trouble.ts'
import { ensureBinaries } from './lab/build.ts'
import { ensureModernKubernetes, isGiven, whyNoModernKubernetes } from './lab/build-modern-kubernetes.ts'
import { startControlPlane } from './lab/control-plane.ts'
import { runLanes } from './lab/lanes.ts'
import { modernKubeletMinor, OLD_MINOR } from './lab/node-choice.ts'
import { makeScratch } from './lab/processes.ts'
import { runScenarios } from './lab/runner.ts'
import { chooseLanes, needNoSharedCluster } from './lane-plan.ts'
import { addModernChannelScenarios } from './modern-channels.ts'
import { startModernPlane } from './modern-plane.ts'
import { addModernServerScenarios } from './modern-server.ts'
import { addModernStatusScenarios } from './modern-status.ts'
import { addProofScenarios } from './node/proof/scenarios.ts'
import type { Age } from './node/proof/stage.ts'
import { addModernNodeScenarios, addNodeScenarios } from './node/scenarios.ts'
import { addOutageScenarios } from './outage.ts'
import { addPluginScenarios } from './plugin.ts'
import { addCorpusScenarios, addLaterCorpusScenarios } from './preflight-corpus.ts'
import { addRecipeScenarios } from './recipes.ts'
import { addRealPackagesScenario } from './release/real-packages.ts'
import { addYumScenario } from './release/yum.ts'
import { addAdmissionScenarios } from './rights/admission.ts'
import { addNodeIdentityScenarios } from './rights/node-identity.ts'
import { addOperatorScenarios } from './rights/operator.ts'
import { addRolloutAgentScenarios, addRolloutWholeScenarios } from './rights/rollout-agents.ts'
import { addRolloutPlanScenarios } from './rights/rollout-plans.ts'
import { addRolloutPolicyScenarios } from './rights/rollout-policy.ts'
import { addRolloutFleetScenarios, addRolloutRightsScenarios } from './rights/rollout-rights.ts'
import { addServiceAccountScenarios } from './rights/serviceaccount.ts'
import { addRolloutScenarios } from './rollout/scenarios.ts'
import { addTransitionScenarios } from './transitions.ts'
import { addYamlScenario } from './yaml/scenario.ts'

const { words, kubeletMinor } = readInvocationOrExit(process.argv.slice(2))
const missing = await whyNoModernKubernetes()
const lanes = chooseLanes(words, missing === undefined, kubeletMinor, !isGiven())
if (lanes !== undefined) {
  // Before the lanes: a build beside them would slow what they time.
  if (missing === undefined) await ensureModernKubernetes(modernKubeletMinor())
  await buildAgentForLanes(makeScratch())
  await runLanes(import.meta.filename, lanes)
}
const program = await buildAgent(makeScratch())
const ages: readonly Age[] = missing === undefined ? ['old', 'new'] : ['old']
if (kubeletMinor !== undefined) await runOnKubelet(kubeletMinor)
if (words.some((word) => word.startsWith('proof:'))) {
  addProofScenarios(program, ages)
  await runScenarios(words)
}
if (needNoSharedCluster(words)) {
  await addScenariosOfOwnClusters()
  await runScenarios(words)
}
const plane = await startControlPlane()
addTransitionScenarios(plane, program)
addEditScenarios(plane, program)
addCrashLoopScenarios(plane, program)
addKubeletTroubleScenarios(plane, program)
addCommandLineScenarios(plane, program)
addHostileScenarios(plane, program)
addInterruptionScenarios(plane, program)
addOutageScenarios(plane, program)
await addScenariosOfOwnClusters()
await addNodeScenarios(plane, program, ages)
addModernNodeScenarios(program)
await runScenarios(words)

/** Each starts the cluster that it needs, or needs none. */
async function addScenariosOfOwnClusters(): Promise<void> {
  addCorpusScenarios(await ensureBinaries())
  addYamlScenario()
  addModernServerScenarios(program)
  addModernChannelScenarios(program)
  addModernStatusScenarios(program)
  addPluginScenarios(program)
  addRecipeScenarios(program)
  await addYumScenario()
  await addRealPackagesScenario()
  addNodeIdentityScenarios(program)
  addServiceAccountScenarios(program)
  addOperatorScenarios()
  addRolloutRightsScenarios()
  addRolloutAgentScenarios(program)
  if (missing === undefined) {
    addAdmissionScenarios(program)
    addChartScenarios()
    addRolloutPolicyScenarios()
    addRolloutPlanScenarios()
    addRolloutFleetScenarios()
    addRolloutWholeScenarios(program)
  } else console.log(`the scenarios on an API server of this time are left out: ${missing}`)
  addRolloutScenarios(program, missing === undefined)
}

/** Everything with a real kubelet, on this one alone. */
async function runOnKubelet(minor: number): Promise<never> {
  if (minor === OLD_MINOR) addCorpusScenarios(await ensureBinaries())
  else addLaterCorpusScenarios(await ensureModernKubernetes(minor), minor)
  if (needNoSharedCluster(words)) return runScenarios(words)
  const plane = minor === OLD_MINOR ? await startControlPlane() : await startModernPlane()
  await addNodeScenarios(plane, program, [minor === OLD_MINOR ? 'old' : 'new'])
  if (minor !== OLD_MINOR) addModernNodeScenarios(program)
  return runScenarios(words)
}
