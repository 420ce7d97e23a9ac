// SPDX-License-Identifier: Apache-2.0
/**
 * The policy of deploy/admission/rollout.yaml and the agent's own parser read each plan alike, on a
 * real kube-apiserver: as many proofs open a stage, and as many claims fill it. Where a word of a
 * plan could be read in two ways, the policy refuses what any node writes, and no agent goes on.
 */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { parsePlan } from '../../../src/rollout/plan.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { nodeItself } from './cases/case.ts'
import { DEPLOY, readManifests } from './manifests.ts'
import { MINE, many, others, RULES, state } from './rollout/cases.ts'
import { GARBLED, READABLE } from './rollout/plan-texts.ts'
import { NAMESPACE, play, type Trial } from './rollout/trials.ts'
import { type Data, pathOf } from './rollout/write.ts'

const FILE = 'admission/rollout.yaml'

export function addRolloutPlanScenarios(): void {
  scenario('rights: how the policy of deploy/admission/rollout.yaml reads a plan', (step) =>
    withModernPlane(step, async (plane) => {
      const texts = [...READABLE, ...GARBLED]
      await plane.createNode('n1')
      await plane.kubectl(['create', 'clusterrole', 'all-of-configmaps', '--verb=*', '--resource=configmaps'])
      await plane.kubectl(['create', 'clusterrolebinding', 'all-of-configmaps', '--clusterrole=all-of-configmaps', '--group=system:nodes'])
      await step(`${texts.length} plans, and the policy with a binding for each`, () => enforce(plane, texts))
      for (const [index, text] of texts.entries()) {
        const trials = trialsOf(text, `plan-${index}-rollout`)
        await step(JSON.stringify(text), () => untilPlayed(plane, trials))
      }
    }),
  )
}

async function enforce(plane: ControlPlane, texts: readonly string[]): Promise<void> {
  const configs = texts.map((text, index) => {
    const annotations = { 'kubelet-cfg-agent.io/rollout': `plan-${index}-rollout`, 'kubelet-cfg-agent.io/rollout-plan': text }
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `plan-${index}`, namespace: NAMESPACE, annotations } }
  })
  const [, binding] = readManifests(FILE) as unknown as Binding[]
  assert(binding?.kind === 'ValidatingAdmissionPolicyBinding')
  const bindings = texts.map((_, index) => bindingFor(binding, index))
  await plane.kubectl(['apply', '-f', join(DEPLOY, FILE)])
  await plane.kubectl(['create', '-f', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...configs, ...bindings] }),
  })
}

interface Binding {
  readonly kind: string
  readonly spec: { readonly paramRef: object; readonly matchResources: { readonly resourceRules: readonly object[] } }
}

function bindingFor(binding: Binding, index: number): object {
  const { paramRef, matchResources } = binding.spec
  const resourceRules = matchResources.resourceRules.map((rule) => ({ ...rule, resourceNames: [`plan-${index}-rollout`] }))
  const spec = { ...binding.spec, paramRef: { ...paramRef, name: `plan-${index}` }, matchResources: { ...matchResources, resourceRules } }
  return { ...binding, metadata: { name: `plan-${index}` }, spec }
}

/** What is refused comes first: once it is, the policy is in force. */
function trialsOf(text: string, record: string): readonly Trial[] {
  const metadata = { name: record, namespace: NAMESPACE }
  const trial = (what: string, before: Data, data: Data, refusal: string | undefined): Trial => ({
    what,
    who: nodeItself('n1'),
    before: { metadata, data: before },
    asks: { method: 'PATCH', path: pathOf(metadata), body: { data } },
    refusal,
  })
  const parsed = parsePlan(text)
  const claim = { [MINE]: '3 1 claim 900' }
  if (!parsed.ok) return [trial('a claim', { state: state(1) }, claim, RULES.plan)]
  const { witnesses, maxSilent, maxVetoes } = parsed.plan
  const opens = { state: state(2) }
  const proven = (count: number) => ({ state: state(1), ...others(...many(count, '3 1 proof')) })
  const claimed = (count: number) => ({ state: state(1), ...others(...many(count, '3 1 claim 9')) })
  const vetoed = (count: number) => ({ state: state(1), ...others(...many(count, '3 1 veto no')) })
  const last = parsed.plan.waves.length + 1
  return [
    trial('a stage with a proof too few', proven(witnesses - 1), opens, RULES.state),
    trial('a stage with its proofs', proven(witnesses), opens, undefined),
    trial('a claim where there is no room', claimed(witnesses + maxSilent), claim, RULES.mine),
    trial('a claim in the last place', claimed(witnesses + maxSilent - 1), claim, undefined),
    trial('a claim of what is halted', vetoed(maxVetoes), claim, RULES.mine),
    trial('a claim with a veto less', vetoed(maxVetoes - 1), claim, undefined),
    trial('a key of its own in the last stage', { state: state(last) }, { [MINE]: `3 ${last} claim 900` }, undefined),
  ]
}

async function untilPlayed(plane: ControlPlane, trials: readonly Trial[]): Promise<void> {
  const [first, ...rest] = trials
  assert(first !== undefined)
  await eventually(async () => (await play(plane, first)) === undefined, { what: `${first.what} is refused` })
  const wrong: string[] = []
  for (const trial of rest) {
    const found = await play(plane, trial)
    if (found !== undefined) wrong.push(found)
  }
  assert.deepEqual(wrong, [])
}
