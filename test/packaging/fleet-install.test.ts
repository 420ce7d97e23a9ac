// SPDX-License-Identifier: Apache-2.0
/**
 * The installation of the agent on many nodes: its variables, settings and scripts fit the project.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { CONFIG_API_VERSION, CONFIG_KIND, resolveSettings } from '../../src/settings/resolve-settings.ts'
import { until } from '../until.ts'

const INSTALL = 'deploy/install'
const ROLE = `${INSTALL}/ansible/roles/kubelet_cfg_agent`
const read = (path: string) => readFileSync(path, 'utf8')

const { version } = JSON.parse(read('package.json')) as { version: string }

function problemsOf(value: object): readonly string[] {
  const resolution = resolveSettings({ flags: {}, env: {}, file: { kind: 'document', path: 'settings', value } })
  return resolution.ok ? [] : resolution.problems
}

const isThere = (program: string) => spawnSync(program, ['--version']).error === undefined

interface Argument {
  readonly type: string
  readonly default: unknown
}

t.test('the role documents each variable with its default, and uses no other', async (t) => {
  const { options } = (
    parse(read(`${ROLE}/meta/argument_specs.yaml`)) as { argument_specs: { main: { options: Record<string, Argument> } } }
  ).argument_specs.main
  t.same(
    Object.fromEntries(Object.entries(options).map(([name, argument]) => [name, argument.default])),
    parse(read(`${ROLE}/defaults/main.yaml`)),
  )
  const tasks = readdirSync(`${ROLE}/tasks`).map((name) => read(`${ROLE}/tasks/${name}`))
  const text = [...tasks, read(`${ROLE}/templates/config.yaml.j2`), read(`${ROLE}/handlers/main.yaml`)].join('\n')
  const registered = [...text.matchAll(/register: (\w+)/g)].map(([, name]) => name)
  const used = [...text.matchAll(/\bkubelet_cfg_agent_\w+/g)].map(([name]) => name).filter((name) => !registered.includes(name))
  t.same([...new Set(used)].sort(), Object.keys(options).sort())
})

t.test('the example playbook sets variables of the role, settings of the agent and this version', async (t) => {
  const [{ roles, serial }] = parse(read(`${INSTALL}/ansible/site.yaml`)) as [
    { roles: [{ vars: Record<string, unknown> }]; serial: unknown[] },
  ]
  const [{ vars }] = roles
  const known = Object.keys(parse(read(`${ROLE}/defaults/main.yaml`)) as object)
  for (const name of Object.keys(vars)) t.ok(known.includes(name), name)
  t.same(problemsOf({ apiVersion: CONFIG_API_VERSION, kind: CONFIG_KIND, ...(vars.kubelet_cfg_agent_settings as object) }), [])
  t.equal(vars.kubelet_cfg_agent_package_file, `packages/kubelet-cfg-agent_${version}_amd64.deb`)
  t.equal(serial[0], 1, 'one node comes first')
})

t.test('the template names the version of the settings', async (t) => {
  const lines = read(`${ROLE}/templates/config.yaml.j2`)
    .split('\n')
    .filter((line) => !/^(\{[{%]|#)/.test(line))
  t.same(problemsOf(parse(lines.join('\n')) as object), [])
})

t.test('Ansible accepts the playbook', { skip: !isThere('ansible-playbook') && 'without ansible-core' }, async (t) => {
  const ran = spawnSync('ansible-playbook', ['--syntax-check', '--inventory', 'localhost,', 'site.yaml'], {
    cwd: `${INSTALL}/ansible`,
    encoding: 'utf8',
  })
  t.equal(ran.status, 0, ran.stderr)
})

interface UserData {
  readonly write_files: readonly { readonly path: string; readonly content: string; readonly permissions: string }[]
  readonly runcmd: readonly (readonly unknown[])[]
}

t.test('the user data write settings of the agent, and a script that is run before the node joins', async (t) => {
  const { write_files: files, runcmd } = parse(read(`${INSTALL}/cloud-init.yaml`)) as UserData
  const [settings, script] = files
  t.equal(settings?.path, '/etc/kubelet-cfg-agent/config.yaml')
  t.same(problemsOf(parse(settings?.content ?? '') as object), [])
  const [[program, url, sum], [join]] = runcmd as [unknown[], unknown[]]
  t.equal(program, script?.path)
  t.equal(url, `https://packages.example/kubelet-cfg-agent_${version}_amd64.deb`)
  t.match(sum, /^[0-9a-f]{64}$/, 'text, although it has digits only')
  t.equal(join, 'kubeadm')
  checkScript(t, script?.content ?? '')
})

t.test('cloud-init knows the user data by their first line', async (t) => {
  t.match(read(`${INSTALL}/cloud-init.yaml`), /^#cloud-config\n/)
})

t.test('cloud-init accepts the user data', { skip: !isThere('cloud-init') && 'without cloud-init' }, async (t) => {
  const ran = spawnSync('cloud-init', ['schema', '--config-file', `${INSTALL}/cloud-init.yaml`], { encoding: 'utf8' })
  t.equal(ran.status, 0, ran.stdout + ran.stderr)
})

t.test('the user data for EKS give kubelet a setting, and a script writes settings of the agent', async (t) => {
  const parts = read(`${INSTALL}/eks-user-data.mime`).split(/^--BOUNDARY(?:--)?\n/m)
  const [, nodeConfig = '', script = ''] = parts.map((part) => part.slice(part.indexOf('\n\n') + 2))
  const { spec } = parse(nodeConfig) as { spec: { kubelet: { config: object } } }
  t.same(spec.kubelet.config, { registryPullQPS: 5 }, 'the default of kubelet')
  const settings = /^cat >\/etc\/kubelet-cfg-agent\/config\.yaml <<'END'\n([\s\S]*?)^END$/m.exec(script)?.[1] ?? ''
  t.same(problemsOf(parse(settings) as object), [])
  t.match(script, `/kubelet-cfg-agent-${version}-1.x86_64.rpm\n`)
  checkScript(t, script)
})

interface DaemonSet {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly updateStrategy: object
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec }
  }
}

interface PodSpec {
  readonly nodeSelector: object
  readonly tolerations: readonly object[]
  readonly affinity?: { readonly podAntiAffinity: object }
  readonly initContainers: readonly [Container]
  readonly containers: readonly [Container]
  readonly volumes?: readonly { readonly name: string; readonly configMap: { readonly name: string } }[]
}

interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly securityContext: object
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
}

const [configMap, installing] = readObjects('daemonset.yaml') as [
  { metadata: { name: string; namespace: string }; data: Record<string, string> },
  DaemonSet,
]
const [removing] = readObjects('uninstall.yaml') as [DaemonSet]

function readObjects(name: string): unknown[] {
  return parseAllDocuments(read(`${INSTALL}/${name}`)).map((document): unknown => document.toJS())
}

t.test('the DaemonSet gives settings of the agent to the image, and only the installation has rights', async (t) => {
  t.same(problemsOf(parse(configMap.data['config.yaml'] ?? '') as object), [])
  t.equal(installing.metadata.namespace, configMap.metadata.namespace)
  t.match(installing.spec.updateStrategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } })
  const { initContainers, containers, volumes } = installing.spec.template.spec
  t.same(volumes, [{ name: 'settings', configMap: { name: configMap.metadata.name } }])
  t.match(initContainers[0], { args: ['install'], volumeMounts: [{ name: 'settings', mountPath: '/settings' }] })
  t.match(read('packaging/image/installer'), `settings=/settings/${Object.keys(configMap.data)[0]}\n`)
  t.match(containers[0], { args: ['pause'], securityContext: { allowPrivilegeEscalation: false, runAsUser: 65534 } })
})

t.test('the DaemonSet that removes has the same pods on the same nodes, after those of the other', async (t) => {
  const [install, remove] = [installing.spec.template.spec, removing.spec.template.spec]
  t.match(remove.initContainers[0].args, ['remove'])
  const { affinity, ...rest } = remove
  const { volumes: _settings, ...expected } = install
  const bare = ({ initContainers: [{ args: _args, volumeMounts: _mounts, ...first }], ...spec }: PodSpec) => ({
    ...spec,
    initContainers: [{ ...first, name: 'of either' }],
  })
  t.same(bare(rest), bare(expected))
  t.match(affinity?.podAntiAffinity, {
    requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: installing.spec.selector, topologyKey: 'kubernetes.io/hostname' }],
  })
  for (const { spec } of [installing, removing]) t.same(spec.template.metadata.labels, spec.selector.matchLabels)
  for (const { image } of [install, remove].flatMap((spec) => [...spec.initContainers, ...spec.containers]))
    t.equal(image, `registry.example/kubelet-cfg-agent-install:${version}`)
})

t.test('the entrypoint of the image says what is missing', async (t) => {
  const start = (...args: string[]) => spawnSync('sh', ['packaging/image/installer', ...args], { encoding: 'utf8' })
  for (const args of [[], ['purge'], ['install', '--while-assigned'], ['remove', '--force']])
    t.match(start(...args), { status: 1, stderr: /^usage: install / })
  // This process is in the namespaces of process 1, or may not look at them.
  for (const verb of ['install', 'remove']) t.match(start(verb), { status: 1, stderr: /process 1 (of|is not that of) the node/ })
})

t.test('the container that sleeps ends when it is told to', async (t) => {
  const container = spawn('sh', ['packaging/image/installer', 'pause'], { detached: true, stdio: 'ignore' })
  const { pid = 0 } = container
  const ended = once(container, 'exit')
  // What sleeps outlives process 1 here, other than in a container.
  t.teardown(() => process.kill(-pid, 'SIGKILL'))
  await until(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8') !== '', 'it sleeps')
  container.kill('SIGTERM')
  t.same(await ended, [0, null])
})

function checkScript(t: Test, text: string): void {
  const directory = t.testdir({})
  const file = join(directory, 'script')
  writeFileSync(file, text)
  t.match(text, /^#!\/bin\/sh\nset -eu\n/)
  execFileSync('sh', ['-n', file])
  if (isThere('shellcheck')) t.equal(spawnSync('shellcheck', [file], { encoding: 'utf8' }).stdout, '')
}
