// SPDX-License-Identifier: Apache-2.0
/**
 * The Helm chart and the components of kustomize, by real helm and kustomize: linted, rendered and
 * held against deploy/, and taken by a real API server, which has the definitions of Prometheus
 * Operator. A release is installed, upgraded and uninstalled there.
 */
import { strict as assert } from 'node:assert'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { COMPONENTS } from '../../../scripts/docs/chart/kustomize.ts'
import { readManifest } from '../../../scripts/docs/chart/manifest.ts'
import { TEMPLATES } from '../../../scripts/docs/chart/templates.ts'
import { packChart } from '../../../scripts/package/chart.ts'
import { findDifferences, listRolloutObjects } from '../../../src/command/plugin/rollout-objects.ts'
import { type ChartTools, ensureChartTools } from '../lab/build-chart-tools.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { CommandError, makeScratch, run } from '../lab/processes.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { ask } from '../rights/ask.ts'
import { CHART, Helm, NAMESPACE, RELEASE, ROOT } from './helm.ts'
import { type KubeObject, keyOf, parseObjects, pathOf, withoutFolds, withoutHelm } from './objects.ts'
import { FURNISHED, REFUSED, REMOVING, SETS, WHOLE, WITH_ACCOUNT } from './value-sets.ts'

const ADMINISTRATOR = { kind: 'user', name: 'admin', groups: ['system:masters'] } as const
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }

export function addChartScenarios(): void {
  scenario(
    'chart: helm lints it, refuses wrong values, and renders what deploy/ says; so does kustomize',
    async (step) => {
      const tools = await step('helm and kustomize', () => ensureChartTools())
      const helm = new Helm(tools)
      await step('helm lint', async () => {
        for (const values of Object.values(SETS)) await helm.run('lint', '--strict', CHART, ...helm.values(values))
      })
      await step(`${REFUSED.length} wrong values are refused`, async () => {
        for (const [values, why] of REFUSED)
          await assert.rejects(helm.render(values), (error) => refuses(error, why), JSON.stringify(values))
      })
      await step('with everything on, each object is that of deploy/', async () => {
        const rendered = [...(await helm.render(WHOLE)), ...(await helm.render(WITH_ACCOUNT)), ...(await helm.render(REMOVING))].map(
          withoutHelm,
        )
        assertSame(rendered, listChartObjects())
        checkSelectors([...(await helm.render(WHOLE)), ...(await helm.render(REMOVING))])
      })
      await step('by default there is one right, and nothing else', async () => {
        assert.deepEqual((await helm.render({})).map(keyOf), [
          'Role kube-system/kubelet-cfg-agent:nodes',
          'RoleBinding kube-system/kubelet-cfg-agent:nodes',
        ])
      })
      await step('a release may look like a number: its labels are text', async () => {
        for (const { metadata } of parseObjects(await helm.run('template', '70', CHART)))
          assert.equal(metadata.labels?.['app.kubernetes.io/instance'], '70')
      })
      await step('a rollout of it is what the plugin makes', async () => {
        for (const agents of ['nodes', 'serviceaccount'] as const) await findsItsRollouts(helm, agents)
      })
      await step('the archive has the same bytes twice, and renders the same', () => packs(helm))
      await step(`the ${Object.keys(COMPONENTS).length} components of kustomize`, async () => {
        for (const [name, { files }] of Object.entries(COMPONENTS)) {
          const built = parseObjects((await run(tools.kustomize, ['build', overlayOf([name])])).stdout)
          assertSame(built.map(withoutFolds), files.flatMap(readDeployed).map(withoutFolds))
        }
        await buildsExample(tools)
      })
    },
    { timeoutMs: BUILD_MS },
  )
  scenario(
    'chart: an API server takes all of it; a release is installed, upgraded and uninstalled',
    async (step) => {
      const tools = await step('helm and kustomize', () => ensureChartTools())
      await withModernPlane(step, async (plane) => {
        const helm = new Helm(tools, plane)
        await step('namespaces, and the definitions of Prometheus Operator', () => prepare(plane, tools))
        for (const [name, values] of Object.entries(SETS))
          await step(`dry-run: the chart with values ${name}`, async () => dryRun(plane, await helm.render(values)))
        await step('dry-run: each component of kustomize', async () => {
          const { stdout } = await run(tools.kustomize, ['build', overlayOf(Object.keys(COMPONENTS))])
          await dryRun(plane, parseObjects(stdout))
        })
        await step('the dry-run finds a field that there is not', () =>
          assert.rejects(
            dryRun(plane, [{ ...readDeployed('rbac/node-configmaps.yaml')[0], ruls: [] } as never]),
            /\.ruls: field not declared in schema/,
          ),
        )
        await playRelease(step, plane, helm)
      })
    },
    { timeoutMs: BUILD_MS },
  )
}

/** Where it is run alone for the first time, it builds helm, kustomize and that server. */
const BUILD_MS = 60 * 60_000

async function playRelease(step: Step, plane: ControlPlane, helm: Helm): Promise<void> {
  const mayRead = (name: string) => mayNode(plane, `configmap/${name}`)
  await step('helm install with the defaults: nodes may read the configs, and no other ConfigMap', async () => {
    assert.equal(await mayRead('node-config'), false)
    const notes = await helm.cluster('install', RELEASE, CHART)
    assert.match(notes, /Install the agent on the nodes: docs\/install\.md\. This release has changed no node\./)
    await eventually(() => mayRead('node-config'), { what: 'a node may read node-config' })
    assert.equal(await mayRead('coredns'), false)
  })
  await step('a second release of it is refused', () =>
    assert.rejects(helm.cluster('install', 'another', CHART), /invalid ownership metadata/),
  )
  await step('helm upgrade to everything, with a config and its record in place', async () => {
    for (const name of ['node-config', 'node-config-rollout']) await plane.kubectl(['-n', NAMESPACE, 'create', 'configmap', name])
    const notes = await helm.cluster('upgrade', RELEASE, CHART, ...helm.values(FURNISHED))
    assert.match(notes, /rollout init gpu --record gpu-stages --agents serviceaccount\n/)
    await eventually(async () => !(await mayRead('node-config')), { what: 'nodes have lost what the ServiceAccount has now' })
  })
  await step('helm upgrade to a later version of the chart changes no selector', async () => {
    await helm.cluster('upgrade', RELEASE, laterChart(), ...helm.values(FURNISHED))
    assert.match(await owned(plane, 'daemonset'), /^(daemonset\.apps\/kubelet-cfg-agent-(install|metrics|token)\n){3}$/)
  })
  await step('helm rollback, and helm uninstall: nothing of it is left, and config and record are', async () => {
    await helm.cluster('rollback', RELEASE, '1')
    await eventually(() => mayRead('node-config'), { what: 'nodes may read again' })
    assert.equal(await owned(plane, 'daemonset,clusterrole,clusterrolebinding,podmonitor,prometheusrule'), '')
    await helm.cluster('uninstall', RELEASE)
    assert.equal(await owned(plane, OWNED), '')
    await plane.kubectl(['-n', NAMESPACE, 'get', 'configmap', 'node-config', 'node-config-rollout'])
  })
  await step('what the plugin made for a rollout is taken over', async () => {
    for (const { body } of listRolloutObjects({
      namespace: NAMESPACE,
      config: 'node-config',
      record: 'node-config-rollout',
      agents: 'nodes',
    }))
      if (body.kind !== 'ConfigMap') await plane.kubectl(['create', '-f', '-'], { input: JSON.stringify(body) })
    const values = helm.values({ rollouts: [{ config: 'node-config' }] })
    await assert.rejects(helm.cluster('install', RELEASE, CHART, ...values), /invalid ownership metadata/)
    await helm.cluster('upgrade', '--install', '--take-ownership', RELEASE, CHART, ...values)
    assert.match(await owned(plane, OWNED), /\/kubelet-cfg-agent-rollout-node-config$/m)
  })
}

const OWNED =
  'role,rolebinding,clusterrole,clusterrolebinding,serviceaccount,configmap,daemonset,podmonitor,prometheusrule,' +
  'validatingadmissionpolicies,validatingadmissionpolicybindings'

/** Names, one a line. */
function owned(plane: ControlPlane, kinds: string): Promise<string> {
  return plane.kubectl(['get', kinds, '--all-namespaces', `--selector=app.kubernetes.io/instance=${RELEASE}`, '-o', 'name'])
}

async function mayNode(plane: ControlPlane, what: string): Promise<boolean> {
  const asNode = ['--as=system:node:somebody', '--as-group=system:nodes']
  try {
    return (await plane.kubectl(['-n', NAMESPACE, 'auth', 'can-i', 'get', what, ...asNode])).trim() === 'yes'
  } catch (error) {
    if (error instanceof CommandError) return false
    throw error
  }
}

function refuses(error: unknown, why: RegExp): boolean {
  assert(error instanceof CommandError)
  assert.match(error.message, why)
  return true
}

/** By key, so that what one of them lacks is named. A rendered binding has one of two subjects. */
function assertSame(rendered: readonly KubeObject[], wanted: readonly KubeObject[]): void {
  assert.deepEqual([...new Set(rendered.map(keyOf))].sort(), wanted.map(keyOf).sort())
  for (const object of rendered) {
    const { subjects: all = [], ...source } = wanted.find((each) => keyOf(each) === keyOf(object)) ?? object
    const { subjects = [], ...rest } = object
    assert.deepEqual(rest, source)
    for (const subject of subjects)
      assert(
        all.some((each) => isSame(each, subject)),
        `${keyOf(object)}: ${JSON.stringify(subject)}`,
      )
    assert.equal(subjects.length > 0, all.length > 0)
  }
}

function isSame(one: object, other: object): boolean {
  try {
    assert.deepEqual(one, other)
    return true
  } catch {
    return false
  }
}

/** @param path below deploy/ */
function readDeployed(path: string): readonly KubeObject[] {
  return parseObjects(readManifest((file) => readFileSync(join(ROOT, file), 'utf8'), path))
}

/** Of deploy/, all but the namespace that would be deleted with a release. */
function listChartObjects(): readonly KubeObject[] {
  return TEMPLATES.flatMap(({ path }) => readDeployed(path))
    .filter(({ kind }) => kind !== 'Namespace')
    .map(withoutHelm)
}

/** What selects pods of another object. The API server checks the pods of a DaemonSet itself. */
function checkSelectors(rendered: readonly KubeObject[]): void {
  const specOf = (name: string) => rendered.find((each) => keyOf(each) === name)?.spec
  const { selector } = specOf(`PodMonitor ${NAMESPACE}/kubelet-cfg-agent`) ?? {}
  assert.deepEqual(selector, specOf(`DaemonSet ${NAMESPACE}/kubelet-cfg-agent-metrics`)?.selector)
  assert(selector !== undefined)
  const { template } = specOf(`DaemonSet ${NAMESPACE}/kubelet-cfg-agent-uninstall`) ?? {}
  const labelSelector = specOf(`DaemonSet ${NAMESPACE}/kubelet-cfg-agent-install`)?.selector
  const requiredDuringSchedulingIgnoredDuringExecution = [{ topologyKey: 'kubernetes.io/hostname', labelSelector }]
  assert.deepEqual(template?.spec?.affinity, { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution } })
}

async function findsItsRollouts(helm: Helm, agents: 'nodes' | 'serviceaccount'): Promise<void> {
  const rendered = await helm.render({ agents, rollouts: [{ config: 'node-config' }, { config: 'a.b', record: 'r', namespace: 'x' }] })
  for (const [namespace, config, record] of [
    [NAMESPACE, 'node-config', 'node-config-rollout'],
    ['x', 'a.b', 'r'],
  ] as const)
    for (const { body } of listRolloutObjects({ namespace, config, record, agents })) {
      // The record is an object that agents write into: it is made by the plugin.
      if (body.kind === 'ConfigMap') continue
      const found = rendered.find((each) => each.kind === body.kind && each.metadata.name === body.metadata.name)
      assert.deepEqual(findDifferences(body, found, undefined), [], `${body.kind} ${body.metadata.name}`)
    }
}

async function packs(helm: Helm): Promise<void> {
  const pack = () => packChart(makeScratch(), { name: RELEASE, version, epoch: 1_795_000_000 })
  const [first, second] = [await pack(), await pack()]
  assert(readFileSync(first).equals(readFileSync(second)))
  await helm.run('lint', '--strict', first)
  assert.deepEqual(await helm.render(WHOLE, first), await helm.render(WHOLE))
}

/** A kustomization of these components, in a directory of its own. */
function overlayOf(names: readonly string[]): string {
  const directory = makeScratch()
  const components = names.map((name) => relative(directory, join(ROOT, 'kustomize', name)))
  writeFileSync(join(directory, 'kustomization.yaml'), JSON.stringify({ components }))
  return directory
}

/** The kustomization of docs/helm.md. */
async function buildsExample({ kustomize }: ChartTools): Promise<void> {
  const directory = makeScratch()
  const [, example = ''] = /^```yaml file=kustomization\.yaml\n([^`]*)^```$/m.exec(readFileSync(join(ROOT, 'docs/helm.md'), 'utf8')) ?? []
  writeFileSync(join(directory, 'kustomization.yaml'), example.replaceAll('../kustomize', relative(directory, join(ROOT, 'kustomize'))))
  const built = parseObjects((await run(kustomize, ['build', directory])).stdout)
  const role = built.find((each) => keyOf(each) === 'Role kube-system/kubelet-cfg-agent:nodes')
  assert.deepEqual(
    role?.rules?.map(({ resourceNames }) => resourceNames),
    [['gpu']],
  )
}

/** As of the next release. */
function laterChart(): string {
  const directory = join(makeScratch(), 'chart')
  mkdirSync(directory)
  cpSync(CHART, directory, { recursive: true })
  const file = join(directory, 'Chart.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(version, '99.0.0'))
  return directory
}

async function prepare(plane: ControlPlane, { definitions }: ChartTools): Promise<void> {
  for (const name of ['node-configs', '80']) await plane.kubectl(['create', 'namespace', name])
  for (const file of definitions) await plane.kubectl(['create', '--validate=false', '-f', file])
  const served = async () =>
    (await plane.kubectl(['api-resources', '--api-group=monitoring.coreos.com', '-o', 'name'])).split('\n').length > 2
  await eventually(served, { what: 'the API server serves them' })
}

/** Each by itself, applied by the server, to which an unknown field is an error. */
async function dryRun(plane: ControlPlane, objects: readonly KubeObject[]): Promise<void> {
  assert(objects.length > 0)
  const wrong: string[] = []
  for (const object of objects) {
    const { status, message } = await ask(plane, ADMINISTRATOR, { method: 'PATCH', path: pathOf(object), patch: 'apply', body: object })
    if (status >= 400) wrong.push(`${keyOf(object)}: ${status} ${message}`)
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}
