/**
 * The agent as it is shipped, on a real kube-apiserver 1.20.2, driven by real kubectl commands:
 * `npm run test:real`, or with words to run only the scenarios that have all of them in their name
 * (`npm run test:real -- node: reboot`); `'one|two'` stands for either, and `'!word'` for those
 * that have it not. Those called `node:` have a real systemd and a real kubelet too, the others a
 * simulated one. Those called `proof:` say what a trial proves. Without words they run in lanes, a
 * few of them side by side, and a proof runs on kubelet 1.20 only where that differs; all proofs on
 * both kubelets are `npm run test:real -- proof:`. Prints each step with the time it took, and ends
 * with `N passed, N failed`. Whatever it started ends with it.
 */
import { buildAgent } from './agent.ts'
import { addCommandLineScenarios } from './command-line.ts'
import { addCrashLoopScenarios } from './crash-loop.ts'
import { addEditScenarios } from './edits.ts'
import { addHostileScenarios } from './hostile.ts'
import { addInterruptionScenarios } from './interruptions.ts'
import { addKubeletTroubleScenarios } from './kubelet-trouble.ts'
import { ensureModernKubernetes, whyNoModernKubernetes } from './lab/build-modern-kubernetes.ts'
import { startControlPlane } from './lab/control-plane.ts'
import { runLanes } from './lab/lanes.ts'
import { makeScratch } from './lab/processes.ts'
import { runScenarios } from './lab/runner.ts'
import { chooseLanes } from './lane-plan.ts'
import { addModernChannelScenarios } from './modern-channels.ts'
import { addModernServerScenarios } from './modern-server.ts'
import { addModernStatusScenarios } from './modern-status.ts'
import { addProofScenarios } from './node/proof/scenarios.ts'
import { addNodeScenarios } from './node/scenarios.ts'
import { addOutageScenarios } from './outage.ts'
import { addCorpusScenarios } from './preflight-corpus.ts'
import { addAdmissionScenarios } from './rights/admission.ts'
import { addNodeIdentityScenarios } from './rights/node-identity.ts'
import { addOperatorScenarios } from './rights/operator.ts'
import { addRolloutAgentScenarios, addRolloutWholeScenarios } from './rights/rollout-agents.ts'
import { addRolloutPolicyScenarios } from './rights/rollout-policy.ts'
import { addRolloutFleetScenarios, addRolloutRightsScenarios } from './rights/rollout-rights.ts'
import { addServiceAccountScenarios } from './rights/serviceaccount.ts'
import { addRolloutScenarios } from './rollout/scenarios.ts'
import { addTransitionScenarios } from './transitions.ts'

const missing = await whyNoModernKubernetes()
const words = process.argv.slice(2)
const lanes = chooseLanes(words, missing === undefined)
if (lanes !== undefined) {
  // Before the lanes: a build beside them would slow what they time.
  if (missing === undefined) await ensureModernKubernetes()
  await runLanes(import.meta.filename, lanes)
}
if (words.some((word) => word.startsWith('proof:'))) {
  // Each has a cluster of its own, and the one that the others share would cost its time.
  addProofScenarios(await buildAgent(makeScratch()), missing === undefined)
  await runScenarios()
}
const plane = await startControlPlane()
const program = await buildAgent(plane.directory)
addTransitionScenarios(plane, program)
addEditScenarios(plane, program)
addCrashLoopScenarios(plane, program)
addKubeletTroubleScenarios(plane, program)
addCommandLineScenarios(plane, program)
addHostileScenarios(plane, program)
addInterruptionScenarios(plane, program)
addOutageScenarios(plane, program)
addModernServerScenarios(program)
addCorpusScenarios(plane)
addModernChannelScenarios(program)
addModernStatusScenarios(program)
addNodeIdentityScenarios(program)
addServiceAccountScenarios(program)
addOperatorScenarios()
addRolloutRightsScenarios()
addRolloutAgentScenarios(program)
if (missing === undefined) {
  addAdmissionScenarios(program)
  addRolloutPolicyScenarios()
  addRolloutFleetScenarios()
  addRolloutWholeScenarios(program)
} else console.log(`the scenarios on an API server of this time are left out: ${missing}`)
addRolloutScenarios(program, missing === undefined)
await addNodeScenarios(plane, program, missing === undefined)
await runScenarios()
