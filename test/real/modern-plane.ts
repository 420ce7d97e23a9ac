/** An API server that drops configSource, for as long as a scenario needs it. */
import { type ControlPlane, startControlPlane } from './lab/control-plane.ts'
import type { Step } from './lab/runner.ts'
import type { ApiserverOptions } from './lab/servers.ts'

export async function withModernPlane(
  step: Step,
  work: (plane: ControlPlane) => Promise<void>,
  options: ApiserverOptions = {},
): Promise<void> {
  const plane = await step('an API server that drops configSource', () => startControlPlane({ dynamicKubeletConfig: false, ...options }))
  try {
    await work(plane)
  } finally {
    await plane.stop()
  }
}
