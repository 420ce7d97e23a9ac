// SPDX-License-Identifier: Apache-2.0
/**
 * The files of deploy/recipes fit each other and the project: kubelets take the configs, the jobs
 * of CI tell good from bad, and names are those that agent and plugin use. test/real/recipes.ts
 * runs them against an API server.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { EXIT } from '../../src/command/command.ts'
import { readLine } from '../../src/command/parse-line.ts'
import { PLUGIN_PROGRAM } from '../../src/command/plugin/program.ts'
import { BASE_ANNOTATION, CONFIG_LABEL, PAUSED_ANNOTATION, ROLLOUT_ANNOTATION } from '../../src/decision/channels.ts'
import { NEWEST_MINOR } from '../../src/kubelet/fields.ts'
import { ROLLOUT_EXCLUDE_ANNOTATION, ROLLOUT_PLAN_ANNOTATION } from '../../src/rollout/plan.ts'
import { LOADER } from '../typescript/loader.ts'
import { ROOT } from './pages.ts'

const RECIPES = join(ROOT, 'deploy/recipes')
const read = (path: string) => readFileSync(join(RECIPES, path), 'utf8')
const readYaml = (path: string) => parse(read(path))

const CONFIG = 'gitops/configs/gpu-nodes.yaml'
const { metadata, data } = readYaml(CONFIG)
const terraform = read('terraform/main.tf')

/** The program of an archive, from source. */
const PROGRAM = `import '${LOADER}'\nawait import('${join(ROOT, 'src/main.ts')}')\n`

/** What a job of CI runs, in a repository with these manifests. */
function runJob(t: Test, line: string, configs: Readonly<Record<string, string>>) {
  const directory = t.testdir({ nodes: { configs }, checker: { lib: { 'kubelet-cfg-agent.mjs': PROGRAM } } })
  symlinkSync(join(RECIPES, 'ci'), join(directory, 'ci'))
  symlinkSync(process.execPath, join(directory, 'checker/node'))
  const env = { PATH: process.env.PATH ?? '', CHECKER: join(directory, 'checker') }
  return spawnSync('sh', ['-c', line], { cwd: directory, env, encoding: 'utf8' })
}

const JOBS: Readonly<Record<string, string>> = {
  github: readYaml('ci/github.yaml').jobs.validate.steps.at(-1).run,
  gitlab: readYaml('ci/gitlab.yaml')['kubelet-configs'].script.at(-1),
}

t.test('a job of CI passes with the configs of the recipes, and fails with one that kubelet would refuse or ignore', async (t) => {
  const good = read(CONFIG)
  t.equal(new Set(Object.values(JOBS)).size, 1)
  const [line = ''] = Object.values(JOBS)
  t.match(line, new RegExp(`1\\.${NEWEST_MINOR}$`), 'the newest kubelet')
  const passed = runJob(t, line, { 'a.yaml': good })
  t.equal(passed.status, 0, `${passed.stdout}${passed.stderr}`)
  t.equal(passed.stdout.match(/: accepted/g)?.length, 2, 'for two kubelets')
  const failed = runJob(t, line, { 'a.yaml': good.replace('maxPods:', 'maxPod:'), 'b.yaml': good })
  t.equal(failed.status, 1)
  t.match(failed.stdout, /unknown field maxPod: kubelet ignores it/)
  t.match(failed.stdout, /b\.yaml.*: accepted/, 'the others are checked, too')
  t.equal(runJob(t, line, {}).status, 1, 'a directory without configs is a mistake')
})

t.test('GitOps: what the controllers apply is there, and nodes may read each config', async (t) => {
  const { resources } = readYaml('gitops/kustomization.yaml') as { resources: readonly string[] }
  const objects = resources.flatMap((path) => parseAllDocuments(read(`gitops/${path}`)).map((document) => document.toJS()))
  const namesOf = (kind: string) => objects.filter((object) => object.kind === kind).map((object) => object.metadata.name)
  const files = readdirSync(join(RECIPES, 'gitops/configs'))
  t.equal(namesOf('ConfigMap').length, files.length)
  const [role] = objects.filter(({ kind }) => kind === 'Role')
  t.same(role.rules[0].resourceNames, namesOf('ConfigMap'))
  t.same(namesOf('RoleBinding'), [role.metadata.name])
  const { spec: flux } = readYaml('gitops/flux.yaml')
  const { spec: argo } = readYaml('gitops/argocd.yaml')
  t.same([flux.prune, argo.syncPolicy.automated], [false, { selfHeal: true, prune: false }])
  t.notOk(argo.syncPolicy.syncOptions.includes('Replace=true'))
  t.equal(metadata.annotations['kustomize.toolkit.fluxcd.io/ssa'], 'Merge')
  t.equal(metadata.annotations[BASE_ANNOTATION], 'local')
})

t.test('Terraform: the same part, the names of the project, and no claim to what the plugin writes', async (t) => {
  t.strictSame(Object.entries(parse(data.kubelet)), Object.entries(parse(read('terraform/gpu-nodes.yaml'))))
  t.match(terraform, `"${BASE_ANNOTATION}" = "local"`)
  t.match(terraform, `"${CONFIG_LABEL}" = kubernetes_config_map_v1.gpu_nodes.metadata[0].name`)
  const [, text = ''] = /ignore_annotations = \[\s*("[^\n]*"),/.exec(terraform) ?? []
  const ignored = new RegExp(JSON.parse(text))
  for (const name of [PAUSED_ANNOTATION, ROLLOUT_ANNOTATION, ROLLOUT_PLAN_ANNOTATION, ROLLOUT_EXCLUDE_ANNOTATION]) t.match(name, ignored)
  const kept = readFileSync(join(ROOT, 'src/command/plugin/kept-versions.ts'), 'utf8')
  const written = [...kept.matchAll(/_ANNOTATION = '([^']+)'/g)].map(([, name = '']) => name)
  t.equal(written.length, 2)
  for (const name of written) t.match(name, ignored)
  t.notMatch(BASE_ANNOTATION, ignored)
})

t.test('Karpenter and kured: the label of the config, and the reason of the condition', async (t) => {
  t.same(readYaml('karpenter/nodepool.yaml').spec.template.metadata.labels, { [CONFIG_LABEL]: metadata.name })
  const [{ env }] = readYaml('kured.yaml').spec.template.spec.containers
  const page = readFileSync(join(ROOT, 'docs/recipes.md'), 'utf8')
  t.match(page, env[0].value, 'the page shows the command')
})

t.test('a Job that halts a rollout: a command line of the plugin, and the names that its rights have', async (t) => {
  const text = read('rollout-job.yaml')
  t.notMatch(text, /jsonpath='[^']*\*/, 'kubectl wait may refuse an expression with several values')
  const objects = parseAllDocuments(text).map((document) => document.toJS())
  const of = (kind: string) => objects.find((object) => object.kind === kind)
  const { template, podFailurePolicy } = of('Job').spec
  const [{ args, volumeMounts }] = template.spec.containers
  const parsed = readLine(args, PLUGIN_PROGRAM)
  t.match(parsed, { kind: 'run', command: { name: 'rollout status' }, problems: [] })
  const [, , config] = args
  t.same(
    of('Role').rules.map(({ resourceNames, verbs }: { resourceNames: readonly string[]; verbs: readonly string[] }) => [
      verbs,
      resourceNames,
    ]),
    [
      [['get'], [config, `${config}-rollout`]],
      [['patch'], [`${config}-rollout`]],
    ],
  )
  t.same(of('ClusterRole').rules, [{ apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] }])
  t.ok(args.at(-1).startsWith(`${volumeMounts[0].mountPath}/`))
  t.same(Object.keys(of('ConfigMap').data), [args.at(-1).split('/').at(-1)])
  t.same(podFailurePolicy.rules[0], { action: 'FailJob', onExitCodes: { operator: 'In', values: [EXIT.failed] } })
  for (const kind of ['RoleBinding', 'ClusterRoleBinding']) {
    t.equal(of(kind).roleRef.name, of(kind.replace('Binding', '')).metadata.name)
    t.equal(of(kind).subjects[0].name, template.spec.serviceAccountName)
  }
})
