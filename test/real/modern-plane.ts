// SPDX-License-Identifier: Apache-2.0
/** API servers that drop configSource: of today, unless a scenario asks for the old one. */
import { type ControlPlane, startControlPlane } from './lab/control-plane.ts'
import type { Step } from './lab/runner.ts'
import type { ApiserverOptions } from './lab/servers.ts'

/** One in which nodes may read what an administrator assigns to them by the annotation. */
export async function startModernPlane(): Promise<ControlPlane> {
  const plane = await startControlPlane({ release: 'new' })
  const name = 'nodes-read-configmaps'
  await plane.kubectl(['-n', 'kube-system', 'create', 'role', name, '--verb=get,list,watch', '--resource=configmaps'])
  await plane.kubectl(['-n', 'kube-system', 'create', 'rolebinding', name, `--role=${name}`, '--group=system:nodes'])
  return plane
}

/** For as long as a scenario needs it. */
export async function withModernPlane(
  step: Step,
  work: (plane: ControlPlane) => Promise<void>,
  options: ApiserverOptions = {},
): Promise<void> {
  const plane = await step('an API server that drops configSource', () =>
    startControlPlane({ dynamicKubeletConfig: false, release: 'new', ...options }),
  )
  try {
    await work(plane)
  } finally {
    await plane.stop()
  }
}
