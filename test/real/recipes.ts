// SPDX-License-Identifier: Apache-2.0
/**
 * The files of deploy/recipes as docs/recipes.md has them, on a real API server of today: a part
 * that Git owns, with the plugin beside what Argo CD and Flux write; nodes that cannot label
 * themselves; and a config that waits until kured has drained the node.
 */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { parse } from 'yaml'
import type { Administrator } from './administrator.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { CommandError, run } from './lab/processes.ts'
import { type Step, scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'
import { withModernPlane } from './modern-plane.ts'
import { CONFIG_LABEL, PAUSED_ANNOTATION } from './node-words.ts'
import { type Kubectl, openPlugin } from './plugin.ts'
import { DEPLOY } from './rights/manifests.ts'
import { NO_EVIDENCE } from './rollout/fleet.ts'

const RECIPES = join(DEPLOY, 'recipes')
const NAME = 'gpu-nodes'
const PATH = `/api/v1/namespaces/kube-system/configmaps/${NAME}`
const PREVIOUS_ANNOTATION = 'kubelet-cfg-agent.io/previous-version'
/** Flux takes over what managers with this prefix wrote, unless the object says `Merge`. */
const TAKEN_OVER = 'kubectl'
const FLUX_ANNOTATION = 'kustomize.toolkit.fluxcd.io/ssa'
const FLUX = 'kustomize-controller'

interface Manager {
  readonly manager: string
  readonly operation: string
  readonly fieldsV1: Fields
}
interface Fields {
  readonly [field: string]: Fields
}

const manifest = readFileSync(join(RECIPES, 'gitops/configs/gpu-nodes.yaml'), 'utf8')
const PODS: number = parse(parse(manifest).data.kubelet).maxPods

export function addRecipeScenarios(program: string): void {
  scenario('recipes: GitOps, a NodePool, and the plugin beside them', (step) =>
    withModernPlane(step, (plane) =>
      withMachine(plane, program, { name: 'gitops', settings: { evidence: NO_EVIDENCE } }, async (machine, admin) =>
        playGitOps(step, machine, admin, await openPlugin(plane, program), plane),
      ),
    ),
  )
  scenario('recipes: a node that joins by the default, and waits for kured', (step) =>
    withModernPlane(step, async (plane) => {
      await step('a node cannot label itself: neither kubelet nor the API server takes it', () => refuseOwnLabel(plane))
      const settings = { evidence: NO_EVIDENCE, defaultConfigMap: `kube-system/${NAME}`, requireDrain: ['maxPods'] }
      await withMachine(plane, program, { name: 'drained', settings }, (machine, admin) => playDrain(step, machine, admin, program))
    }),
  )
}

async function playGitOps(step: Step, machine: Machine, admin: Administrator, plugin: Kubectl, plane: ControlPlane): Promise<void> {
  const read = async (): Promise<{ pods: number; annotations: Record<string, string> }> => {
    const { data, metadata } = JSON.parse(await plane.read(PATH))
    return { pods: parse(data.kubelet).maxPods, annotations: metadata.annotations }
  }
  const edit = async (pods: number): Promise<void> => {
    const file = join(plane.directory, 'edited.yaml')
    await writeFile(file, manifest.replace(`maxPods: ${PODS}`, `maxPods: ${pods}`))
    const { code, stdout, stderr } = await plugin('apply', '-f', file, NAME, '--yes')
    assert.equal(code, 0, `${stdout}${stderr}`)
    assert.equal((await read()).pods, pods)
  }
  const argo = async (...options: string[]): Promise<void> => {
    await plane.kubectl(['apply', '--field-manager=argocd-controller', ...options, '-f', '-'], { input: manifest })
  }
  await step('kubectl apply -k, and the label of a NodePool: the node gets the part', async () => {
    await plane.kubectl(['apply', '-k', join(RECIPES, 'gitops')])
    const { spec } = parse(readFileSync(join(RECIPES, 'karpenter/nodepool.yaml'), 'utf8'))
    await admin.kubectl('patch', 'node', machine.name, '-p', JSON.stringify({ metadata: spec.template.metadata }))
    machine.agent.start()
    await machine.untilRuns(PODS)
  })
  await step('an edit by the plugin holds until Argo CD heals it, on the node too', async () => {
    await edit(PODS + 1)
    await machine.untilRuns(PODS + 1)
    await argo()
    await machine.untilRuns(PODS)
    await edit(PODS + 2)
    await argo('--server-side', '--force-conflicts')
    const { pods, annotations } = await read()
    assert.equal(pods, PODS)
    assert(annotations[PREVIOUS_ANNOTATION] !== undefined, 'what is not in Git stays')
  })
  await step('Argo CD and, with Merge, Flux leave a pause alone', async () => {
    assert.equal((await plugin('rollout', 'pause', NAME)).code, 0)
    await argo()
    await argo('--server-side', '--force-conflicts')
    await edit(PODS + 3)
    await syncAsFlux(plane, manifest)
    const { pods, annotations } = await read()
    assert.equal(pods, PODS)
    assert.equal(annotations[PAUSED_ANNOTATION], 'true')
  })
  await step('without Merge, Flux takes the pause away', async () => {
    await syncAsFlux(plane, manifest.replace(new RegExp(`^ *${FLUX_ANNOTATION}: Merge\n`, 'm'), ''))
    const left = Object.keys((await read()).annotations).filter((name) => [PAUSED_ANNOTATION, PREVIOUS_ANNOTATION].includes(name))
    assert.deepEqual(left, [])
  })
  await step("kustomize's hash goes into the name of what it generates, unless it is switched off", async () => {
    const nameOf = async (options: object): Promise<string> => {
      const directory = join(plane.directory, 'generated')
      await mkdir(directory, { recursive: true })
      await writeFile(join(directory, 'part.yaml'), parse(manifest).data.kubelet)
      const configMapGenerator = [{ name: NAME, files: ['kubelet=part.yaml'] }]
      const kustomization = { configMapGenerator, generatorOptions: options }
      await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization))
      return parse(await plane.kubectl(['kustomize', directory])).metadata.name
    }
    assert.match(await nameOf({}), new RegExp(`^${NAME}-[a-z0-9]{10}$`))
    assert.equal(await nameOf({ disableNameSuffixHash: true }), NAME)
  })
}

/**
 * As kustomize-controller does (fluxcd/pkg ssa v0.77.0, `cleanupMetadata` and `Apply`): what was
 * written with kubectl counts as its own first, so that its server-side apply removes it.
 */
async function syncAsFlux(plane: ControlPlane, text: string): Promise<void> {
  const { metadata } = JSON.parse(await plane.read(PATH))
  const entries: readonly Manager[] = metadata.managedFields
  const isOwn = ({ manager, operation }: Manager) => manager === FLUX && operation === 'Apply'
  const isTaken = (entry: Manager) => isOwn(entry) || entry.manager.startsWith(TAKEN_OVER)
  const taken = entries.filter(isTaken)
  const [first] = taken
  if (first !== undefined && parse(text).metadata.annotations[FLUX_ANNOTATION] !== 'Merge') {
    const fieldsV1 = taken.map((entry) => entry.fieldsV1).reduce(unite)
    const value = [...entries.filter((entry) => !isTaken(entry)), { ...first, manager: FLUX, operation: 'Apply', fieldsV1 }]
    const patch = JSON.stringify([{ op: 'replace', path: '/metadata/managedFields', value }])
    await plane.kubectl(['-n', 'kube-system', 'patch', 'configmap', NAME, '--type=json', '-p', patch])
  }
  await plane.kubectl(['apply', '--server-side', '--force-conflicts', `--field-manager=${FLUX}`, '-f', '-'], { input: text })
}

function unite(a: Fields, b: Fields): Fields {
  const both = Object.entries(b).map(([name, fields]) => [name, unite(a[name] ?? {}, fields)])
  return { ...a, ...Object.fromEntries(both) }
}

async function refuseOwnLabel(plane: ControlPlane): Promise<void> {
  const name = 'joining'
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { [CONFIG_LABEL]: NAME } } }
  const saysNo = (pattern: RegExp) => (error: unknown) => error instanceof CommandError && pattern.test(error.stderr)
  const kubeconfig = await plane.nodeKubeconfig(name)
  const create = (object: object) => plane.kubectl(['create', '-f', '-'], { kubeconfig, input: JSON.stringify(object) })
  await assert.rejects(create(node), saysNo(/is not allowed to set the following labels: kubelet-cfg-agent\.node-restriction/))
  await create({ ...node, metadata: { name, labels: { pool: 'gpu' } } })
  const { kubelet } = plane.binaries
  assert(kubelet !== undefined, 'the lab has a kubelet')
  await assert.rejects(run(kubelet, [`--node-labels=${CONFIG_LABEL}=${NAME}`]), saysNo(/unknown 'kubernetes\.io' or 'k8s\.io' labels/))
}

async function playDrain(step: Step, machine: Machine, admin: Administrator, program: string): Promise<void> {
  const needsKured = await installSentinel(machine, program)
  await step('the default assigns the part, which waits: a reason for kured to drain', async () => {
    await admin.kubectl('apply', '-k', join(RECIPES, 'gitops'))
    // Cordoned from the start, so that the agent looks at the pods each 10 s.
    await admin.kubectl('cordon', machine.name)
    await admin.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'work', namespace: 'default' },
      spec: { nodeName: machine.name, terminationGracePeriodSeconds: 0, containers: [{ name: 'work', image: 'none' }] },
    })
    machine.agent.start()
    await machine.agent.untilSays(/^drain: /)
    await eventually(needsKured, { what: "kured's command finds that the node has to be drained" })
    await machine.untilRuns(undefined)
  })
  await step('drained as kured does it, the node takes the part, and kured has nothing to do any more', async () => {
    await admin.kubectl('drain', machine.name, '--ignore-daemonsets', '--delete-emptydir-data', '--force')
    await machine.untilRuns(PODS, 60_000)
    await eventually(async () => !(await needsKured()), { what: "kured's command finds nothing" })
    await admin.kubectl('uncordon', machine.name)
  })
}

/** The command of kured.yaml, with the agent of this machine on its PATH. */
async function installSentinel(machine: Machine, program: string): Promise<() => Promise<boolean>> {
  const [{ env }] = parse(readFileSync(join(RECIPES, 'kured.yaml'), 'utf8')).spec.template.spec.containers
  const { value } = env.find(({ name }: { name: string }) => name === 'KURED_REBOOT_SENTINEL_COMMAND')
  const bin = machine.path('../bin')
  await mkdir(bin)
  const agent = `#!/bin/sh\nexec ${process.execPath} ${program} "$@" --config ${machine.agent.settingsFile}\n`
  await writeFile(join(bin, 'kubelet-cfg-agent'), agent, { mode: 0o755 })
  return async () => {
    try {
      await run('sh', ['-c', value], { env: { PATH: [bin, process.env.PATH].join(delimiter) } })
      return true
    } catch (error) {
      if (error instanceof CommandError && error.exitStatus === 1) return false
      throw error
    }
  }
}
