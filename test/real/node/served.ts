// SPDX-License-Identifier: Apache-2.0
/**
 * A config that no rule refuses, and that a kubelet of today loads, with a file that is no
 * certificate: the kubelet that starts in the sandbox of preflight does not serve with it, and the
 * one of the node is not restarted.
 */
import { join } from 'node:path'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { DEPLOY } from '../rights/manifests.ts'
import { type Node, withNode } from './node.ts'

const SETTINGS = { TRIAL_DURATION: '2s', SPREAD: '0s', RESTARTS_PER_HOUR: '60' }
const NO_CERTIFICATE = { tlsCertFile: '/etc/hosts', tlsPrivateKeyFile: '/etc/hosts' }

export function addServedScenario(program: string): void {
  scenario('node: modern: a kubelet that could not serve is not restarted', (step) =>
    withModernPlane(step, (plane) =>
      withNode(plane, program, { name: 'served', settings: SETTINGS }, (node, admin) => play(step, plane, node, admin)),
    ),
  )
}

async function play(step: Step, plane: ControlPlane, node: Node, admin: Administrator): Promise<void> {
  await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac/node-configmaps.yaml')])
  const apply = (changes: object) => admin.applyConfigMap({ name: 'node-config', namespace: 'kube-system' }, node.config(changes))
  await step('a config is promoted', async () => {
    await apply({ maxPods: 51 })
    await admin.kubectl('label', 'node', node.name, `${CONFIG_LABEL}=node-config`)
    await admin.untilCondition({ status: 'True', reason: 'Promoted' })
  })
  await step('the next one names no certificate: it is refused, and kubelet runs on', () =>
    node.withoutRestart(async () => {
      await apply({ maxPods: 52, ...NO_CERTIFICATE })
      await admin.untilCondition({ status: 'False', reason: 'Refused', message: /tls: failed to find any PEM data/ })
      await node.untilRuns(51)
    }),
  )
}
