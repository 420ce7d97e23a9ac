// SPDX-License-Identifier: Apache-2.0
/** Compares hand-written files (packaging/, deploy/, the unit) with the rest of the project. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { ARCHITECTURES } from '../../scripts/package/architectures.ts'
import { debianChangelog } from '../../scripts/package/deb.ts'
import { requiredBy, unmetNeeds, WORKSTATION } from '../../scripts/package/elf.ts'
import { AGENT_PINS, PLUGIN_PINS } from '../../scripts/package/pins.ts'
import { debianDate, isoDay, rpmDate } from '../../scripts/package/project.ts'
import { parseDocuments } from '../../src/kubelet/yaml.ts'
import { checkFields } from '../../src/preflight/check-fields.ts'
import { readDocument } from '../../src/preflight/document.ts'
import { CONFIG_SOURCE_ONLY } from '../../src/source/channels/resolve.ts'
import { readManifest, resolveManifests } from '../../src/source/manifests.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const LAUNCHERS = ['common/kubelet-cfg-agent', 'common/kubectl-kubelet_config', 'plugin/launcher']

const read = (path: string) => readFileSync(path, 'utf8')

t.test('one Node.js is pinned for the packages and one for the archives of the plugin, by hash, without a host', async (t) => {
  const sets = [
    { pins: AGENT_PINS, platforms: ['linux/x64', 'linux/arm64'], version: /^24\./ },
    { pins: PLUGIN_PINS, platforms: ['linux/x64', 'linux/arm64', 'darwin/x64', 'darwin/arm64'], version: /^22\./ },
  ]
  for (const { pins, platforms, version } of sets) {
    t.same(
      pins.map(({ os, cpu }) => `${os}/${cpu}`),
      platforms,
    )
    const text = read(`${pins[0]?.folder}/package-lock.json`)
    t.notMatch(text, /https?:/)
    const { packages } = JSON.parse(text) as { packages: Record<string, { version: string } | undefined> }
    const locked = pins.map(({ npmName }) => packages[`node_modules/${npmName}`])
    for (const [index, { os, cpu }] of pins.entries())
      t.match(locked[index], { version: locked[0]?.version, integrity: /^sha512-/, os, cpu })
    t.match(locked[0]?.version, version)
    t.equal(Object.keys(packages).length, pins.length + 1, 'and nothing besides')
  }
})

t.test('control, spec and unit agree', async (t) => {
  const control = read('packaging/deb/control')
  const spec = read('packaging/rpm/kubelet-cfg-agent.spec')
  t.match(control, `Architecture: ${ARCHITECTURES.map(({ deb }) => deb).join(' ')}\n`)
  t.match(spec, `ExclusiveArch: ${ARCHITECTURES.map(({ rpm }) => rpm).join(' ')}\n`)
  const unit = read('systemd/kubelet-cfg-agent.service')
  for (const path of ['/etc/default', '/etc/sysconfig']) t.match(unit, `EnvironmentFile=-${path}/kubelet-cfg-agent\n`)
  t.match(unit, 'ExecStart=/usr/bin/kubelet-cfg-agent run\n')
  const reloads = unit.split('\n').filter((line) => line.startsWith('ExecReload='))
  t.same(reloads, ['ExecReload=/usr/bin/kubelet-cfg-agent check --settings', 'ExecReload=/bin/kill -HUP $MAINPID'])
})

t.test('the scripts are POSIX sh', async (t) => {
  for (const path of [...LAUNCHERS, 'common/before-removal', 'deb/prerm', 'deb/postrm']) {
    t.match(read(`packaging/${path}`), /^#!\/bin\/sh\n/, path)
    execFileSync('sh', ['-n', `packaging/${path}`])
  }
})

t.test('all launchers keep the environment from configuring Node.js', async (t) => {
  const [first, ...others] = LAUNCHERS.map((path) => read(`packaging/${path}`).match(/^unset .*$/gm))
  t.match(first?.join(' '), /\bNODE_OPTIONS\b/)
  for (const other of others) t.strictSame(other, first)
})

t.test('every override has a reason', async (t) => {
  const lines = read('packaging/deb/lintian-overrides').trim().split('\n')
  for (const [index, line] of lines.entries()) if (!line.startsWith('#')) t.match(lines[index - 1], /^# ./, line)
  const filters = read('packaging/rpm/rpmlint.toml').split('\n')
  for (const [index, line] of filters.entries()) if (line.startsWith("  '")) t.match(filters[index - 1], /^ {2}# ./, line)
})

t.test('formats dates', async (t) => {
  const epoch = Date.UTC(2026, 10, 1, 7, 5, 9) / 1000
  t.equal(debianDate(epoch), 'Sun, 01 Nov 2026 07:05:09 +0000')
  t.equal(rpmDate(epoch), 'Sun Nov 01 2026')
  t.equal(isoDay(epoch), '2026-11-01')
  t.equal(
    debianChangelog({ name: 'x', version: '1.2.3', maintainer: 'A B <c@d.example>', epoch }),
    'x (1.2.3) unstable; urgency=medium\n\n  * Version 1.2.3.\n\n -- A B <c@d.example>  Sun, 01 Nov 2026 07:05:09 +0000\n',
  )
})

t.test('finds libraries that debian/control does not cover', async (t) => {
  const control = read('packaging/deb/control')
  const needs = (...libraries: string[]) => libraries.map((name) => ` 0x01 (NEEDED)  Shared library: [${name}]\n`).join('')
  const versions = (...names: string[]) => names.map((name) => `  0x0010:   Name: ${name}  Flags: none  Version: 20\n`).join('')
  t.same(unmetNeeds(needs('libc.so.6', 'libstdc++.so.6'), versions('GLIBC_2.2.5', 'GLIBC_2.28', 'GLIBCXX_3.4.9'), requiredBy(control)), [])
  t.same(unmetNeeds(needs('libc.so.6', 'libatomic.so.1'), versions('GLIBC_2.34', 'GLIBCXX_3.4.30'), requiredBy(control)), [
    'libatomic.so.1',
    'GLIBC_2.34',
    'GLIBCXX_3.4.30',
  ])
  t.same(unmetNeeds(needs('libc.so.6'), '', requiredBy(control.replace('libc6 (>= 2.28)', 'libc6'))), ['libc.so.6'])
  t.match(unmetNeeds('', '', requiredBy(control)), [/not understood/])
  t.same(unmetNeeds(needs('libgcc_s.so.1', 'ld-linux-aarch64.so.1'), versions('GCC_4.2.0', 'GLIBC_2.28'), WORKSTATION), [])
  t.same(unmetNeeds(needs('libgcc_s.so.1'), versions('GCC_14.0.0', 'GLIBC_2.29'), WORKSTATION), ['GCC_14.0.0', 'GLIBC_2.29'])
})

t.test('the examples: a directory of manifests assigns a config that preflight accepts', async (t) => {
  const files = ['deploy/manifests/node.yaml', 'deploy/node-config.yaml'].map((name) => {
    const reading = readManifest(parseDocuments(read(name)))
    return {
      name,
      objects: reading.kind === 'good' ? reading.objects : undefined,
      problem: reading.kind === 'bad' ? reading.detail : undefined,
    }
  })
  const { desired } = resolveManifests(files, 'worker-1', CONFIG_SOURCE_ONLY)
  t.match(desired, { kind: 'config-map', object: { kind: 'found' } })
  const { data } = parse(read('deploy/node-config.yaml')) as { data: Record<string, string> }
  const document = await readDocument(data.kubelet ?? '', IN_PLACE)
  t.strictSame(document.ok && checkFields(document.document, { version: undefined, unknownKeys: 'refuse' }), [])
})

t.test('the examples: the patches assign the config of the manifest, and unassign it', async (t) => {
  const { spec } = parse(read('deploy/manifests/node.yaml')) as { spec: unknown }
  t.strictSame(parse(read('deploy/assign.yaml')), { spec })
  t.strictSame(parse(read('deploy/unassign.yaml')), { spec: { configSource: null } })
})

t.test('the examples: each grants the least rights, and states its purpose', async (t) => {
  const rightsIn = (name: string) =>
    parseAllDocuments(read(`deploy/rbac/${name}.yaml`)).flatMap((document) => {
      const { kind, rules = [] } = document.toJS() as { kind: string; rules?: { resources: string[]; verbs: string[] }[] }
      return rules.map(({ resources, verbs }) => `${kind} ${resources.join()} ${verbs.join()}`)
    })
  t.strictSame(rightsIn('node-configmaps'), ['Role configmaps get,watch'])
  t.strictSame(rightsIn('node-fleet-selector'), ['Role configmaps get,list,watch'])
  t.strictSame(rightsIn('serviceaccount'), ['ClusterRole nodes get,watch', 'Role configmaps get,watch'])
  t.strictSame(rightsIn('status'), ['ClusterRole nodes/status patch', 'Role events create'])
  t.strictSame(rightsIn('status-annotation'), ['ClusterRole nodes patch'])
  t.strictSame(rightsIn('drain'), ['ClusterRole pods list'])
  t.strictSame(rightsIn('evidence'), ['Role leases get', 'ClusterRole pods list'])
  t.strictSame(rightsIn('rollout'), ['Role configmaps get,watch,patch'])
  t.strictSame(rightsIn('rollout-events'), ['Role events create'])
  t.strictSame(rightsIn('configz'), ['ClusterRole nodes/proxy get'])
  t.strictSame(rightsIn('node-configz'), ['ClusterRole nodes/configz get'])
  for (const name of readdirSync('deploy', { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.yaml'))) {
    t.match(read(`deploy/${name}`), /^(#cloud-config\n)?# /, `${name} states its purpose`)
    for (const document of parseAllDocuments(read(`deploy/${name}`))) t.same(document.errors, [], name)
  }
})

t.test('the kustomization grants the right and replaces no config that is in use', (t) => {
  const { namespace, resources } = parse(read('deploy/kustomization.yaml')) as { namespace: string; resources: string[] }
  const objects = resources.flatMap((name) => parseAllDocuments(read(`deploy/${name}`)).map((document) => document.toJS()))
  t.same(
    objects.map(({ kind }) => kind),
    ['Role', 'RoleBinding'],
  )
  for (const { metadata } of objects) t.equal(metadata.namespace, namespace)
  t.end()
})

t.test('the example of a readiness rule: the controller and the API server accept the key of its taint', async (t) => {
  const { spec } = parse(read('deploy/readiness/bootstrap.yaml')) as { spec: { taint: { key: string } } }
  // The rules of NodeReadinessRuleSpec.Taint. A key with a second `/` is no qualified name either.
  t.match(spec.taint.key, /^readiness\.k8s\.io\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/)
})

t.test('the examples: each role is bound in its file, except those that an operator binds', async (t) => {
  const objects = readdirSync('deploy/rbac').flatMap((name) =>
    parseAllDocuments(read(`deploy/rbac/${name}`)).map(
      (document) => document.toJS() as { kind: string; metadata: object; roleRef?: object },
    ),
  )
  const bound = objects.flatMap(({ roleRef }) => (roleRef === undefined ? [] : [roleRef]))
  for (const { kind, metadata } of objects.filter(({ kind }) => kind.endsWith('Role'))) {
    const { name } = metadata as { name: string }
    const isBound = bound.some((roleRef) => 'name' in roleRef && roleRef.name === name && 'kind' in roleRef && roleRef.kind === kind)
    t.equal(isBound, !/:(operator|configz)$/.test(name), `${kind} ${name}`)
  }
})

t.test('the examples: the token is copied to the path in the kubeconfig, and again when it is renewed', async (t) => {
  const { users } = parse(read('deploy/serviceaccount/kubeconfig.yaml')) as { users: [{ user: { tokenFile: string } }] }
  const { spec } = parse(read('deploy/serviceaccount/token.yaml').split(/^---$/m)[0] ?? '') as { spec: { template: { spec: PodSpec } } }
  const { containers, volumes } = spec.template.spec
  t.equal(`${volumes.find(({ hostPath }) => hostPath)?.hostPath?.path}/token`, users[0].user.tokenFile)
  const directory = t.testdir({ projected: { token: 'one' }, node: {} })
  const script = containers[0].args[0].replaceAll('/projected', `${directory}/projected`).replaceAll('/node', `${directory}/node`)
  const copier = spawn('sh', ['-c', script.replace('sleep 60', 'sleep 0.02')], { stdio: 'inherit' })
  t.teardown(() => copier.kill())
  const until = async (token: string) => {
    while (!existsSync(`${directory}/node/token`) || read(`${directory}/node/token`) !== token) await setTimeout(5)
  }
  await until('one')
  t.equal(statSync(`${directory}/node/token`).mode & 0o777, 0o600)
  writeFileSync(`${directory}/projected/token`, 'two')
  await until('two')
})

interface PodSpec {
  readonly containers: readonly [{ readonly args: readonly [string] }]
  readonly volumes: readonly { readonly hostPath?: { readonly path: string } }[]
}

t.test('the changelog begins with the version of the package', async (t) => {
  const { version } = JSON.parse(read('package.json'))
  t.equal(/^## (.+)$/m.exec(read('CHANGELOG.md'))?.[1], version)
})
