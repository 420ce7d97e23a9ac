// SPDX-License-Identifier: Apache-2.0
/**
 * Another policy of kubelet's CPU manager, and back, on a real node: the unit sets aside the state
 * file of the former one before each start of kubelet, whoever starts it and whatever is lost.
 * Kubelet never meets a file with which it does not start.
 */
import { strict as assert } from 'node:assert'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { assignNew, promoteGood } from './assign.ts'
import { type Node, withNode } from './node.ts'

const NAME = 'managers'
const ROOT = '/var/lib/kubelet'
const STATE = 'cpu_manager_state'
const STATIC = { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' }
/** Without an image, it never runs: that it is there is enough. */
const PINNED_POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'managers-pinned',
    namespace: 'kube-system',
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'pinned', uid: '3f2b6f0e-0000-4000-8000-00000000000d', controller: true },
    ],
  },
  spec: {
    nodeName: NAME,
    hostNetwork: true,
    containers: [{ name: 'app', image: 'localhost/none:1', resources: { limits: { cpu: '1', memory: '64Mi' } } }],
    tolerations: [{ operator: 'Exists' }],
  },
}
/** Until the agent asks whether the node is cordoned: a minute and a quarter, and then a look. */
const CORDON_SEEN_MS = 90_000

export function addManagerScenarios(plane: ControlPlane, program: string): void {
  // No pod of this node has CPUs to lose.
  const settings = { TRIAL_DURATION: '1s', SPREAD: '0s', RESTARTS_PER_HOUR: '60', REQUIRE_DRAIN: Object.keys(STATIC).join() }
  scenario('node: the CPU manager gets another policy, and its former one again', (step) =>
    withNode(plane, program, { name: NAME, settings }, async (node, admin) => {
      const good = await step('a config with the policy none is promoted, and nothing is judged before a start', async () => {
        const source = await promoteGood(node, admin)
        await untilPolicy(node, 'none')
        assert.equal(isJudged(node), false)
        return source
      })
      const pinned = await step('static waits for a drained node', () =>
        node.withoutRestart(async () => {
          const source = await assignNew(node, admin, 'static', { maxPods: 52, ...STATIC })
          await node.untilSays(/^drain: .* waits until the node is drained: it changes cpuManagerPolicy, reservedSystemCPUs$/)
          await admin.untilStatus({ assigned: source, active: good, lastKnownGood: good })
          return source
        }),
      )
      await step('then for a pod of a DaemonSet that has a CPU of its own, and names it', () =>
        node.withoutRestart(async () => {
          await admin.create(PINNED_POD)
          await admin.kubectl('cordon', NAME)
          const waiting =
            /^drain: .* waits until no pod has CPUs, memory or devices to lose: it changes .*; pod kube-system\/managers-pinned is /
          await node.untilSays(waiting, 1, CORDON_SEEN_MS)
        }),
      )
      await step('once it is gone, kubelet starts with static, and the state of none is set aside', async () => {
        await admin.kubectl('-n', 'kube-system', 'delete', 'pod', 'managers-pinned', '--grace-period=0', '--force')
        await admin.untilStatus({ assigned: pinned, active: pinned, lastKnownGood: pinned }, CORDON_SEEN_MS + 60_000)
        await isAt(node, 'static', ['none'])
      })
      await step('a start without the agent and without /run leaves the state as it is', async () => {
        await node.systemctl('stop', 'kubelet-cfg-agent')
        await node.exec('rm', '-r', '/run/kubelet-cfg-agent')
        await node.systemctl('restart', 'kubelet')
        await node.untilHealthy()
        await isAt(node, 'static', ['none'])
      })
      await step('so does a reboot', async () => {
        await node.systemctl('disable', 'kubelet-cfg-agent')
        await node.reboot()
        await node.untilHealthy()
        await isAt(node, 'static', ['none'])
      })
      await step('and a state that somebody damaged is set aside, without the agent too', async () => {
        await node.systemctl('stop', 'kubelet')
        await node.exec('truncate', '--size=20', `${ROOT}/${STATE}`)
        await node.systemctl('start', 'kubelet')
        await node.untilHealthy()
        await isAt(node, 'static', ['none', undefined])
        await node.systemctl('enable', '--now', 'kubelet-cfg-agent')
      })
      await rollsBack(node, admin, step)
      await step('the assignment is removed: none again, and the condition says what containers keep', async () => {
        await admin.unassign()
        await admin.untilStatus({}, CORDON_SEEN_MS + 60_000)
        await node.untilRuns(110)
        await isAt(node, 'none', ['static', 'none', 'static'])
      })
      await step('kubelet never met a state with which it does not start', async () => {
        const { stdout } = await node.exec('journalctl', '--no-pager', '--output=cat', '_SYSTEMD_UNIT=kubelet.service')
        assert.doesNotMatch(stdout, /could not restore state from checkpoint|invalid state, please drain/i)
      })
    }),
  )
}

type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>

async function rollsBack(node: Node, admin: Administrator, step: Step): Promise<void> {
  const pinned = await admin.source('static')
  await step('a trial with none, on a node that is drained', async () => {
    await node.configureAgent({ TRIAL_DURATION: '1h' })
    const source = await assignNew(node, admin, 'none', { maxPods: 53 })
    await node.untilRuns(53, CORDON_SEEN_MS + 60_000)
    await admin.untilStatus({ assigned: source, active: source, lastKnownGood: pinned })
    await node.untilHealthy()
    await untilPolicy(node, 'none')
    await node.untilSays(/changes the CPUs of no container that runs/)
  })
  await step('its rollback to static waits for nothing, and kubelet starts', async () => {
    await admin.kubectl('uncordon', NAME)
    await node.command('rollback')
    await node.untilRuns(52)
    await node.untilHealthy()
    await untilPolicy(node, 'static')
    await node.configureAgent({ TRIAL_DURATION: '1s' })
    await admin.kubectl('cordon', NAME)
  })
}

function read(node: Node, name: string): string | undefined {
  try {
    return JSON.parse(readFileSync(node.host(ROOT, name), 'utf8')).policyName
  } catch {
    return undefined
  }
}

/** Kubelet is healthy before its CPU manager has started. */
async function untilPolicy(node: Node, policy: string): Promise<void> {
  await eventually(async () => policyOf(node) === policy, { what: `the CPU manager of ${node.name} has the policy ${policy}` })
}

const policyOf = (node: Node) => read(node, STATE)
const isJudged = (node: Node) => !existsSync(node.host('/var/lib/kubelet-cfg-agent/states-fit'))

/** @param aside the policies of the states that were set aside, of which the last three are kept */
async function isAt(node: Node, policy: string, aside: readonly (string | undefined)[]): Promise<void> {
  await untilPolicy(node, policy)
  const number = (name: string) => Number(name.split('-').at(-1))
  const names = readdirSync(node.host(ROOT)).filter((name) => name.startsWith(`${STATE}.`))
  assert.deepEqual(
    names.sort((a, b) => number(a) - number(b)).map((name) => read(node, name)),
    aside,
  )
}
