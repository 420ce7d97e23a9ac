// SPDX-License-Identifier: Apache-2.0
/**
 * Checks a built package: its size, the files that it installs with their modes, that its scripts
 * do not touch kubelet, and that the agent in it runs.
 */
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Architecture } from './architectures.ts'
import { run } from './tools.ts'

/** Mode and path of what deb and rpm install; the directories `UNITS` and `ENVIRONMENT` differ. */
const INSTALLED = [
  '-rwxr-xr-x /usr/bin/kubelet-cfg-agent',
  '-rwxr-xr-x /usr/bin/kubectl-kubelet_config',
  '-rwxr-xr-x /usr/bin/kubectl_complete-kubelet_config',
  '-rwxr-xr-x /usr/lib/kubelet-cfg-agent/node',
  '-rwxr-xr-x /usr/lib/kubelet-cfg-agent/before-removal',
  '-rw-r--r-- /usr/lib/kubelet-cfg-agent/kubelet-cfg-agent.mjs',
  '-rw-r--r-- /usr/lib/kubelet-cfg-agent/kubelet-cfg-agent.mjs.map',
  '-rw-r--r-- /etc/kubelet-cfg-agent/config.yaml',
  'drwxr-xr-x /etc/kubelet-cfg-agent/overlay.d',
  '-rw-r--r-- ENVIRONMENT/kubelet-cfg-agent',
  '-rw-r--r-- UNITS/kubelet-cfg-agent.service',
  '-rw-r--r-- UNITS/kubelet.service.d/90-kubelet-cfg-agent.conf',
  '-rw-r--r-- /usr/share/man/man1/kubectl-kubelet_config.1.gz',
  '-rw-r--r-- /usr/share/man/man1/kubectl_complete-kubelet_config.1.gz',
  '-rw-r--r-- /usr/share/man/man8/kubelet-cfg-agent.8.gz',
  '-rw-r--r-- /usr/share/man/man5/kubelet-cfg-agent-config.5.gz',
  '-rw-r--r-- /usr/share/bash-completion/completions/kubelet-cfg-agent',
  '-rw-r--r-- /usr/share/fish/vendor_completions.d/kubelet-cfg-agent.fish',
  '-rw-r--r-- /usr/share/doc/kubelet-cfg-agent/CHANGELOG.md',
  '-rw-r--r-- /usr/share/doc/kubelet-cfg-agent/docs/images/dashboard.svg',
  '-rw-r--r-- /usr/share/doc/kubelet-cfg-agent/sbom.cdx.json',
]

export async function inspectDeb(deb: string, scratch: string, architecture: Architecture, mostBytes: number): Promise<void> {
  await mkdir(scratch, { recursive: true })
  await checkSize(deb, mostBytes)
  const listing = await run('dpkg-deb', ['--contents', deb])
  // `-rwxr-xr-x root/root 108512048 2026-11-21 17:20 ./usr/lib/...`
  const installed = [...listing.matchAll(/^(\S{10}) (\S+) .* \.(\/\S*)$/gm)].map(([, mode, owner, path]) => ({ mode, owner, path }))
  const foreign = installed.filter(({ owner }) => owner !== 'root/root')
  if (foreign.length > 0) throw new Error(`${deb}: root does not own ${foreign[0]?.path}`)
  checkInstalled(deb, new Set(installed.map(({ mode, path = '' }) => `${mode} ${path.replace(/(.)\/$/, '$1')}`)), {
    UNITS: '/lib/systemd/system',
    ENVIRONMENT: '/etc/default',
  })

  const control = join(scratch, 'control')
  await run('dpkg-deb', ['--control', deb, control])
  const conffiles = (await readFile(join(control, 'conffiles'), 'utf8')).trim().split('\n').sort()
  expect(deb, 'conffiles', conffiles, ['/etc/default/kubelet-cfg-agent', '/etc/kubelet-cfg-agent/config.yaml'])
  for (const script of await readdir(control)) checkScript(`${deb}: ${script}`, await readFile(join(control, script), 'utf8'))
  if (architecture.cpu === process.arch) await tryAgent(deb, join(scratch, 'root'))
}

export async function inspectRpm(rpm: string, mostBytes: number): Promise<void> {
  await checkSize(rpm, mostBytes)
  const listing = await run('rpm', ['-qp', '--queryformat', '[%{FILEMODES:perms} %{FILEUSERNAME} %{FILENAMES}\n]', rpm])
  const installed = [...listing.matchAll(/^(\S{10}) (\S+) (\S+)$/gm)].map(([, mode, owner, path]) => ({ mode, owner, path }))
  const foreign = installed.filter(({ owner }) => owner !== 'root')
  if (foreign.length > 0) throw new Error(`${rpm}: root does not own ${foreign[0]?.path}`)
  const places = { UNITS: '/usr/lib/systemd/system', ENVIRONMENT: '/etc/sysconfig' }
  checkInstalled(rpm, new Set(installed.map(({ mode, path = '' }) => `${mode} ${path.replace(/(.)\/$/, '$1')}`)), places)
  const configFiles = (await run('rpm', ['-qp', '--configfiles', rpm])).trim().split('\n').sort()
  expect(rpm, 'configuration files', configFiles, ['/etc/kubelet-cfg-agent/config.yaml', '/etc/sysconfig/kubelet-cfg-agent'])
  checkScript(rpm, await run('rpm', ['-qp', '--scripts', rpm]))
}

async function checkSize(path: string, mostBytes: number): Promise<void> {
  const { size } = await stat(path)
  if (size > mostBytes) throw new Error(`${path} has ${size} bytes, more than ${mostBytes}`)
}

function checkInstalled(path: string, installed: ReadonlySet<string>, places: Readonly<Record<string, string>>): void {
  const expected = INSTALLED.map((line) => line.replace(/[A-Z]{5,}/, (place) => places[place] ?? place))
  const missing = expected.filter((line) => !installed.has(line))
  if (missing.length > 0) throw new Error(`${path} does not install ${missing.join(', ')}`)
}

/** Only the agent may restart kubelet, never a package manager. */
function checkScript(where: string, script: string): void {
  const touches = script
    .split('\n')
    .find((line) => /(start|stop|kill|reload|reset-failed)\b.*\bkubelet(\.service)?(?![-\w.])/.test(line) && !/^\s*#|\becho\b/.test(line))
  if (touches !== undefined) throw new Error(`${where} touches kubelet: ${touches.trim()}`)
}

async function tryAgent(deb: string, root: string): Promise<void> {
  await rm(root, { recursive: true, force: true })
  await run('dpkg-deb', ['--extract', deb, root])
  const home = join(root, 'usr/lib/kubelet-cfg-agent')
  const output = await run(join(home, 'node'), [join(home, 'kubelet-cfg-agent.mjs'), 'version'], { env: {} })
  if (!/^kubelet-cfg-agent \d.*node 24\./s.test(output)) throw new Error(`${deb}: unexpected output of the agent's version: ${output}`)
  const plugin = await run(join(home, 'node'), [join(home, 'kubectl-kubelet_config.mjs'), '--version'], { env: {} })
  if (!/^kubectl kubelet-config \d/.test(plugin)) throw new Error(`${deb}: unexpected output of the plugin's version: ${plugin}`)
  // The config has an alias, so the agent starts its program that parses YAML.
  const config = join(root, 'kubelet.yaml')
  await writeFile(config, 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: &pods 50\npodsPerCore: *pods\n')
  const checked = await run(join(home, 'node'), [join(home, 'kubelet-cfg-agent.mjs'), 'validate', config], { env: {} })
  if (!/: accepted/.test(checked)) throw new Error(`${deb}: unexpected output of the agent's validate: ${checked}`)
}

function expect(path: string, what: string, found: readonly string[], expected: readonly string[]): void {
  if (found.join() !== expected.join()) throw new Error(`${path}: ${what} are ${found.join(', ')}, expected ${expected.join(', ')}`)
}
