/** The part on real nodes by itself, while one works on it: `node --import tsx test/real/node/main.ts`, with words as `npm run test:real` takes. */
import { buildAgent } from '../agent.ts'
import { startControlPlane } from '../lab/control-plane.ts'
import { runScenarios } from '../lab/runner.ts'
import { addNodeScenarios } from './scenarios.ts'

const plane = await startControlPlane()
addNodeScenarios(plane, await buildAgent(plane.directory))
await runScenarios()
