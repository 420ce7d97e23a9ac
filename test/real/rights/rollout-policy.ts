// SPDX-License-Identifier: Apache-2.0
/**
 * The policy of deploy/admission/rollout.yaml on a real kube-apiserver: what honest agents write is
 * admitted, each abuse is refused by the rule that is made for it, and no clause of the policy can
 * be left out without an abuse that passes or an honest write that does not.
 */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { nodeItself } from './cases/case.ts'
import { DEPLOY, readManifests } from './manifests.ts'
import { type ConfigName, EXCLUDED, PLANS, RULES, state } from './rollout/cases.ts'
import { absences, NAMESPACE, play, type Trial, trialsOf, type World } from './rollout/trials.ts'
import { type Policy, type Variant, variantsOf } from './rollout/variants.ts'
import { pathOf } from './rollout/write.ts'
import { createAccount, requestToken } from './tokens.ts'

const FILE = 'admission/rollout.yaml'
const ACCOUNT = 'kubelet-cfg-agent'
const CONFIGS = Object.keys(PLANS) as ConfigName[]
/** Requests that one API server of a lab answers side by side. */
const AT_ONCE = 8
/** A record that nobody makes, and one whose config is gone. */
const ABSENT = ['never-made', 'gone-rollout'] as const

export function addRolloutPolicyScenarios(): void {
  scenario(
    'rights: the policy of deploy/admission/rollout.yaml',
    (step) =>
      withModernPlane(step, async (plane) => {
        const world = await step('nodes, tokens, configs with plans, and all rights on ConfigMaps', () => prepare(plane))
        const trials = [...trialsOf(world), ...absences(...ABSENT)]
        await step(`RBAC lets all ${trials.length} requests pass, save what names no record`, () => passAll(plane, trials))
        await step('the policy is in force, with a binding for each config', () => enforce(plane, world))
        await step(`${trials.length} requests: each is admitted, or refused by its rule`, async () => {
          assert.deepEqual(await playAll(plane, trials), [])
        })
        await playVariants(step, plane, world)
      }),
    { timeoutMs: 40 * 60_000 },
  )
}

async function prepare(plane: ControlPlane): Promise<World> {
  await plane.createNode('n1')
  const { metadata } = JSON.parse(await plane.kubectl(['get', 'node', 'n1', '-o', 'json']))
  await createAccount(plane, ACCOUNT)
  await plane.kubectl(['create', 'clusterrole', 'all-of-configmaps', '--verb=*', '--resource=configmaps'])
  const subjects = ['--group=system:nodes', `--serviceaccount=${NAMESPACE}:${ACCOUNT}`]
  await plane.kubectl(['create', 'clusterrolebinding', 'all-of-configmaps', '--clusterrole=all-of-configmaps', ...subjects])
  await plane.kubectl(['-n', NAMESPACE, 'create', 'configmap', ABSENT[1], `--from-literal=state=${state(1)}`])
  const versions: [string, { uid: string; version: string }][] = []
  for (const name of CONFIGS) {
    const annotations = {
      'kubelet-cfg-agent.io/rollout': `${name}-rollout`,
      'kubelet-cfg-agent.io/rollout-plan': PLANS[name],
      'kubelet-cfg-agent.io/rollout-exclude': EXCLUDED[name],
    }
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE, annotations }, data: { kubelet: 'b' } }
    const made = JSON.parse(await plane.kubectl(['create', '-o', 'json', '-f', '-'], { input: JSON.stringify(config) }))
    versions.push([name, { uid: made.metadata.uid, version: made.metadata.resourceVersion }])
  }
  return {
    versions: Object.fromEntries(versions) as World['versions'],
    tokens: {
      ofN1: await requestToken(plane, ACCOUNT, { kind: 'Node', name: 'n1', uid: metadata.uid }),
      ofNobody: await requestToken(plane, ACCOUNT),
    },
    recordOf: (config) => `${config}-rollout`,
  }
}

async function passAll(plane: ControlPlane, trials: readonly Trial[]): Promise<void> {
  assert.deepEqual(
    await playAll(
      plane,
      trials.map((trial) => ({ ...trial, refusal: undefined })),
    ),
    [],
  )
}

async function playAll(plane: ControlPlane, trials: readonly Trial[]): Promise<string[]> {
  const wrong: string[] = []
  // One after another: each makes the record anew.
  for (const trial of trials) {
    const found = await play(plane, trial)
    if (found !== undefined) wrong.push(found)
  }
  return wrong
}

async function enforce(plane: ControlPlane, world: World): Promise<void> {
  await plane.kubectl(['apply', '-f', join(DEPLOY, FILE)])
  const { binding } = readPolicy()
  const others = CONFIGS.filter((config) => config !== 'node-config').map((config) => forRecord(binding, config, `${config}-rollout`, ''))
  const absent = [forRecord(binding, 'small', ABSENT[0], '-never-made'), forRecord(binding, 'gone', ABSENT[1], '')]
  await create(plane, [...others, ...absent])
  for (const config of CONFIGS) await untilInForce(plane, world, config)
  const areInForce = async () => (await playAll(plane, absences(...ABSENT))).length === 0
  await eventually(areInForce, { what: 'the bindings of what is not there are in force' })
}

/** Until something is refused: whichever clause is left out, one of these is. */
async function untilInForce(plane: ControlPlane, world: World, config: ConfigName): Promise<void> {
  const metadata = { name: world.recordOf(config), namespace: NAMESPACE }
  const path = pathOf(metadata)
  const who = [nodeItself('n1'), { kind: 'token', token: world.tokens.ofN1 } as const]
  const bodies = [{ data: { some: 'x' } }, { metadata: { labels: { some: 'x' } } }]
  const trials = who.flatMap((each) =>
    bodies.map((body): Trial => {
      const asks = { method: 'PATCH', path, body } as const
      return { what: 'a sample', who: each, before: { metadata, data: { readme: 'x' } }, asks, refusal: 'ValidatingAdmissionPolicy' }
    }),
  )
  await eventually(async () => (await playAll(plane, trials)).length < trials.length, { what: `a policy is in force for ${metadata.name}` })
}

/**
 * Each clause is left out of a policy of its own, which has records of its own. There are only a
 * few of them at once: the API server holds each request against each binding.
 */
async function playVariants(step: Step, plane: ControlPlane, world: World): Promise<void> {
  const { policy, binding } = readPolicy()
  const itemsOf = ({ index, spec }: Variant): object[] => {
    const name = `without-${index}`
    const bound = { ...binding, spec: { ...binding.spec, policyName: name } }
    return [
      { ...policy, metadata: { name }, spec },
      ...CONFIGS.map((config) => forRecord(bound, config, `${config}-${index}`, `-${index}`)),
    ]
  }
  const left = variantsOf(policy)
  const survivors: string[] = []
  await step(`no clause can be left out, of ${left.length}`, async () => {
    while (left.length > 0) {
      const variants = left.splice(0, AT_ONCE)
      const items = variants.flatMap(itemsOf)
      await create(plane, items)
      await Promise.all(
        variants.map(async (variant) => {
          if (!(await isMissed(plane, world, variant))) survivors.push(variant.what)
        }),
      )
      await plane.kubectl(['delete', '--wait=false', '-f', '-'], { input: listOf(items) })
    }
    assert.deepEqual(survivors, [])
  })
}

/** Whether some trial goes otherwise than with the whole policy. */
async function isMissed(plane: ControlPlane, world: World, { index }: Variant): Promise<boolean> {
  const there: World = { ...world, recordOf: (config) => `${config}-${index}` }
  for (const config of CONFIGS) await untilInForce(plane, there, config)
  for (const trial of trialsOf(there, ['merge patch'])) if ((await play(plane, trial)) !== undefined) return true
  return false
}

function readPolicy(): { policy: Policy; binding: Policy } {
  const [policy, binding] = readManifests(FILE) as unknown as Policy[]
  assert(policy?.kind === 'ValidatingAdmissionPolicy' && binding?.kind === 'ValidatingAdmissionPolicyBinding')
  assert.deepEqual(
    (policy.spec.validations ?? [])
      .map(({ message }) => message)
      .filter((message) => !Object.values(RULES).some((rule) => message.includes(rule))),
    ['the token of the agent names no node'],
  )
  return { policy, binding }
}

/** The binding, for one config and one record. */
function forRecord(binding: Policy, config: string, record: string, suffix: string): object {
  const { matchResources, paramRef } = binding.spec
  const resourceRules = matchResources?.resourceRules.map((rule) => ({ ...rule, resourceNames: [record] }))
  const spec = { ...binding.spec, paramRef: { ...paramRef, name: config }, matchResources: { ...matchResources, resourceRules } }
  return { ...binding, metadata: { name: `rollout-${config}${suffix}` }, spec }
}

async function create(plane: ControlPlane, items: readonly object[]): Promise<void> {
  await plane.kubectl(['create', '-f', '-'], { input: listOf(items) })
}

function listOf(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}
