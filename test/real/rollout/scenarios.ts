// SPDX-License-Identifier: Apache-2.0
/**
 * Rollouts on real processes: a real kube-apiserver, and the shipped agent on each node of a fleet,
 * with an identity of its own. On the API server of today with the policy of
 * deploy/admission/rollout.yaml; on 1.20.2, which has no policies, what shows that it works there.
 */
import { join } from 'node:path'
import type { ControlPlane } from '../lab/control-plane.ts'
import { scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { openPlugin } from '../plugin.ts'
import { DEPLOY, readManifests } from '../rights/manifests.ts'
import { withFleet } from './fleet.ts'
import { playGuard } from './guard.ts'
import { playCanary, playControlPlanes } from './small-fleets.ts'
import { playTwenty } from './twenty.ts'
import { playZones } from './zones.ts'

const TIMEOUT = { timeoutMs: 40 * 60_000 }
/** As deploy/rbac names it. */
const CONFIG = 'node-config'
const CONTROL_PLANES = 'control-plane-config'

export function addRolloutScenarios(program: string, hasModernPlane: boolean): void {
  scenario(
    'rollout: twenty nodes, on an API server without policies',
    (step) =>
      withModernPlane(
        step,
        async (plane) => {
          await grant(plane, { policy: false })
          await withFleet(plane, program, CONFIG, (fleet) => playTwenty(step, fleet, { isWhole: !hasModernPlane }))
        },
        { release: 'old' },
      ),
    TIMEOUT,
  )
  if (!hasModernPlane) return
  scenario(
    'rollout: twenty nodes, on an API server of today with the policy',
    (step) =>
      withModernPlane(step, async (plane) => {
        await grant(plane, { policy: true })
        await withFleet(plane, program, CONFIG, (fleet) => playTwenty(step, fleet, { isWhole: true }))
      }),
    TIMEOUT,
  )
  scenario(
    'rollout: a canary that dies in its trial, and three control planes with a config of their own',
    (step) =>
      withModernPlane(step, async (plane) => {
        await grant(plane, { policy: true })
        await grantAlso(plane, CONTROL_PLANES)
        const fleets = await Promise.allSettled([
          withFleet(plane, program, CONFIG, (fleet) => playCanary(step, fleet)),
          withFleet(plane, program, CONTROL_PLANES, (fleet) => playControlPlanes(step, fleet)),
        ])
        for (const fleet of fleets) if (fleet.status === 'rejected') throw fleet.reason
      }),
    TIMEOUT,
  )
  scenario(
    'rollout: a node that is hurt, and the Job that halts the rollout for that',
    (step) =>
      withModernPlane(step, async (plane) => {
        await grant(plane, { policy: true })
        await withFleet(plane, program, CONFIG, (fleet) => playGuard(step, fleet, program))
      }),
    TIMEOUT,
  )
  scenario(
    'rollout: twenty nodes in two zones, a window, and a wave that is halted',
    (step) =>
      withModernPlane(step, async (plane) => {
        await grant(plane, { policy: true })
        const plugin = await openPlugin(plane, program)
        await withFleet(plane, program, CONFIG, (fleet) => playZones(step, fleet, plugin))
      }),
    TIMEOUT,
  )
}

const filesWith = (policy: boolean): readonly string[] => [
  'rbac/node-configmaps.yaml',
  'rbac/rollout.yaml',
  ...(policy ? ['admission/rollout.yaml'] : []),
]

async function grant(plane: ControlPlane, { policy }: { readonly policy: boolean }): Promise<void> {
  for (const file of filesWith(policy)) await plane.kubectl(['apply', '-f', join(DEPLOY, file)])
}

/** The same for one more config, as the files say: with its name and that of its record in them. */
async function grantAlso(plane: ControlPlane, config: string): Promise<void> {
  const items = filesWith(true)
    .flatMap(readManifests)
    .filter(({ kind }) => kind !== 'ValidatingAdmissionPolicy')
    .map(({ metadata, roleRef, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, name: `${metadata.name}-${config}` },
      ...(roleRef && { roleRef: { ...roleRef, name: `${roleRef.name}-${config}` } }),
    }))
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const renamed = text.replaceAll(`"${CONFIG}-rollout"`, `"${config}-rollout"`).replaceAll(`"${CONFIG}"`, `"${config}"`)
  await plane.kubectl(['apply', '-f', '-'], { input: renamed })
}
