// SPDX-License-Identifier: Apache-2.0
/**
 * A rollout over two nodes with real kubelets: the node that tries a bad config fails and heals,
 * and the other never restarts; the fix goes to both.
 */
import { strict as assert } from 'node:assert'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { DEPLOY } from '../rights/manifests.ts'
import { CANARY_LABEL, PLAN_ANNOTATION, ROLLOUT_ANNOTATION } from '../rollout/words.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '10s', SPREAD: '0s', RESTARTS_PER_HOUR: '60' }
const [CONFIG, RECORD] = ['node-config', 'node-config-rollout']
/**
 * A proof waits for a report of kubelet, which sends one each five minutes when nothing has
 * changed.
 */
const OFTEN = { nodeStatusUpdateFrequency: '1s', nodeStatusReportFrequency: '1s' }
/**
 * A step on one node takes up to a minute on a quiet machine: two renewals of the Lease, or three
 * starts 10 s apart. Another lane on the same cores makes that several minutes.
 */
const STEP_MS = 300_000

interface Member {
  readonly node: Node
  readonly admin: Administrator
}

export function addNodeRolloutScenarios(program: string): void {
  scenario('node: modern: a rollout over two nodes', (step) =>
    withModernPlane(step, async (plane) => {
      for (const file of ['node-configmaps', 'rollout']) await plane.kubectl(['apply', '-f', join(DEPLOY, `rbac/${file}.yaml`)])
      await plane.kubectl(['-n', 'kube-system', 'create', 'configmap', RECORD])
      await withNode(plane, program, { name: 'canary', settings: SETTINGS }, (node, admin) =>
        withNode(plane, program, { name: 'other', settings: SETTINGS }, (other, otherAdmin) =>
          play(step, plane, { node, admin }, { node: other, admin: otherAdmin }),
        ),
      )
    }),
  )
}

async function play(step: Step, plane: ControlPlane, canary: Member, other: Member): Promise<void> {
  /** The canary's ports; the other's overlay has its own. */
  const write = (changes: object) =>
    canary.admin.applyConfigMap(
      {
        name: CONFIG,
        namespace: 'kube-system',
        annotations: { [ROLLOUT_ANNOTATION]: RECORD, [PLAN_ANNOTATION]: 'waves: [50%], witnesses: 1, spread: 2s' },
      },
      canary.node.config({ ...OFTEN, ...changes }),
    )
  // A node without its Lease cannot prove a config; the agent asks for it again after a minute.
  for (const { node } of [canary, other]) await untilLeased(plane, node)
  await step('both have the first config, one after the other', async () => {
    overlay(other.node, difference(canary.node.config({}), other.node.config({})))
    await write({ maxPods: 51 })
    await plane.kubectl(['label', 'node', 'canary', `${CANARY_LABEL}=true`])
    await plane.kubectl(['label', 'nodes', '--all', `${CONFIG_LABEL}=${CONFIG}`])
    for (const { node, admin } of [canary, other]) {
      await node.untilRuns(51, STEP_MS)
      await admin.untilCondition({ status: 'True', reason: 'Promoted' }, STEP_MS)
    }
  })
  await step('one that crashes kubelet: the node that tries it fails and heals, the other never restarts', async () => {
    const both = [canary, other] as const
    const before = await Promise.all(both.map(({ node }) => node.kubeletProcess()))
    await write({ maxPods: 52, ...canary.node.crash.changes })
    const failed = await untilHalted(both)
    await failed.admin.untilCondition({ status: 'False' }, STEP_MS)
    await failed.node.untilRuns(51, STEP_MS)
    const spared = both.findIndex((member) => member !== failed)
    assert.equal(await both[spared]?.node.kubeletProcess(), before[spared])
  })
  await step('the fix goes to both', async () => {
    await write({ maxPods: 53 })
    for (const { node, admin } of [canary, other]) {
      await node.untilRuns(53, STEP_MS)
      await admin.untilCondition({ status: 'True', reason: 'Promoted' }, STEP_MS)
    }
  })
  await step('the record has a proof of it', () => untilProven(plane))
}

/**
 * Canaries come half a second before the others where a trial takes 10 s. On a busy machine that
 * may be too short, and the other tries the content first.
 *
 * @returns the node on which it failed, as the other one tells
 */
function untilHalted([canary, other]: readonly [Member, Member]): Promise<Member> {
  const tells = async (teller: Member, of: Member) =>
    (await teller.node.timesSaid(new RegExp(`halted.* failed on ${of.node.name}`))) > 0 ? of : undefined
  const probe = async () => (await tells(other, canary)) ?? (await tells(canary, other))
  return eventually(probe, { what: 'one node says that the rollout is halted, and names the other', timeoutMs: STEP_MS })
}

/** A node whose Lease was not renewed twice in its trial proves the config a little later. */
async function untilProven(plane: ControlPlane): Promise<void> {
  const probe = async () => {
    const record = JSON.parse(await plane.read(`/api/v1/namespaces/kube-system/configmaps/${RECORD}`))
    assert.match(Object.values(record.data).join('\n'), / proof$/m)
    return true
  }
  await eventually(probe, { what: 'a node has proven the fix', timeoutMs: STEP_MS })
}

async function untilLeased(plane: ControlPlane, { name }: Node): Promise<void> {
  const probe = () => plane.read(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`)
  await eventually(probe, { what: `${name} has its Lease`, timeoutMs: STEP_MS })
}

/** All nodes of a lab have one network, so each has ports of its own. */
function difference(from: string, to: string): object {
  const [before, after]: readonly Record<string, unknown>[] = [parse(from), parse(to)]
  const fields = Object.entries(after ?? {}).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before?.[name]))
  return Object.fromEntries(fields)
}

function overlay(node: Node, fields: object): void {
  const directory = node.host('/etc/kubelet-cfg-agent/overlay.d')
  mkdirSync(directory, { recursive: true, mode: 0o755 })
  writeFileSync(join(directory, '10-node.yaml'), stringify(fields), { mode: 0o644 })
}
